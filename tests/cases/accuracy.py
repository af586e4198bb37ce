"""Judge the diagnosis against cases with known truth, and print the result per class.

`python -m tests.cases.accuracy [--readme] [FOLDER…]`: every `*.jsonl` in the folders (one case a
line: `id`, `log`, `truth`) and every `truth.json` with its logs. Exits 1 when a lab case or more
than 2 % of the pasted ones are wrong, or when a restart is advised where it cannot help.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.diagnosis import Diagnosis, diagnose, of_bytes

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"
#: How many of the pasted cases must be right, as a share.
BAR = 0.98


@dataclass(frozen=True, kw_only=True)
class Case:
    """One log and what it comes down to."""

    id: str
    suite: str
    log: bytes
    truth: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one case came out."""

    case: Case
    found: Diagnosis
    wrong: tuple[str, ...]
    unforgivable: bool


def cases(folders: Sequence[Path]) -> Iterator[Case]:
    """Yield every case below the folders."""
    for folder in folders:
        for path in sorted(folder.rglob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                yield Case(
                    id=row["id"], suite=path.stem, log=row["log"].encode(), truth=row["truth"]
                )
        for path in sorted(folder.rglob("truth.json")):
            for name, truth in json.loads(path.read_text(encoding="utf-8")).items():
                log = (path.parent / f"{name}.log").read_bytes()
                yield Case(id=name, suite=path.parent.name, log=log, truth=truth)


def judge(case: Case) -> Result:
    """Diagnose a case and compare what its truth gives; `null` there is not judged."""
    found = diagnose([of_bytes(case.log)])
    truth = case.truth
    wrong = []
    also = truth.get("also_ok") or []
    assert isinstance(also, list)
    if found.cause != truth["cause"] and found.cause not in also:
        wrong.append(f"cause {found.cause}, not {truth['cause']}")
    hosts = sorted(one.host for one in found.affected if one.host is not None)
    ranks = sorted(rank for one in found.affected for rank in one.ranks)
    exact = found.cause == truth["cause"]
    for name, value in (("affected_hosts", hosts), ("affected_ranks", ranks)):
        expected = truth.get(name)
        if exact and isinstance(expected, list) and sorted(expected) != value:
            wrong.append(f"{name} {value}, not {expected}")
    no_ranks = truth.get("not_ranks") or []
    assert isinstance(no_ranks, list)
    wrong += [f"rank {rank} named, a node rank" for rank in no_ranks if rank in ranks]
    if exact and found.restart_may_help != truth["restart_may_help"]:
        wrong.append(f"restart_may_help {found.restart_may_help}")
    for name in ("world_size", "clients_joined"):
        expected = truth.get(name)
        if expected is not None and getattr(found, name) not in {expected, None}:
            wrong.append(f"{name} {getattr(found, name)}, not {expected}")
    return Result(
        case=case,
        found=found,
        wrong=tuple(wrong),
        unforgivable=found.restart_may_help and not truth["restart_may_help"],
    )


def table(results: Sequence[Result]) -> list[tuple[str, str, int, int]]:
    """Return (suite, cause, right, all) rows, with a total a suite."""
    rows: list[tuple[str, str, int, int]] = []
    for suite in dict.fromkeys(result.case.suite for result in results):
        of_suite = [result for result in results if result.case.suite == suite]
        causes = sorted({str(result.case.truth["cause"]) for result in of_suite})
        for cause in causes:
            mine = [result for result in of_suite if result.case.truth["cause"] == cause]
            rows.append((suite, cause, sum(not result.wrong for result in mine), len(mine)))
        rows.append((suite, "all", sum(not result.wrong for result in of_suite), len(of_suite)))
    return rows


def markdown(results: Sequence[Result]) -> str:
    """Return the README's accuracy table, misses included."""
    suites = list(dict.fromkeys(result.case.suite for result in results))
    lines = ["| cause | " + " | ".join(suites) + " |", "|---|" + "---|" * len(suites)]
    rows = table(results)
    for cause in [*sorted({cause for _, cause, _, _ in rows if cause != "all"}), "all"]:
        cells = []
        for suite in suites:
            found = [(right, all_) for s, c, right, all_ in rows if (s, c) == (suite, cause)]
            cells.append(f"{found[0][0]} of {found[0][1]}" if found else "–")
        name = "**all**" if cause == "all" else f"`{cause}`"
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    misses = [result for result in results if result.wrong]
    lines.append("")
    lines.append(
        f"Restart advised where it cannot help: {sum(r.unforgivable for r in results)} of "
        f"{sum(not r.case.truth['restart_may_help'] for r in results)}."
    )
    lines += [f"- miss `{r.case.id}`: {'; '.join(r.wrong)}" for r in misses]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.cases.accuracy")
    parser.add_argument("folders", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    options = parser.parse_args(arguments)
    results = [judge(case) for case in cases(options.folders)]
    for suite, cause, right, all_ in table(results):
        print(f"{suite:10} {cause:26} {right:4} of {all_:4}  {right / all_:7.1%}")
    for result in results:
        if result.wrong:
            mark = "RESTART" if result.unforgivable else "miss"
            print(f"{mark:8}{result.case.suite}/{result.case.id}: {'; '.join(result.wrong)}")
    if options.readme:
        text = README.read_text(encoding="utf-8")
        begin, end = "<!-- accuracy:begin -->", "<!-- accuracy:end -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        README.write_text(f"{head}{begin}\n{markdown(results)}\n{end}{tail}", encoding="utf-8")
    return 0 if good_enough(results) else 1


def good_enough(results: Sequence[Result]) -> bool:
    """Tell whether the bar is met: no false restart, every lab case, 98 % of the others."""
    if any(result.unforgivable for result in results):
        return False
    for suite in {result.case.suite for result in results}:
        mine = [result for result in results if result.case.suite == suite]
        right = sum(not result.wrong for result in mine)
        if right < len(mine) * (1 if suite == "lab" else BAR):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
