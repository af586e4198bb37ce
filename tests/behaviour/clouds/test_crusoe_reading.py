"""Prove how the client reads: pages, filters, faults that pass and faults that do not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs

import pytest

from bot.clouds.crusoe.cloud import CrusoeCloud
from bot.clouds.crusoe.retry import RetryPolicy
from bot.clouds.errors import (
    ClockSkewError,
    CloudError,
    CloudUnavailableError,
    CredentialsError,
    PermissionDeniedError,
    RateLimitedError,
    RequestRefusedError,
    UnreadableAnswerError,
)
from playground.crusoe.faults import (
    Fault,
    Silence,
    json_reply,
    not_json,
    redirect,
    refused,
    too_many,
)
from playground.crusoe.http1 import Reply
from tests.behaviour.clouds.lab import KEY, CrusoeLab

pytestmark = pytest.mark.anyio


async def test_pages_are_followed_by_the_asymmetric_tokens(crusoe: CrusoeLab) -> None:
    """The answer's `next_page_token` is sent as `next_token` until it is empty."""
    crusoe.server.api.page = 3
    for number in range(8):
        crusoe.add(f"gpu-{number}")

    vms = await crusoe.cloud.list()

    assert [vm.name for vm in vms] == [f"gpu-{number}" for number in range(8)]
    queries = [parse_qs(one.request.target.partition("?")[2]) for one in crusoe.server.served]
    assert [sorted(query) for query in queries] == [["limit"]] + [["limit", "next_token"]] * 2
    assert {query["limit"][0] for query in queries} == {"500"}


async def test_pages_that_never_end_are_an_error(crusoe: CrusoeLab) -> None:
    """A token that comes back a second time cannot keep the bot."""
    page = json_reply(200, {"items": [], "next_page_token": "again"})
    crusoe.server.fail(Fault(gives=page, times=1000))

    with pytest.raises(UnreadableAnswerError, match="never end"):
        await crusoe.cloud.list()

    assert len(crusoe.server.served) == 2


async def test_a_hundred_vms_are_one_request(crusoe: CrusoeLab) -> None:
    """Many names are asked for at once, in a query that is signed with its commas."""
    names = [f"np-0123abcd-{number}" for number in range(100)]
    for name in names:
        crusoe.add(name)

    vms = await crusoe.cloud.named(*names)

    assert [vm.name for vm in vms] == names
    assert len(crusoe.server.served) == 1
    assert "%2C" in crusoe.server.served[0].request.target


async def test_a_long_filter_is_split_to_fit_a_url(crusoe: CrusoeLab) -> None:
    """Every id is asked for although one URL cannot hold them all."""
    ids = [crusoe.add(f"gpu-{number}") for number in range(250)]

    vms = await crusoe.cloud.list(ids=ids)

    assert [vm.id for vm in vms] != []
    assert {vm.id for vm in vms} == set(ids)
    assert len(crusoe.server.served) == 3
    assert all(len(one.request.target) < 8000 for one in crusoe.server.served)


async def test_another_project_is_out_of_reach(crusoe: CrusoeLab) -> None:
    """VMs of another project are neither listed, nor read, nor acted on."""
    other = crusoe.server.world.add_project("somebody-else")
    theirs = crusoe.server.world.add_vm("gpu-1", project=other)

    assert await crusoe.cloud.list() == ()
    with pytest.raises(CloudError):
        await crusoe.cloud.get(theirs.id)


async def test_an_answer_from_another_project_is_refused(crusoe: CrusoeLab) -> None:
    """A VM that says it belongs elsewhere is not passed on."""
    other = crusoe.server.world.add_project("somebody-else")
    theirs = crusoe.server.world.add_vm("gpu-1", project=other)
    crusoe.server.fail(Fault(gives=json_reply(200, theirs.shown())))

    with pytest.raises(UnreadableAnswerError, match="another project"):
        await crusoe.cloud.get(theirs.id)


@pytest.mark.parametrize(
    "gives",
    [refused(500), refused(503), refused(409), too_many(), not_json(502), Silence.DROP],
    ids=["500", "503", "409", "429", "not JSON", "hang-up"],
)
async def test_reading_goes_on_after_what_passes(crusoe: CrusoeLab, gives: Reply | Silence) -> None:
    """A reading is repeated after 1 and 2 s, each time signed afresh."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=gives, times=2))

    assert (await crusoe.cloud.get(vm_id)).name == "gpu-1"

    assert crusoe.clock.slept == [1.0, 2.0]
    stamps = [one.request.header("x-crusoe-timestamp")[0] for one in crusoe.server.served]
    assert [stamp[-3:-1] for stamp in stamps] == ["05", "06", "08"]
    assert len({one.request.header("authorization")[0] for one in crusoe.server.served}) == 3


async def test_a_time_out_is_unavailability(crusoe: CrusoeLab) -> None:
    """An API that takes the request and says nothing is given up in the time set."""
    vm_id = crusoe.add("gpu-1")
    hurried = replace(crusoe.session, time_limit=timedelta(milliseconds=20))
    crusoe.server.fail(Fault(gives=Silence.HANG, times=9))

    with pytest.raises(CloudUnavailableError, match="did not answer in time") as caught:
        await CrusoeCloud(hurried, project=crusoe.project).get(vm_id)

    assert not caught.value.in_doubt
    assert crusoe.clock.slept == [1.0, 2.0, 4.0]


async def test_what_lasts_is_given_up(crusoe: CrusoeLab) -> None:
    """Four tries are made, and the error carries the status and what to do."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=refused(500), times=9))

    with pytest.raises(CloudUnavailableError, match=r"\(500\).*internal_error.*status page"):
        await crusoe.cloud.get(vm_id)

    assert len(crusoe.server.served) == 4


