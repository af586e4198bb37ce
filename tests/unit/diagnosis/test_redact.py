"""What leaves the core has lost its secrets and nothing else."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.redact import RULES, redact
from bot.diagnosis.redact_names import NAMES
from bot.diagnosis.redact_rules import FILL, HEX, MARK, Rule, lowered
from bot.diagnosis.redact_shapes import SHAPES

PREFIXES = (
    "64: ",
    "[rank3]: ",
    "[rank3]:",
    "[node-8:default3]:",
    "[1,64]<stdout>:",
    "(Worker pid=812, ip=10.0.0.7) ",
    "2026-05-01T10:00:00.123456Z node-3 train[812]: ",
)
#: Kinds that stand in the middle of a URL or header, where nothing begins a colour.
INSIDE_A_URL = {"url-credentials", "slack-webhook", "crusoe-key"}
each_rule = pytest.mark.parametrize(
    "rule", RULES, ids=[f"{number}-{rule.kind}" for number, rule in enumerate(RULES)]
)


def clean(rule: Rule) -> str:
    """Return what a rule's example must become."""
    before, _, after = rule.caught
    return f"{before}[redacted:{rule.kind}]{after}"


@each_rule
def test_a_plain_line_loses_the_secret_and_nothing_else(rule: Rule) -> None:
    """Of a row's example only the secret is replaced, under the row's kind, and counted once."""
    found = redact("".join(rule.caught))
    assert found.text == clean(rule)
    assert dict(found.counts) == {rule.kind: 1}


@each_rule
@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_hide_no_secret(rule: Rule, prefix: str) -> None:
    """What a launcher or shipper puts before a line stays and does not shield the secret."""
    assert redact(prefix + "".join(rule.caught)).text == prefix + clean(rule)


@each_rule
@pytest.mark.parametrize("depth", [1, 2])
def test_json_hides_no_secret(rule: Rule, depth: int) -> None:
    """A line inside a JSON string, escaped once or twice, is cleaned and stays valid JSON."""
    given_line, expected = "".join(rule.caught), clean(rule)
    for _ in range(depth):
        given_line = json.dumps({"log": f"first\n{given_line}\nlast", "stream": "stderr"})
        expected = json.dumps({"log": f"first\n{expected}\nlast", "stream": "stderr"})
    assert redact(given_line).text == expected


@each_rule
def test_a_coloured_line_keeps_its_colours(rule: Rule) -> None:
    """A line painted as a whole loses the secret, not the escape sequences around it."""
    given_line = "\x1b[1;31m" + "".join(rule.caught) + "\x1b[0m"
    assert redact(given_line).text == "\x1b[1;31m" + clean(rule) + "\x1b[0m"


@pytest.mark.parametrize("colour", ["\x1b[31m", "\x1b[1;38;5;208m", "\\u001b[36m"])
@pytest.mark.parametrize(
    "rule", [rule for rule in SHAPES if rule.kind not in INSIDE_A_URL], ids=lambda rule: rule.kind
)
def test_a_colour_right_before_a_secret_stays(rule: Rule, colour: str) -> None:
    """The letter that ends a colour is not taken for a part of the secret, nor for a word."""
    before, secret, after = rule.caught
    tail = after + "\x1b[0m" if rule.kind == "email" else "\x1b[0m" + after
    expected = f"{before}{colour}[redacted:{rule.kind}]{tail}"
    assert redact(before + colour + secret + tail).text == expected


@each_rule
def test_what_only_looks_like_a_secret_stays(rule: Rule) -> None:
    """A row's counterexample holds a literal of the row, and is left as it is."""
    assert any(
        literal in (lowered(rule.spared) if rule.ignores_case else rule.spared)
        for literal in rule.literals
    )
    found = redact(rule.spared)
    assert found.text == rule.spared
    assert not found.counts


@each_rule
def test_each_row_says_what_it_keeps_and_where_the_format_is_from(rule: Rule) -> None:
    """A reader can check a row: kind usable as a mark, source and what is kept are given."""
    assert MARK.fullmatch(f"[redacted:{rule.kind}]")
    assert rule.source
    assert rule.keeps


