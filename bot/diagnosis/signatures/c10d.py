"""Messages of c10d's sockets and of the TCPStore."""

from __future__ import annotations

from bot.diagnosis.kinds import Kind
from bot.diagnosis.signatures.row import ERRNO, SOCKETIMPL, TARGET, Signature, sig

#: Messages of c10d's sockets and of the TCPStore.
C10D: tuple[Signature, ...] = (
    sig(
        Kind.LOOKUP_FAILED,
        ("network addresses of", "cannot be retrieved (gai", "gai error"),
        rf"The (?P<family>IPv[46] )?network addresses of {TARGET}\s+cannot be retrieved\s+"
        r"\(gai error:\s+(?P<code>-?\d+)\s+-\s+(?P<text>.*?)\)?(?:\.|$)",
        "torch 1.11",
        "the machine that logs could not look the name up; c10d keeps trying until its time-out",
        not_means="that the named peer is sick, or that IPv6 is off or missing",
        example="[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of "
        "(node-0.lab.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in "
        "name resolution).",
    ),
    sig(
        Kind.REVERSE_LOOKUP_FAILED,
        ("hostname of the client socket",),
        r"The hostname of the client socket cannot be retrieved\.?\s+err=(?P<code>-?\d+)",
        "torch 2.6",
        "an address could not be turned into a name for printing",
        not_means="that the start-up fails: never fatal; addresses printed near it are garbage",
        example="[W724 18:22:38.909218572 socket.cpp:200] [c10d] The hostname of the client socket "
        "cannot be retrieved. err=-3",
    ),
    sig(
        Kind.CONNECT_FAILED,
        ("socket has failed to connect to",),
        r"The client socket has failed to connect to (?!any network)(?P<remote>\[[^\]]*\]|[^\s:]+|"
        rf"\?UNKNOWN\?)(?::(?P<port>\d+))?\s+{ERRNO}",
        "torch 1.11",
        "the address is known, the connect failed",
        not_means="that the printed name was configured: it is a reverse look-up",
        example="[W socket.cpp:558] [c10d] The client socket has failed to connect to "
        "[fake-host]:1234 (errno: 113 - No route to host).",
    ),
    sig(
        Kind.NO_FAMILY,
        ("cannot be initialized to connect", "server socket cannot be initialized"),
        r"The (?:client|server) socket cannot be initialized (?:to connect to|on)\s+(?P<remote>\S+)"
        rf"\s+{ERRNO}",
        "torch 1.11",
        "the kernel has no IPv6; the other family is tried next",
        not_means="a failure",
        example="[W socket.cpp:697] [c10d] The client socket cannot be initialized to connect to "
        "[localhost]:29500 (errno: 97 - Address family not supported by protocol).",
    ),
    sig(
        Kind.CONNECT_FAILED_ALL,
        ("connect to any network address of",),
        rf"The client socket has failed to connect to any network address of\s+{TARGET}",
        "torch 1.11",
        "every address of the name failed",
        example="[E socket.cpp:610] [c10d] The client socket has failed to connect to any network "
        "address of (192.168.1.99, 1234).",
    ),
    sig(
        Kind.CONNECT_TIMEOUT,
        ("client socket has timed out after",),
        r"The client socket has timed out after (?P<time>\d+)(?P<unit>m?s)\s+while "
        r"trying to connect "
        rf"to\s+{TARGET}",
        "torch 1.11 (ms from 2.5)",
        "the deadline was reached: look-ups, refusals and silence all end here",
        not_means="that the network is blocked, where look-ups failed before",
        example="[E1130 17:26:32.098137104 socket.cpp:1028] [c10d] The client socket has timed out "
        "after 1800000ms while trying to connect to (node-0.lab.internal, 29500).",
    ),
    sig(
        Kind.SERVER_TIMEOUT,
        ("has timed out, will retry",),
        r"The server socket on (?P<remote>\S+?)(?::(?P<port>\d+))? has timed out, will retry",
        "torch 2.6",
        "the kernel gave up on one connect",
        example="[W socket.cpp:755] [c10d] The server socket on [10.0.0.5]:29500 has timed out, "
        "will retry.",
    ),
    sig(
        Kind.NOT_LISTENING_YET,
        ("is not yet listening", "is listening yet, will retry"),
        rf"(?:The server socket on (?P<remote>\S+?)(?::\d+)? is not yet listening(?: {ERRNO})?|"
        rf"No socket on {TARGET} is listening yet)",
        "torch 1.11, only at log level INFO",
        "refused: the store's process is not there yet",
        example="[I socket.cpp:787] [c10d] No socket on (node-0, 29500) is listening yet, will "
        "retry.",
    ),
    sig(
        Kind.STORE_RETRY,
        ("failed to connect/validate to host",),
        r"TCP client failed to connect/validate to host (?P<host>\S+?):(?P<port>\d+) - "
        r"(?P<what>retrying|timed out)(?: \(try=\d+, timeout=(?P<time>\d+)(?P<unit>ms))?",
        "torch 2.5",
        "the store's client starts its wait again, or gives up",
        example="[W1130 17:26:32.099400494 TCPStore.cpp:340] [c10d] TCP client failed to "
        "connect/validate to host node-0.lab.internal:29500 - retrying (try=0, timeout=20000ms, "
        "delay=6429ms): The client socket has timed out",
    ),
    sig(
        Kind.CONNECTED,
        ("client socket has connected to",),
        r"The client socket has connected to (?P<remote>\[[^\]]*\]|[^\s:]+)(?::(?P<port>\d+))? on "
        r"(?:SocketImpl\(fd=\d+, addr=)?\[?(?P<local>[^\],\s]*?)\]?:\d+",
        "torch 1.11, only at log level INFO",
        "success; the second address is the machine that logs",
        example="[I socket.cpp:725] [c10d] The client socket has connected to [node-0]:29500 on "
        "[node-2]:41230.",
    ),
    sig(
        Kind.STORE_REACHED,
        ("waitForInput",),
        rf"waitForInput: (?:poll for socket|socket) {SOCKETIMPL}",
        "torch 2.5",
        "this process did reach the store; a key of some other rank never came",
        not_means="that this machine is sick",
        example="[W1130 17:26:38.338336049 socket.cpp:469] [c10d] waitForInput: poll for socket "
        "SocketImpl(fd=3, addr=[::ffff:10.77.0.10]:44446, "
        "remote=[::ffff:10.77.0.10]:29500) returned"
        " 0, likely a timeout",
    ),
    sig(
        Kind.STORE_REACHED,
        ("waitForInput",),
        r"While waitForInput, poolFD failed",
        "torch 2.2 to 2.4",
        "the store did not answer in time",
        example="[W socket.cpp:432] [c10d] While waitForInput, poolFD failed with (errno: 0 - "
        "Success).",
    ),
    sig(
        Kind.STORE_GONE,
        ("recvValue", "recvVector", "sendBytes failed", "recvBytes failed"),
        rf"(?:recvValue(?:WithTimeout)?|recvVector|sendBytes|recvBytes) failed on {SOCKETIMPL}",
        "torch 2.5",
        "the store's server went away: fall-out of something earlier",
        example="[W1130 17:39:51.151746730 TCPStore.cpp:125] [c10d] recvValue failed on "
        "SocketImpl(fd=4, addr=[h200-04]:57434, remote=[h200-01]:29500): Failed to recv, got 0 "
        "bytes.",
    ),
    sig(
        Kind.STORE_GONE,
        ("flag on TCPStore", "Connection was likely closed"),
        r"(?:Failed to check the .{0,3}should dump.{0,3} flag on TCPStore|"
        r"Failed to recv, got 0 bytes\. Connection was likely closed)",
        "torch 2.3, 2.8",
        "the store's server went away: fall-out of something earlier",
        example="[rank8]:[W318 10:00:41.929037914 ProcessGroupNCCL.cpp:1771] Failed to check the "
        '"should dump" flag on TCPStore, (maybe TCPStore server has shut down too early)',
    ),
    sig(
        Kind.CLIENTS_JOINED,
        ("waiting for clients", "clients joined"),
        r"(?:Timed out after (?P<time>\d+) seconds waiting for clients\.\s+)?"
        r"(?P<joined>\d+)/(?P<world>\d+)\s+clients\s+joined",
        "torch 2.2",
        "the store's server (rank 0) says how many came, its own connection included",
        not_means="that one peer came where it says 1/n: that one is rank 0 itself",
        example="torch.distributed.DistStoreError: Timed out after 1801 seconds "
        "waiting for clients."
        " 6/8 clients joined.",
    ),
    sig(
        Kind.KEYS_TIMEOUT,
        ("wait timeout after", "Socket Timeout"),
        r"(?:wait timeout after (?P<time>\d+)(?P<unit>ms), keys: (?P<keys>\S+)|"
        r"(?:RuntimeError|DistStoreError|TimeoutError): Socket Timeout)",
        "torch 2.5 (Socket Timeout before)",
        "this rank did reach the store and waited for another",
        example="torch.distributed.DistStoreError: wait timeout after 30000ms, keys: "
        "/default_pg/0//cpu//0/0",
    ),
    sig(
        Kind.BARRIER_TIMEOUT,
        ("store based barrier on rank", "barrier on rank:"),
        r"Timed out initializing process group in store based barrier on rank:? ?(?P<rank>\d+), "
        r"for key: ?\S+ \(world_size=(?P<world>\d+), (?:worker_count|num_workers_joined)="
        r"(?P<joined>\d+)",
        "torch 1.8 to 2.1",
        "fewer than world_size: ranks are missing; more: a stale store or too many processes",
        example="RuntimeError: Timed out initializing process group in store based "
        "barrier on rank: "
        "3, for key: store_based_barrier_key:1 (world_size=8, worker_count=6, timeout=0:30:00)",
    ),
    sig(
        Kind.LISTEN_FAILED,
        ("server socket has failed to listen on any", "EADDRINUSE"),
        r"(?:The server socket has failed to listen on any local network address"
        r"(?:.*?port: (?P<port>\d+))?|code: -?(?:98|48|10048), name: EADDRINUSE)",
        "torch 1.11 (libuv wording from 2.4)",
        "the store's server could not start",
        example="torch.distributed.DistNetworkError: The server socket has failed to listen on any "
        "local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: "
        "address already in use",
    ),
    sig(
        Kind.LISTEN_FAILED,
        ("could not be initialized on any address",),
        r"The server could not be initialized on any address for port=(?P<port>\d+)",
        "torch 2.6",
        "the store's server could not start",
        example="[W socket.cpp:528] [c10d] The server could not be initialized on any address for "
        "port=29500, family=2",
    ),
    sig(
        Kind.BIND_FAILED,
        ("socket has failed to bind to", "socket has failed to listen on ["),
        r"The server socket has failed to (?:bind to|listen on) "
        r"(?!any)(?P<remote>\[[^\]]*\]|[^\s:]+)"
        rf"(?::(?P<port>\d+))?\s+{ERRNO}",
        "torch 1.11",
        "one address could not be bound; another family may still be",
        example="[W socket.cpp:401] [c10d] The server socket has failed to bind to [::]:29400 "
        "(errno: 98 - Address already in use).",
    ),
    sig(
        Kind.BIND_FAILED,
        ("ddress already in use",),
        r"(?:OSError|RuntimeError|error): \[?(?:Errno )?(?P<errno>98|48|10048)?\]?:? ?.{0,40}?"
        r"[Aa]ddress already in use",
        "Python, torch up to 1.10",
        "a port is taken",
        example="RuntimeError: Address already in use",
    ),
    sig(
        Kind.HOST_NOT_FOUND,
        ("host not found",),
        r"ValueError: host not found: (?P<text>.*)",
        "torch up to 1.10",
        "the store's client could not look its master up; fatal, the name is not printed",
        example="ValueError: host not found: Name or service not known",
    ),
    sig(
        Kind.CONNECT_TIMEOUT,
        ("Original timeout was",),
        r"connect\(\) timed out\. Original timeout was (?P<time>\d+) ?(?P<unit>ms)",
        "torch up to 1.10",
        "the store did not answer",
        example="RuntimeError: connect() timed out. Original timeout was 60000 ms.",
    ),
)
