"""What is worth keeping is proposed, and never said to be more than it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.hosts.backup_ends import Why, reason
from bot.hosts.backups import Item, Place, Survey, What
from bot.recovery.backup import words
from bot.recovery.backup.choice import MOST_LISTED, Choice, chosen, entries
from bot.recovery.errors import RefusedStepError

SHARD = Item(
    path=b"/nvme/alice/global_step400", uid=1001, owner="alice", what=What.CHECKPOINT,
    on="nvme0n1", size_bytes=96 * 10**9, files=8, ranks=tuple(range(64, 72)),
)  # fmt: skip
BOBS = replace(SHARD, path=b"/nvme/bob/secret plans", uid=1002, owner="bob", what=What.FOLDER)
LAYERS = replace(SHARD, path=b"/nvme/enroot", uid=0, owner="root", what=What.CONTAINERS)
SHARED = Place(path=b"/shared", kind="nfs4", source="10.0.0.5:/", shared=True, free_bytes=10**13)
SYSTEM = replace(SHARED, path=b"/", shared=False, why="it is the system's disk")


def survey(*items: Item, **changes: Any) -> Survey:  # noqa: ANN401
    """Return what was found."""
    found = Survey(
        items=items, places=(SHARED, SYSTEM), roots={"/nvme": "nvme0n1"}, whole=True, unread=0,
        size_bytes=sum(one.size_bytes for one in items), files=len(items), rsync=True,
    )  # fmt: skip
    return replace(found, **changes)


def test_others_are_shown_by_owner_and_size_alone() -> None:
    """Neither a path nor a count of files of another user is in what a person reads."""
    for entry in entries(survey(SHARD, BOBS, LAYERS), "alice"):
        said = words.called(entry) + words.note(entry, 32)
        assert "secret" not in said
        assert ("/nvme" in said) is (entry.items[0].owner == "alice")


def test_nobodys_paths_are_shown_where_the_owner_is_not_known() -> None:
    """A job without a user has no data of its own."""
    shown = [words.called(one) for one in entries(survey(SHARD, BOBS), "")]
    assert shown == ["alice: 96.0 GB on nvme0n1", "bob: 96.0 GB on nvme0n1"]


@pytest.mark.parametrize(
    ("ranks", "vms", "said"),
    [
        (tuple(range(64, 72)), 32, "ranks 64–71 only, needs the other 31 VMs"),
        ((7,), 4, "rank 7 only, needs the other 3 VMs"),
        ((), 4, "this VM's part only, may need the other 3 VMs"),
        ((0,), 1, ""),
    ],
)
def test_a_checkpoint_on_one_vm_is_never_complete(
    ranks: tuple[int, ...], vms: int, said: str
) -> None:
    """What lies on one VM of several is a part, whatever its files are called."""
    assert words.lacks(replace(SHARD, ranks=ranks), vms) == said


def test_what_nobody_would_miss_is_not_proposed() -> None:
    """Container layers can be pulled again; everything else is lost where it is left out."""
    found = {one.items[0].owner: one.proposed for one in entries(survey(SHARD, BOBS, LAYERS), "a")}
    assert found == {"alice": True, "bob": True, "root": False}


def test_many_folders_become_one_entry() -> None:
    """A menu takes a hundred entries: what is beyond them is chosen as one, and nothing is lost."""
    many = [replace(SHARD, path=b"/nvme/%d" % number) for number in range(MOST_LISTED + 30)]
    listed = entries(survey(*many, BOBS), "alice")
    assert len(listed) == MOST_LISTED + 2
    assert sum(len(one.items) for one in listed) == len(many) + 1
    assert len({one.id for one in listed}) == len(listed)


def test_a_choice_is_ids_and_found_again() -> None:
    """What an approval keeps holds no path; a later survey gives them back."""
    found = survey(SHARD, BOBS)
    choice = Choice(place=SHARED.id, entries=(SHARD.id,))
    assert "alice" not in str(choice.kept())
    place, picked = chosen(found, "alice", Choice.of(choice.kept()))
    assert (place, picked[0].items) == (SHARED, (SHARD,))


@pytest.mark.parametrize(
    ("place", "entry", "why"),
    [
        (SYSTEM.id, SHARD.id, "the system's disk"),
        ("another", SHARD.id, "not mounted"),
        (SHARED.id, "gone", "Nothing of what was chosen"),
    ],
)
def test_a_choice_that_no_longer_holds_is_refused(place: str, entry: str, why: str) -> None:
    """The world may have changed since the form was filled in."""
    with pytest.raises(RefusedStepError, match=why):
        chosen(survey(SHARD), "alice", Choice(place=place, entries=(entry,)))
    with pytest.raises(RefusedStepError, match="Nobody chose"):
        Choice.of({})


@pytest.mark.parametrize("why", Why)
def test_every_end_says_what_to_do(why: Why) -> None:
    """Each reason has a sentence, and foreign detail stands in brackets."""
    assert reason(why).endswith(".")
    assert reason(why, "x").endswith("(x)")


@pytest.mark.parametrize(
    ("count", "said"),
    [(999, "999 bytes"), (12_345, "12.3 kB"), (10**13, "10.0 TB")],
)
def test_sizes_are_as_people_say_them(count: int, said: str) -> None:
    """Powers of a thousand, as disks are sold."""
    assert words.size(count) == said


def test_an_odd_path_is_shown_in_one_line() -> None:
    """Line feeds, escapes and bytes that are no text cannot change how a form looks."""
    assert replace(SHARD, path=b"/a\n\x1b[31m\xff").shown == r"/a\n\x1b[31m\xff"
    assert len(replace(SHARD, path=b"/" + b"a" * 500).shown) < 75
