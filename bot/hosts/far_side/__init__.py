"""The program that runs on a probed machine; sent as text by `bot.hosts.wire`."""