HARMLESS = (
    ("64: [W1112 12:34:56.123456789 socket.cpp:697] [c10d] The IPv6 network addresses of (node-0."
    "us-east1-a.compute.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure)."),
    ("[W TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=67, addr=[node-3.lab.internal]:"
    "58112, remote=[::ffff:10.0.0.5]:29500): failed to recv, got 0 bytes"),
    ("node-3:812:901 [3] NCCL INFO ncclCommInitRank comm 0x55d0c8b1f2a0 rank 27 nranks 256 cudaDev "
    "3 nvmlDev 3 busId b7000 commId 0x9f9f06037f5e6661 - Init COMPLETE"),
    ("node-3:812:901 [3] NCCL INFO bootstrapSplit: comm 0x4e65605c5043 parent 0x5ef510cead11 rank "
    "27 nranks 8 color 1027536463 key 219 prev 218 next 220 - DONE"),
    "node-3:812:901 [3] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB/SHARP; OOB eth0:172.27.3.3<0>",
    ("frame #3: c10d::TCPStore::TCPStore(std::basic_string<char, std::char_traits<char> >, c10d::"
    "TCPStoreOptions const&) + 0x4be (0x7f3a5c1e2d4e in /opt/venv/lib/libtorch_cpu.so)"),
    "boot_id 3f9c1a2b-7d5e-4c8f-b1a0-9e8d7c6b5a40 commit " + HEX[:40] + " sha256:" + HEX[:64],
    "[ana@py041:train]$ sbatch train.sbatch",
    "root@node-3:~# ssh root@10.0.0.5 systemctl status user@1000.service getty@tty1.service",
    "step 17 | loss: 2.7183 | tokens/s: 65528.9 | tokens: 4096 | total tokens=123456789012",
    "tokenizer: pad_token='<pad>' eos_token='</s>' bos_token_id=1 mask_token: [MASK]",
    "    client = Client(token=token, password=args.password, secret=os.environ['S3_SECRET'])",
    "    password = getpass.getpass('Hub password: ')",
    "def connect(user: str, password: str, token: Optional[str] = None) -> None:",
    "INFO run_id=4711 rdzv_endpoint=node-0:29500 key=torch.rendezvous.4711 store key worker/0",
    "RuntimeError: Error(s) in loading state_dict: Missing key(s): 'layers.0.attn.q_proj.weight'",
    "Permission denied (publickey,password). password: incorrect for user ana",
    "HF_TOKEN=$HF_TOKEN WANDB_API_KEY=${WANDB_API_KEY} token=<your token> password=********",
    "PWD=/home/ana/run OLDPWD=/scratch TMPDIR=/tmp/pwd SSH_AUTH_SOCK=/run/user/1000/keyring/ssh",
    "image nvcr.io/nvidia/pytorch@sha256:" + HEX[:64] + " libc.so.6@GLIBC_2.34 mAP@0.5",
    "https://node-0:8080/metrics?token=none tcp://node-0:29500 git@git.example.com:team/run.git",
    "wandb: Syncing run misty-dew-3 | View run at https://wandb.example/ana/llm/runs/3f9c1a2b",
)  # fmt: skip


@pytest.mark.parametrize("line", HARMLESS)
def test_lines_that_a_diagnosis_rests_on_stay(line: str) -> None:
    """Names, addresses, ports, ids, hashes, frames and counts are no secrets."""
    assert redact(line).text == line
    assert not redact(line).counts


KEPT_AROUND = (
    (
        "url=redis://:",
        FILL[:9],
        "@redis-0:6379/0",
        "url=redis://[redacted:url-credentials]@redis-0:6379/0",
    ),
    ("x password=", "a,b;c&d", ", lr=0.1", "x password=[redacted:password], lr=0.1"),
    ("?token=", FILL[:12], "&run=17", "?token=[redacted:token]&run=17"),
    ("Pwd=", "x" + FILL[:9], ";Database=runs", "Pwd=[redacted:password];Database=runs"),
    (
        "Namespace(hf_token='",
        FILL[:12],
        "', lr=0.1)",
        "Namespace(hf_token='[redacted:token]', lr=0.1)",
    ),
    ("os.environ['X_TOKEN'] = '", FILL[:12], "'", "os.environ['X_TOKEN'] = '[redacted:token]'"),
    (
        '{"password": "',
        "correct horse",
        '", "a": 1}',
        '{"password": "[redacted:password]", "a": 1}',
    ),
    (
        "login ana password ",
        "hunter" + "2",
        " macdef",
        "login ana password [redacted:password] macdef",
    ),
    ("client-key-data: ", FILL[:40], "", "client-key-data: [redacted:api-key]"),
    (
        "ssh ",
        "ana",
        "@node-3.lab.internal uptime",
        "ssh [redacted:email]@node-3.lab.internal uptime",
    ),
    ("mail=", "ana", "%40example.com&x=1", "mail=[redacted:email]%40example.com&x=1"),
    ("<", "ana+ml", "@cs.example.edu>", "<[redacted:email]@cs.example.edu>"),
    ("\\u003c", "ana", "@example.com\\u003e", "\\u003c[redacted:email]@example.com\\u003e"),
    ("token: token: ", "hunter2" + "abc", "", "token: token: [redacted:token]"),
)


