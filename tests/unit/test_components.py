"""Prove that a missing program is named locally and never passes unnoticed in CI."""

import shutil

import pytest

from tests import components

TABLE = """
# command debian brew used-by what for
rg ripgrep ripgrep bench,test measured against
"""

NEEDS_RG = """
import pytest

@pytest.mark.needs("rg")
def test_with_rg():
    pass
"""

SKIPPED_MODULE = """
import pytest

pytest.skip("missing component: a kernel module", allow_module_level=True)
"""

OTHER_SKIP = """
import pytest

def test_for_another_system():
    pytest.skip("only on macOS")
"""


@pytest.fixture
def without_rg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that no program is installed."""
    monkeypatch.setattr(shutil, "which", lambda _command: None)


def run(pytester: pytest.Pytester, source: str) -> pytest.RunResult:
    """Run one test file with the mechanism under test loaded."""
    pytester.makepyfile(source)
    return pytester.runpytest_inprocess("-p", "tests.components", "-p", "no:randomly", "-rs")


def test_the_table_is_read_by_command() -> None:
    """A row gives the packages and the uses of a command; comments are no rows."""
    table = components.read_table(TABLE)

    assert list(table) == ["rg"]
    assert table["rg"].debian == "ripgrep"
    assert table["rg"].used_by == {"bench", "test"}


@pytest.mark.usefixtures("without_rg")
def test_a_missing_program_skips_by_name(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside CI the test is skipped, with the program and how to install it."""
    monkeypatch.delenv("CI", raising=False)

    result = run(pytester, NEEDS_RG)

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*missing component: rg (apt-get install ripgrep*"])


@pytest.mark.usefixtures("without_rg")
def test_a_missing_program_fails_in_ci(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under CI=true the same test fails the run."""
    monkeypatch.setenv("CI", "true")

    result = run(pytester, NEEDS_RG)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*missing component: rg*CI must not skip this*"])


def test_a_module_skipped_for_a_component_fails_in_ci(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole module cannot leave the run for a missing component either."""
    monkeypatch.setenv("CI", "true")

    result = run(pytester, SKIPPED_MODULE)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)


def test_other_skips_stay_skips_in_ci(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A skip for any other reason is nobody's fault."""
    monkeypatch.setenv("CI", "true")

    run(pytester, OTHER_SKIP).assert_outcomes(skipped=1)


def test_an_unlisted_program_is_refused(pytester: pytest.Pytester) -> None:
    """A test may only need what the table can install."""
    result = run(pytester, NEEDS_RG.replace('"rg"', '"not-in-the-table"'))

    result.stdout.fnmatch_lines(["*add a row for 'not-in-the-table'*"])
    result.assert_outcomes(errors=1)
