"""Messages of NCCL, Gloo and TensorPipe."""

from __future__ import annotations

from bot.diagnosis.kinds import Kind
from bot.diagnosis.signatures.row import Signature, sig

#: Messages of NCCL and Gloo.
COLLECTIVES: tuple[Signature, ...] = (
    sig(
        Kind.NO_INTERFACE,
        ("no socket interface found",),
        r"Bootstrap ?: no socket interface found",
        "all NCCL",
        "NCCL_SOCKET_IFNAME matches no interface of the machine that logs",
        example="gpu482:22841:22841 [0] bootstrap.cc:37 NCCL WARN Bootstrap : no socket interface "
        "found",
    ),
    sig(
        Kind.NO_INTERFACE,
        ("is neither AF_INET",),
        r"connecting to address .* with family \d+ is neither AF_INET",
        "NCCL 2.27",
        "an address was never filled in: no usable interface",
        example="node-1:1:1 [0] misc/socket.cc:600 NCCL WARN connecting to address  with family "
        "59936 is neither AF_INET(2) nor AF_INET6(10)",
    ),
    sig(
        Kind.NO_INTERFACE,
        ("Unable to find address for", "Unable to find interface for"),
        r"Unable to find (?:address|interface) for: ?\[?(?P<remote>[^\s\]]+)",
        "torch 1.4, Gloo",
        "Gloo finds no interface for its own name or for GLOO_SOCKET_IFNAME",
        example="RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/"
        "device.cc:83] ifa != nullptr. Unable to find address for: bond1",
    ),
    sig(
        Kind.LOOPBACK_USED,
        ("Using lo:", "[0]lo:"),
        r"(?:Bootstrap ?: Using|NET/Socket ?: Using) (?:\[0\])?lo:(?P<remote>127\.[\d.]+)",
        "all NCCL",
        "NCCL picked loopback on the machine that logs; no other machine can reach it there",
        not_means="a fault on one machine",
        example="gpu-h3:50:50 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>",
    ),
    sig(
        Kind.OWN_ADDRESS_UNKNOWN,
        ("Failed to look up the IP address for the hostname",),
        r"Failed to look up the IP address for the hostname",
        "torch 1.7, TensorPipe",
        "the machine's own name has no address; TensorPipe falls back to loopback",
        example="[W tensorpipe_agent.cpp:180] Failed to look up the IP address for the hostname "
        "(EAI_NONAME: unknown node or service), defaulting to 127.0.0.1",
    ),
    sig(
        Kind.CONNECT_FAILED,
        ("Connection refused", "connection refused", "No route to host", "Connection timed out"),
        r"(?:(?:RuntimeError|ConnectionRefusedError|TimeoutError|OSError): (?:\[Errno \d+\] |"
        r"ECONNREFUSED: )?|pair\.cc:\d+\] connect \[?(?P<remote>[^\]\s]+?)\]?:(?P<port>\d+): |"
        r"urlopen error \[Errno \d+\] |encountered error when connecting to \S+: \w+: )"
        r"(?P<text>[Cc]onnection refused|No route to host|Connection timed out)",
        "Gloo, TensorPipe, Python, torch up to 1.10",
        "a connect failed in this process",
        example="RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:769] connect "
        "[10.55.0.4]:21483: Connection refused",
    ),
    sig(
        Kind.OWN_ADDRESS_UNKNOWN,
        ("Unable to resolve hostname to a",),
        r"Unable to resolve hostname to a \(?local\)? address",
        "torch 1.4",
        "the machine's own name has no address; Gloo falls back to loopback",
        not_means="a failure on one machine; across machines the mesh fails next",
        example="[rank9]:[W ProcessGroupGloo.cpp:721] Warning: Unable to resolve hostname to a "
        "(local) address. Using the loopback address as fallback.",
    ),
    sig(
        Kind.MESH_FAILED,
        ("connectFullMesh failed",),
        r"Gloo connectFullMesh failed with (?P<text>.*)",
        "torch 2.x",
        "Gloo's ranks could not connect to each other",
        example="RuntimeError: Gloo connectFullMesh failed with "
        "[../third_party/gloo/gloo/transport/"
        "tcp/pair.cc:144] no error",
    ),
    sig(
        Kind.NCCL_CONNECT_FAILED,
        ("> failed : ", "> returned ", "Call to connect"),
        r"(?:NCCL (?:WARN|INFO) )?(?:Net : |\w+: )?(?:Call to connect (?:failed|timeout) ?: ?|"
        r"[Cc]onnect to (?P<remote>\S+?)<(?P<port>\d+)> (?:failed ?: |returned ))"
        r"(?P<text>[^,\n(]+)",
        "NCCL 2.4 (wording by version)",
        "NCCL could not connect to the peer at this address",
        not_means="that the named address is the machine that logs",
        example="ps-12:795:822 [0] include/socket.h:409 NCCL WARN Net : Connect to "
        "192.168.1.19<54863> failed : No route to host",
    ),
    sig(
        Kind.NCCL_RETRYING,
        ("onnect returned",),
        r"(?:Call to )?connect returned (?P<text>[A-Z][\w ]+?), retrying",
        "NCCL 2.4",
        "not an error yet",
        example="node-1:941227:943077 [0] NCCL INFO Call to connect returned Connection refused, "
        "retrying",
    ),
    sig(
        Kind.NCCL_GAVE_UP,
        ("exceeded retries", "exceeded error retry count"),
        r"exceeded (?:retries|error retry count)",
        "NCCL 2.16",
        "gave up on a peer that refused or did not answer",
        example="node-1:1:1 [0] misc/socket.cc:482 NCCL WARN socketStartConnect: exceeded retries "
        "(20000)",
    ),
    sig(
        Kind.PEER_CLOSED,
        ("Connection closed by remote peer", "Broken pipe", "ncclRemoteError", "> failed : "),
        r"Connection closed by remote peer (?P<remote>\S+?)?<|Call to (?:recv|send) "
        r"(?:from|to) \S+ "
        r"failed : |ncclRemoteError|NET/Socket.*Broken pipe",
        "all NCCL",
        "a connected peer went away: fall-out of its death",
        example="node-1:1:1 [1] misc/socket.cc:538 NCCL WARN Net : Connection closed "
        "by remote peer "
        "node-2.cluster<47861>",
    ),
    sig(
        Kind.COMM_ID_LOOKUP_FAILED,
        ("error encountered when getting address info",),
        r"Net : error encountered when getting address info : (?P<text>.*)",
        "all NCCL",
        "the host in NCCL_COMM_ID could not be looked up",
        example="node-1:1:1 [0] misc/socket.cc:300 NCCL WARN Net : error encountered when getting "
        "address info : Temporary failure in name resolution",
    ),
    sig(
        Kind.PEER_CLOSED,
        ("Connection closed by peer", "Connection reset by peer", "NCCL communicator was aborted"),
        r"(?:pair\.cc|[Gg]loo|NCCL|nccl|[Rr]ecv|[Ss]end|TCPStore|RuntimeError).{0,120}?"
        r"Connection (?:closed|reset) by peer|NCCL communicator was aborted",
        "Gloo, NCCL, Python",
        "a connected peer went away: fall-out of its death",
        example="RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection "
        "closed by peer [10.0.0.7]:12345",
    ),
)