@pytest.mark.parametrize(("before", "secret", "after", "expected"), KEPT_AROUND)
def test_what_surrounds_a_value_stays(before: str, secret: str, after: str, expected: str) -> None:
    """A value ends where the next key, the quote, the bracket or the host begins."""
    assert redact(before + secret + after).text == expected


def test_the_more_exact_kind_names_a_secret_found_twice() -> None:
    """A token known by its shape keeps that kind behind a name, and its whole value goes."""
    token = "hf_" + FILL[:34]
    assert redact(f"password={token}!tail").text == "password=[redacted:huggingface-token]"


def test_every_secret_of_a_line_goes_and_is_counted() -> None:
    """Several secrets on one line, and on several lines, are told apart by kind."""
    line = f"password=hunter2 token={FILL[:12]} password=letmein"
    found = redact(f"{line}\nnode-3 up\n{line}\n")
    clean_line = "password=[redacted:password] token=[redacted:token] password=[redacted:password]"
    assert found.text == f"{clean_line}\nnode-3 up\n{clean_line}\n"
    assert dict(found.counts) == {"password": 4, "token": 2}


def test_basic_credentials_are_told_from_words() -> None:
    """Only base64 of `user:password` counts as registry credentials."""
    encoded = base64.b64encode(b"ana:" + FILL[:9].encode()).decode()
    assert redact(f'"auth": "{encoded}"').text == '"auth": "[redacted:docker-auth]"'
    for word in ("kerberos", "negotiate"):
        assert redact(f'"auth": "{word}"').text == f'"auth": "{word}"'


def test_line_ends_of_every_kind_stay() -> None:
    """CRLF, a lone CR of a progress bar, NULs and other separators are left where they are."""
    text = "a\r\npassword=hunter2\r\n50%\rpassword=hunter2\r\x00token\x00\u2028\x85\r\n\n"
    assert redact(text).text == text.replace("hunter2", "[redacted:password]")


def test_lowering_moves_no_character() -> None:
    """Positions in the lowered text are positions in the text, for every character there is."""
    every = "".join(map(chr, range(0x110000)))
    assert len(lowered(every)) == len(every)
    assert redact("\u0130" * 5 + " PASSWORD=hunter2").text.endswith(" PASSWORD=[redacted:password]")


