"""What the far side asks about names: getaddrinfo as a rank does, and name servers directly.

Part of the text that runs on the probed machine: Python 3.8, no import of ours. These words only
wait for others, so the runner lets them share its process, each in threads.
"""

from __future__ import annotations

import _socket
import _thread
import os
import time

from bot.hosts.far_side.saying import Out, text_of, together, words_after

STUB = ("127.0.0.53", "127.0.0.54")
#: Look-ups at once, and how many must have failed before the rest is not asked.
WORKERS = 8
#: Names that a machine finds without a resolver: its own, short and full.
OWN = 2
#: Seconds before its end at which a word says what it will not get to.
LAST_WORDS = 0.25


def lookups(out: Out, *names: str) -> int:
    """Ask getaddrinfo for each name; stop asking when the first ones failed with EAI_AGAIN."""
    left = list(names)[::-1]
    codes: list[int] = []
    lock = _thread.allocate_lock()

    def work() -> None:
        while True:
            with lock:
                failed = codes.count(_socket.EAI_AGAIN)
                if not left or (failed >= WORKERS and len(codes) - failed <= OWN):
                    return
                name = left.pop()
            code, found, ms = looked_up(name)
            out.say({"name": name, "code": code, "addresses": found, "ms": ms})
            codes.append(code)

    ended = together([work] * min(WORKERS, len(left)), max(out.left() - LAST_WORDS, 0))
    with lock:
        rest, left[:] = left[::-1], []
    for name in rest:
        out.say({"name": name, "skipped": True})
    if not ended:
        # Those that were asked have the rest of the time to answer.
        time.sleep(out.left() + 1)
    return 0


def looked_up(name: str) -> tuple[int, list[str], int]:
    """Return getaddrinfo's code for a name, up to 16 addresses, and the milliseconds it took."""
    began = time.monotonic()
    code = 0
    found: list[str] = []
    try:
        # As bytes: a name as text would load the codec for names of other scripts.
        for entry in _socket.getaddrinfo(name.encode(), None, 0, _socket.SOCK_STREAM):
            address = str(entry[4][0])
            if address not in found:
                found.append(address)
    except _socket.gaierror as error:
        code = error.errno or 0
    except (UnicodeError, OSError):
        code = _socket.EAI_FAIL
    return code, found[:16], int((time.monotonic() - began) * 1000)


def servers_of(which: str) -> tuple[list[str], list[str]]:
    """Return name servers and search domains: of resolv.conf, or those behind the resolver."""
    path = "/etc/resolv.conf" if which == "resolv.conf" else "/run/systemd/resolve/resolv.conf"
    text = text_of(path)
    servers = [server for server in words_after(text, "nameserver") if server not in STUB]
    # systemd writes `search .` where there is no domain.
    search = [domain.strip(".") for domain in words_after(text, "search", "domain")]
    return servers[:6], [domain for domain in search if domain][:6]


def dns(out: Out, which: str, *names: str) -> int:
    """Ask name servers directly, without the resolver: an address, `resolv.conf` or `uplinks`."""
    servers, search = ([which], []) if which[:1].isdigit() else servers_of(which)
    asked = list(names)
    for name in names:
        if "." not in name and name != "localhost":
            asked += [name + "." + domain for domain in search if name + "." + domain not in asked]

    def ask(server: str, name: str) -> None:
        out.say(query(server, name))

    pairs = [(server, name) for server in servers for name in asked[:24]]
    together([lambda pair=pair: ask(*pair) for pair in pairs])  # type: ignore[misc]
    return 0


def query(server: str, name: str, seconds: float = 1.6) -> dict[str, object]:
    """Ask one server for a name's IPv4 address over UDP, twice at most."""
    answer: dict[str, object] = {"server": server, "name": name, "answer": "timeout"}
    number = os.urandom(2)
    labels = b"".join(bytes([len(x)]) + x.encode() for x in name.rstrip(".").split("."))
    packet = number + b"\1\0\0\1\0\0\0\0\0\0" + labels + b"\0" + b"\0\1\0\1"
    began = time.monotonic()
    sock = None
    try:
        info = _socket.getaddrinfo(
            server.encode(),
            53,
            0,
            _socket.SOCK_DGRAM,
            0,
            _socket.AI_NUMERICHOST,
        )[0]
        sock = _socket.socket(info[0], _socket.SOCK_DGRAM)
        sock.connect(info[4])
        for _ in range(2):
            sock.settimeout(seconds / 2)
            sock.send(packet)
            try:
                data = sock.recv(4096)
                while len(data) < 12 or data[:2] != number:  # noqa: PLR2004 # a DNS header
                    data = sock.recv(4096)
            except _socket.timeout:
                continue
            code = data[3] & 15
            said = {0: "NOERROR", 2: "SERVFAIL", 3: "NXDOMAIN", 5: "REFUSED"}
            answer["answer"] = said.get(code, "RCODE" + str(code))
            answer["records"] = data[6] << 8 | data[7]
            break
    except OSError as error:
        answer["answer"] = "refused" if isinstance(error, ConnectionRefusedError) else "unreachable"
    finally:
        if sock is not None:
            sock.close()
    answer["ms"] = int((time.monotonic() - began) * 1000)
    return answer


def tcp(out: Out, address: str, port: str) -> int:
    """Try a TCP connection: connected and refused reach the machine, a time-out does not."""
    outcome = "connected"
    sock = None
    try:
        info = _socket.getaddrinfo(
            address.encode(), int(port), 0, _socket.SOCK_STREAM, 0, _socket.AI_NUMERICHOST
        )[0]
        sock = _socket.socket(info[0], _socket.SOCK_STREAM)
        sock.settimeout(2.5)
        sock.connect(info[4])
    except ConnectionRefusedError:
        outcome = "refused"
    except _socket.timeout:
        outcome = "timeout"
    except OSError as error:
        outcome = "unreachable: " + str(error.strerror)
    finally:
        if sock is not None:
            sock.close()
    out.say({"address": address, "port": int(port), "outcome": outcome})
    return 0
