"""Prove the signature against published and recomputed vectors, and its canonical query."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.clouds.crusoe.signing import (
    authorization,
    canonical_query,
    decode_secret,
    payload,
    signature,
    timestamp,
)
from playground.crusoe.judge import signed_text

SECRET = "----ABEiM0RVZneImaq7zN3u_w"  # noqa: S105 - made up
STAMP = "2026-01-02T03:04:05Z"
VMS = "/v1/projects/11111111-2222-3333-4444-555555555555/compute/vms/instances"

#: Method, path, query as sent, canonical query, signature with SECRET at STAMP.
VECTORS = {
    "A": ("GET", VMS, "", "", "qtKTo9Fgt0qdnvX6y0BnQa6QlOB46tB80szzmeg0SUM"),
    "B": (
        "GET",
        VMS,
        "names=gpu-a%2Cgpu-b&limit=50&states=STATE_RUNNING",
        "limit=50&names=gpu-a%2Cgpu-b&states=STATE_RUNNING",
        "JPdiLiqjBiaZkZYuwE-r6qYJY3TjFgc_W1R6sQh4ywo",
    ),
    "C": (
        "GET",
        f"{VMS}/operations",
        "state=IN_PROGRESS,FAILED&lower_time_bound=2026-01-02T03:04:05Z",
        "lower_time_bound=2026-01-02T03%3A04%3A05Z&state=IN_PROGRESS%2CFAILED",
        "q6CNnaI5koMopO47FCdCp-gyjvh6sVkti0nFvTnt8yM",
    ),
    "D": (
        "PATCH",
        f"{VMS}/aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "",
        "",
        "RfuvDALVYe6RN986z--0ojUUhhtoKquDjwAh51Dbgls",
    ),
}

#: Published by the tests of a third-party client: method, path, query, time, signature.
OTHERS = (
    (
        "GET",
        "/v1/capacities",
        "location=us-northcentral1-a",
        "2026-09-19T10:00:00Z",
        "m0Hrwj16G11CbOrx6c7HdYC3hj3qjoxe8q6eYCcBKbU",
    ),
    (
        "POST",
        "/v1/projects/p-1/compute/vms/instances",
        "",
        "2026-01-02T03:04:05Z",
        "pr0YqVv6O7tqwGOTENxbLB4_31NVVV5mAJRWZFDnBC8",
    ),
)
OTHERS_SECRET = "uZFGf918DmiBUwBWv8lnEg"  # noqa: S105 - published in that test suite


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    """Canonical query and signature come out as computed apart from this code."""
    method, path, query, canonical, signed = VECTORS[name]

    assert canonical_query(query) == canonical
    message = payload(method=method, path=path, query=query, stamp=STAMP)
    assert signature(decode_secret(SECRET), message) == signed


@pytest.mark.parametrize(("method", "path", "query", "stamp", "signed"), OTHERS)
def test_vectors_of_others(method: str, path: str, query: str, stamp: str, signed: str) -> None:
    """Another client's published signatures come out, too."""
    message = payload(method=method, path=path, query=query, stamp=stamp)

    assert signature(decode_secret(OTHERS_SECRET), message) == signed


def test_the_payload_is_four_lines_each_ended() -> None:
    """An absent query is an empty line, and the last line is ended as well."""
    assert payload(method="get", path=VMS, query="", stamp=STAMP) == (
        f"{VMS}\n\nGET\n{STAMP}\n".encode()
    )


def test_the_header_names_version_and_key() -> None:
    """The Authorization header is of version 1.0."""
    assert authorization("KEY", "SIGNED") == "Bearer 1.0:KEY:SIGNED"


def test_a_secret_is_base64url() -> None:
    """`-` and `_` are digits of the key, where a decoder of the standard alphabet drops them."""
    assert decode_secret(SECRET).hex() == "fbefbe00112233445566778899aabbccddeeff"


@pytest.mark.parametrize("odd", ["", "a+b/", "AAAA=", "A", "AAAAA", "AA AA", "ééé", "AAAA\n"])
def test_a_secret_that_is_not_is_refused_without_being_shown(odd: str) -> None:
    """The standard alphabet, padding and cut secrets are named, never quoted."""
    with pytest.raises(ValueError, match=r"base64url|length") as caught:
        decode_secret(odd)

    assert len(odd) < 2 or odd not in str(caught.value)


def test_a_timestamp_is_utc_with_z_and_whole_seconds() -> None:
    """Whatever the zone of the time given."""
    east = timezone(timedelta(hours=2))

    assert timestamp(datetime(2026, 1, 2, 5, 4, 5, 999_999, tzinfo=east)) == STAMP
    assert timestamp(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == STAMP


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        ("b=2&a=1", "a=1&b=2"),
        ("a=2&b=0&a=1", "a=2&a=1&b=0"),
        ("flag", "flag="),
        ("a=b=c", "a=b%3Dc"),
        ("&&a=1&", "a=1"),
        ("a=x+y", "a=x+y"),
        ("a=x%20y", "a=x+y"),
        ("a=%2B", "a=%2B"),
        ("a=-_.~", "a=-_.~"),
        ("a=/:,", "a=%2F%3A%2C"),
        ("a=%e4%bd%a0", "a=%E4%BD%A0"),
        ("a=%ff", "a=%FF"),
        ("A=1&a=1&B=1", "A=1&B=1&a=1"),
        ("=v", "=v"),
    ],
)
def test_the_canonical_query(query: str, canonical: str) -> None:
    """Keys in byte order, values of a key in their own, everything escaped as Go does."""
    assert canonical_query(query) == canonical


@pytest.mark.parametrize("query", ["a=1;b=2", "a=%", "a=%2", "a=%zz", "%=1"])
def test_a_query_that_go_refuses_is_refused(query: str) -> None:
    """A semicolon or a broken escape is an error, never signed as something else."""
    with pytest.raises(ValueError, match=r"semicolon|escape"):
        canonical_query(query)


PAIRS = st.lists(st.tuples(st.text(min_size=1), st.text()))


@given(PAIRS)
def test_canonical_form_is_its_own(pairs: list[tuple[str, str]]) -> None:
    """Making it canonical again changes nothing, and no pair is lost or altered."""
    encodable = [(k, v) for k, v in pairs if (k + v).isprintable()]
    canonical = canonical_query(urlencode(encodable))

    assert canonical_query(canonical) == canonical
    assert sorted(parse_qsl(canonical, keep_blank_values=True)) == sorted(encodable)


@given(PAIRS)
def test_the_order_of_keys_does_not_matter(pairs: list[tuple[str, str]]) -> None:
    """Whoever builds the query, one set of pairs with one value each is one text."""
    single = [(k, v) for k, v in dict(pairs).items() if (k + v).isprintable()]

    assert canonical_query(urlencode(single)) == canonical_query(urlencode(single[::-1]))


@given(PAIRS, st.sampled_from(["GET", "PATCH"]))
def test_the_servers_judge_agrees(pairs: list[tuple[str, str]], method: str) -> None:
    """Two independent readings of the description sign the same text."""
    query = urlencode([(k, v) for k, v in pairs if (k + v).isprintable()])

    assert payload(method=method, path=VMS, query=query, stamp=STAMP) == signed_text(
        method, f"{VMS}?{query}", STAMP
    )