def test_a_line_that_does_not_settle_is_dropped_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each replacement lays bare a next secret, the line goes instead of a last remainder."""
    monkeypatch.setattr("bot.diagnosis.redact._ROUNDS", 1)
    found = redact("node-3 up\nlogin password=hunter2\nnode-4 up")
    assert found.text == "node-3 up\n[redacted:unsettled-line]\nnode-4 up"
    assert found.counts["unsettled-line"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=ab[redacted:email]cd", "password=[redacted:password]"),
        ("password=ab[redacted:email] up", "password=[redacted:password] up"),
        ("password=[redacted:password]", "password=[redacted:password]"),
        ("[redacted:sk-" + "a" * 33 + "]", "[redacted:sk-" + "a" * 33 + "]"),
        ("token=[redacted:jwt]", "token=[redacted:jwt]"),
        ("://ana:x[redacted:token]y@h", "://[redacted:url-credentials]@h"),
    ],
)
def test_a_mark_is_never_cut_through(text: str, expected: str) -> None:
    """A secret that begins or ends inside an earlier mark takes the whole mark with it."""
    assert redact(text).text == expected


# Texts made of what the rules look for, so that they meet, nest and cut through each other.
FRAGMENTS = sorted(
    {literal for rule in RULES for literal in rule.literals}
    | {part for rule in RULES for part in rule.caught if part}
    | {"=", ":", " ", "\n", '"', "'", "\\", "\\n", "\\u003d", "%3D", "\x1b[31m", "[redacted:token]"}
    | {
        "[redacted:",
        "]",
        "@",
        ".",
        "-",
        "_",
        "/",
        "a1b2c3d4e5f6g7h8",
        "10.0.0.12",
        "node-3",
        ";",
        ",",
    }
    | {"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\r\n", "(", ")", "host=", "::"}
)
hostile_text = st.lists(
    st.one_of(st.sampled_from(FRAGMENTS), st.text(st.characters(), max_size=6)), max_size=30
).map("".join)


@given(text=st.one_of(hostile_text, st.text(st.characters())), hide_hosts=st.booleans())
def test_a_second_pass_changes_nothing(text: str, hide_hosts: bool) -> None:  # noqa: FBT001
    """Any text, lone surrogates and NULs included, is done after one pass, line for line."""
    once = redact(text, hide_hosts=hide_hosts)
    again = redact(once.text, hide_hosts=hide_hosts)
    assert again.text == once.text
    assert not again.counts
    assert once.text.count("\n") == text.count("\n")


@given(text=hostile_text)
def test_only_secrets_are_replaced(text: str) -> None:
    """What stands between the marks of a cleaned text stood in the text, in this order."""
    pieces = MARK.split(redact(text).text)
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        assert found >= 0
        at = found + len(piece)
    assert text.startswith(pieces[0])
    assert text.endswith(pieces[-1])


@given(
    rule=st.sampled_from(RULES),
    before=st.text(st.characters(exclude_characters="\\")),
    after=st.text(st.characters()),
)
def test_no_surroundings_save_a_secret(rule: Rule, before: str, after: str) -> None:
    """A secret on a line of its own goes, whatever the lines before and after it hold."""
    text = f"{before}\n{''.join(rule.caught)}\n{after}"
    assert redact(text).text.count(rule.caught[1]) <= (before + after).count(rule.caught[1])
    assert clean(rule) in redact(text).text


@pytest.mark.parametrize(
    "unit",
    [
        "a", "=", "-----BEGIN", "eyJ", "eyJ-", "\x1b[0meyJ", "eyJaaaaaaaaa.", "@", "a@b.", "://a:",
        "token=", "token: ", 'token="', "secret:s3://", "password", 'password=\\"', "key=", "gl",
        "--a-token ", "wandb login --a ", "?sig=", "cookie: a=b;", "bearer ", "[redacted:a]token=",
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", ("-----END "
        "PRIVATE KEY-----\n"),
        "-----BEGIN PRIVATE KEY-----" + "A1b" * 20 + "\n",
    ],
)  # fmt: skip
def test_a_megabyte_of_anything_takes_no_age(unit: str) -> None:
    """No pattern backtracks without bound: hostile text would run for hours into the time-out."""
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    assert redact(text).text.count("\n") == text.count("\n")


def test_the_rows_cover_what_is_promised() -> None:
    """Every family of secrets named in the documentation has its row."""
    kinds = {rule.kind for rule in RULES}
    assert kinds >= {
        "aws-key", "gcp-key", "azure-key", "crusoe-key", "slack-token", "slack-webhook", "jwt",
        "huggingface-token", "wandb-key", "github-token", "gitlab-token", "llm-key", "ngc-key",
        "package-token", "docker-auth", "password", "token", "secret", "api-key", "authorization",
        "signature", "url-credentials", "email", "private-key", "cookie",
    }  # fmt: skip
    assert len(RULES) == len(SHAPES) + len(NAMES)


@pytest.mark.parametrize("prefix", ["x", "7"])
@pytest.mark.parametrize("rule", SHAPES[:3], ids=lambda rule: rule.kind)
def test_a_shape_inside_a_word_is_none(prefix: str, rule: Rule) -> None:
    """A hash or an identifier that happens to contain a token's first letters stays."""
    assert redact(prefix + rule.caught[1]).text == prefix + rule.caught[1]
