"""People in a workspace, the bot, and a fleet: through real HTTP and a real WebSocket."""