async def test_retry_after_is_honoured(crusoe: CrusoeLab) -> None:
    """Nothing is sent before the time that the API asked for, by this call or another one."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=too_many("17")))

    await crusoe.cloud.get(vm_id)

    assert sum(crusoe.clock.slept) >= 17
    assert crusoe.clock.slept[0] == 17


async def test_a_limit_holds_everybody_with_the_key(crusoe: CrusoeLab) -> None:
    """Who asks next waits as long as the one who was refused was told to."""
    vm_id = crusoe.add("gpu-1")
    once = CrusoeCloud(
        replace(crusoe.session, retries=RetryPolicy(tries=1)), project=crusoe.project
    )
    crusoe.server.fail(Fault(gives=too_many("17")))
    with pytest.raises(RateLimitedError):
        await once.get(vm_id)
    assert crusoe.clock.slept == []

    await crusoe.cloud.get(vm_id)

    assert crusoe.clock.slept == [17.0]


async def test_a_long_retry_after_is_passed_on(crusoe: CrusoeLab) -> None:
    """Rather than wait for an hour or ask too early, say when to try again."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=too_many("3600")))

    with pytest.raises(RateLimitedError, match="in 3600 s") as caught:
        await crusoe.cloud.get(vm_id)

    assert caught.value.retry_after == timedelta(hours=1)
    assert crusoe.clock.slept == []


@pytest.mark.parametrize(
    ("gives", "error", "words"),
    [
        (refused(400), RequestRefusedError, "bad_request"),
        (refused(403), PermissionDeniedError, "role"),
        (refused(401), CredentialsError, "bad_credential"),
        (redirect("https://elsewhere.example/v1/"), UnreadableAnswerError, "no redirect"),
        (not_json(200), UnreadableAnswerError, "<html>"),
        (json_reply(200, []), UnreadableAnswerError, "not a JSON object"),
        (json_reply(200, {"id": 7}), UnreadableAnswerError, "another shape"),
        (Reply(status=200), UnreadableAnswerError, "empty"),
        (Reply(status=200, body=b"[" * 100_000), UnreadableAnswerError, "JSON"),
    ],
)
async def test_what_does_not_pass_is_said_at_once(
    crusoe: CrusoeLab, gives: Reply, error: type[CloudError], words: str
) -> None:
    """No second try can mend these, so none is made."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=gives))

    with pytest.raises(error, match=words):
        await crusoe.cloud.get(vm_id)

    assert len(crusoe.server.served) == 1


async def test_a_404_that_is_about_no_vm_is_a_refusal(crusoe: CrusoeLab) -> None:
    """A list that is not found has a wrong base URL or project, not a missing VM."""
    crusoe.server.fail(Fault(gives=refused(404)))

    with pytest.raises(RequestRefusedError, match="base URL") as caught:
        await crusoe.cloud.list()

    assert caught.value.status == 404


async def test_an_endless_answer_is_cut(crusoe: CrusoeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer may not take more memory than any honest one needs."""
    monkeypatch.setattr("bot.clouds.crusoe.session.MAX_ANSWER_BYTES", 1000)
    crusoe.server.fail(Fault(gives=Reply(status=200, body=b" " * 5000)))

    with pytest.raises(UnreadableAnswerError, match="longer than 1000 bytes"):
        await crusoe.cloud.list()


async def test_a_redirect_does_not_carry_the_signature_away(crusoe: CrusoeLab) -> None:
    """Even a redirect to the very same server is not followed."""
    elsewhere = f"{crusoe.server.base_url}/users/identities"
    crusoe.server.fail(Fault(gives=redirect(elsewhere)))

    with pytest.raises(UnreadableAnswerError):
        await crusoe.cloud.list()

    assert not crusoe.server.asked("GET", "/users/identities")


@pytest.mark.parametrize(
    ("lead", "words"),
    [(600, "600 s behind the API's.*NTP"), (-600, "600 s ahead of the API's.*NTP")],
)
async def test_a_wrong_clock_is_not_a_bad_key(crusoe: CrusoeLab, lead: int, words: str) -> None:
    """The server refuses a stale signature; the error names the difference and clears the key."""
    crusoe.clock.lead = timedelta(seconds=lead)

    with pytest.raises(ClockSkewError, match=words):
        await crusoe.cloud.list()

    assert crusoe.server.served[0].finding == "the timestamp is too far off"


async def test_a_wrong_secret_is_a_bad_key(crusoe: CrusoeLab) -> None:
    """The signature is really checked, and the error names the key by its end alone."""
    crusoe.server.keys[KEY.access_key_id] = type(KEY)(
        access_key_id=KEY.access_key_id,
        secret_key="AAAAAAAAAAAAAAAAAAAAAA",  # noqa: S106
    )

    with pytest.raises(CredentialsError, match=r"key …0001.*clocks agree") as caught:
        await crusoe.cloud.list()

    assert KEY.access_key_id not in str(caught.value)
    assert crusoe.server.served[0].finding == "the signature does not fit"


async def test_without_a_date_the_clock_stays_a_suspect(crusoe: CrusoeLab) -> None:
    """A 401 whose date is missing says that the clock could not be compared."""
    crusoe.server.fail(Fault(gives=Reply(status=401, headers=(("Date", ""),))))

    with pytest.raises(CredentialsError, match="has no date"):
        await crusoe.cloud.list()


async def test_sixty_requests_a_minute_at_most(crusoe: CrusoeLab) -> None:
    """However many are asked for at once, no minute sees more than 60."""
    vm_id = crusoe.add("gpu-1")
    times = []
    for _ in range(150):
        await crusoe.cloud.get(vm_id)
        times.append(crusoe.clock.seconds())

    assert all(later - earlier > 60 for earlier, later in zip(times, times[60:], strict=False))
    assert times[59] == 0
