"""Messages of the program itself that no network explains."""

from __future__ import annotations

from bot.diagnosis.kinds import Kind
from bot.diagnosis.signatures.row import Signature, sig

#: Messages of the program itself that no network explains.
PROCESS: tuple[Signature, ...] = (
    sig(
        Kind.OWN_ERROR,
        (
            "OutOfMemoryError",
            "CUDA out of memory",
            "ModuleNotFoundError",
            "ImportError:",
            "FileNotFoundError",
            "AssertionError",
            "PermissionError:",
            "SyntaxError:",
            "RuntimeError:",
            "ValueError:",
            "KeyError:",
            "TypeError:",
            "AttributeError:",
            "OSError:",
            "IndexError:",
            "NameError:",
            "NotImplementedError",
            "MemoryError",
            "JSONDecodeError",
        ),
        r"^(?P<type>(?:[A-Za-z_][\w]*\.)*(?:OutOfMemoryError|ModuleNotFoundError|ImportError|"
        r"FileNotFoundError|AssertionError|PermissionError|SyntaxError|RuntimeError|ValueError|"
        r"KeyError|TypeError|AttributeError|OSError|IndexError|NameError|NotImplementedError|"
        r"MemoryError|JSONDecodeError))(?:: (?P<text>.*))?$",
        "Python",
        "the process's own exception",
        example="torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    ),
    sig(
        Kind.PROCESS_KILLED,
        (
            "oom-kill",
            "oom_kill",
            "OOMKilled",
            "Out Of Memory",
            "Out of memory: Kill",
            "Segmentation fault",
            "Bus error",
            "core dumped",
            "SIGKILL",
            "SIGSEGV",
            "SIGBUS",
            "SIGABRT",
            "exitcode: -",
        ),
        r"(?P<text>oom[-_]kill|OOMKilled|Out [Oo]f [Mm]emory(?:: Kill|$|\s)|Segmentation fault|"
        r"Bus error|\(core dumped\)|Signal \d+ \(SIG(?:KILL|SEGV|BUS|ABRT)\) received|"
        r"exitcode: -(?:9|11|7|6)\b)",
        "Linux, Slurm, Kubernetes, torchrun",
        "a process was killed or crashed",
        example="slurmstepd: error: Detected 1 oom_kill event in StepId=42.0. Some "
        "of the step tasks "
        "have been OOM Killed.",
    ),
    sig(
        Kind.INIT_DONE,
        (
            "Watchdog caught collective",
            "has NOT been destroyed",
            "reducer.cpp",
            "initialization options",
            "ProcessGroupNCCL.cpp:",
        ),
        r"Watchdog caught collective operation timeout|process group has NOT been destroyed|"
        r"\breducer\.cpp:|ProcessGroupNCCL initialization options|"
        r"ProcessGroupNCCL\.cpp:\d+\]",
        "torch 1.8",
        "the process group of this process did come up before",
        example="[rank3]:[W1112 12:34:56.123456789 ProcessGroupNCCL.cpp:1427] Warning: WARNING: "
        "process group has NOT been destroyed before we destruct ProcessGroupNCCL.",
    ),
    sig(
        Kind.OTHER_LOOKUP_FAILED,
        (
            "NameResolutionError",
            "Failed to resolve",
            "Max retries exceeded",
            "Could not resolve host:",
        ),
        r"NameResolutionError|Failed to resolve|Max retries exceeded with url|"
        r"Could not resolve host: \S+",
        "urllib3, curl, git, pip",
        "some other library could not look up or reach its own server",
        not_means="that the job's peers cannot be looked up",
        example="urllib3.exceptions.NameResolutionError: Failed to resolve "
        "'huggingface.co' ([Errno "
        "-3] Temporary failure in name resolution)",
    ),
)
