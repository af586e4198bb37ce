"""Secrets known only by what stands before them: a name, a header, an option, a query parameter.

The value has no shape of its own here, so what it may be is judged: `token: 4096` and
`password=args.password` in a traceback's source line stay.
"""

from __future__ import annotations

import base64
import binascii
import re

from bot.diagnosis.patterns import Pattern
from bot.diagnosis.redact_rules import FILL, HEX, Rule
from bot.diagnosis.redact_shapes import START

# What may stand between a name and its value: a closing quote (escaped inside JSON), an equals sign
# or a colon (escaped inside JSON or a URL), colours, an opening quote. A quoted value ends at its
# own quote; a bare one at white space, at a closing bracket, or where the next `name=` follows.
_COLOUR = r"(?:(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;]{0,16}[mK]){0,3}"
_SEPARATOR = (
    rf"(?:[\"'\\]{{1,6}}\]?)?{_COLOUR}[ \t]{{0,8}}(?::=|=>|==?|:|\\u003[ad]|%3[AD])"
    rf"{_COLOUR}[ \t]{{0,8}}{_COLOUR}"
)
_QUOTED = r"(?P<q>\\{0,6}[\"'])(?!(?P=q)|\[redacted:)(?P<quoted>[^\n]{1,2048}?)(?P=q)"
_BARE = (
    r"(?:\\{0,6}[\"'])?(?P<secret>[^\s\"'\\,;&|(){}\[\]<>:=\x00-\x1f\x7f]"
    r"(?:[^\s\"'\\,;&|(){}\[\]<>\x00-\x1f\x7f]++|[,;&|](?![\s\"',;&|]|[\w.-]{1,40}[\"']?[=:]|$)|"
    r"[({\[<]|[)}\]>](?=\w))*+)"
)
# `password: incorrect for user` is a sentence, `password: letmein user: ana` is not.
_NO_SENTENCE = r"(?!(?<=[ \t])[A-Za-z][a-z']{0,20}[,.]?[ \t]{1,4}[a-z]{1,20}(?:[\s.,!?)]|$))"
_VALUE = rf"{_SEPARATOR}(?:b(?=[\"'\\]))?(?:{_QUOTED}|{_NO_SENTENCE}{_BARE})"
_NUMBERED = r"(?:_?\d{1,2})?(?![A-Za-z0-9_-])"

# `api_key`, `accessKey`, `client-key-data`; a `key` alone is a store's, a dict's, a weight's.
_KEY_OWNERS = (
    "api",
    "access",
    "private",
    "account",
    "storage",
    "signing",
    "encryption",
    "auth",
    "client",
    "ssh",
    "deploy",
    "wandb",
    "ngc",
    "hf",
)
_KEY_OF = "(?:" + "|".join(rf"(?<={owner})|(?<={owner}[_ -])" for owner in _KEY_OWNERS) + ")"

# Placeholders, types, paths, references: what stands where a secret would and is none.
_HARMLESS = Pattern(
    r"[*x.]+|none|null|nil|true|false|yes|no|not|is|are|was|required|invalid|incorrect|missing|"
    r"expired|empty|unset|undefined|unknown|denied|failed|prompt|hidden|masked|redacted|"
    r"password|passwd|token|secret|[a-z_]\w*(?:\.\w+)*\([\w.]*|authentication|bearer|basic|digest|negotiate|aws4-hmac-sha\d+|"
    r"(?:str|bytes|int|bool|string|secretstr|optional|union|any)(?:\[.*)?|"
    r"\$[a-z_{(].*|<[^>]*>?|%[(sdr].*|\{.*|"
    r"(?:~|\.{1,2}|[a-z]:)?[/\\][\w.~/\\@%-]*|(?:https?|s3|gs|file|env|vault|tcp)://.*|"
    r"(?:self|args|os|config|cfg|settings|kwargs|opts?|options|env|environ|params)[.\[].*",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER = Pattern(r"0x[0-9a-f]+|[-+]?[\d.,_:]+(?:e[-+]?\d+)?[a-z%/]{0,6}", re.IGNORECASE)
_BASE64_KEY = Pattern(r"[A-Za-z0-9/+=]{40,}")
_MINIMUM_OPAQUE = 8
_LONG = 20


def no_placeholder(value: str) -> bool:
    """Accept every value but placeholders, types, paths, references and words of a sentence."""
    return not _HARMLESS.fullmatch(value)


def opaque(value: str) -> bool:
    """Accept a value that nobody would choose as a word: long, or with digits among letters.

    Training logs are full of `token`: counts, `pad_token='<pad>'`, `eos_token: endoftext`.
    """
    return (
        len(value) >= _MINIMUM_OPAQUE
        and (len(value) >= _LONG or any(map(str.isdigit, value)))
        and not any(map(str.isspace, value))
        and not _NUMBER.fullmatch(value)
        and no_placeholder(value)
    )


def basic_credentials(value: str) -> bool:
    """Accept base64 of `user:password`, as HTTP Basic and Docker's config have it (RFC 7617)."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def dense(value: str) -> bool:
    """Accept an opaque value or 40 characters of base64, which may begin like a path."""
    return opaque(value) or bool(_BASE64_KEY.fullmatch(value))


def _named(name: str) -> str:
    return name + _VALUE


NAMES: tuple[Rule, ...] = (
    Rule(
        kind="aws-key",
        literals=("secret", "session"),
        regex=_named(r"(?:secret_?access_?key|session_?token)"),
        flags=re.IGNORECASE,
        accepts=dense,
        keeps="the name",
        source="AWS, 'Configuration and credential file settings'",
        caught=("aws_secret_access_key = ", "/" + FILL[:20] + "+" + FILL[20:38], ""),
        spared="AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY}",
    ),
    Rule(
        kind="azure-key",
        literals=("account", "sharedaccesskey", "storage", "azure_client_secret"),
        regex=_named(r"(?:account_?key|sharedaccesskey|storage_?key|azure_client_secret)"),
        flags=re.IGNORECASE,
        accepts=opaque,
        keeps="the name and the rest of the connection string",
        source="Azure Storage, 'Configure connection strings'",
        caught=("AccountName=blob;AccountKey=", FILL[:86] + "==", ";EndpointSuffix=core.example"),
        spared="AccountKey=<key>;EndpointSuffix=core.example",
    ),
    Rule(
        kind="crusoe-key",
        literals=("crusoe_",),
        regex=_named(r"crusoe_(?:access_key_id|secret_key|monitoring_token|token)"),
        flags=re.IGNORECASE,
        accepts=no_placeholder,
        keeps="the name",
        source="Crusoe Cloud, 'API keys': CRUSOE_ACCESS_KEY_ID and CRUSOE_SECRET_KEY",
        caught=("export CRUSOE_SECRET_KEY=", "----" + FILL[:18], ""),
        spared="CRUSOE_API_ENDPOINT=https://api.example/v1 CRUSOE_PROFILE=default",
    ),
    Rule(
        kind="wandb-key",
        literals=("wandb",),
        regex=(
            rf"wandb(?:[_-](?:api[_-])?key{_SEPARATOR}[\"'\\]*|[^\n]{{0,40}}?key=[\"'\\]*|"
            r"[ \t]{1,4}login(?:[ \t]{1,4}(?:--?[\w=.:/-]{1,60}))*+[ \t]{1,4}|"
            r"[^\n]{0,60}?password[ \t]{1,4})(?P<secret>(?:local-)?[0-9a-f]{40,})"
        ),
        flags=re.IGNORECASE,
        keeps="the name or command",
        source="Weights & Biases, 'API keys' (40 hexadecimal digits) and `wandb login`",
        caught=("+ wandb login --relogin ", HEX[:40], ""),
        spared="wandb: Syncing run 3f9c1a2b, git commit " + HEX[:40],
    ),
    Rule(
        kind="password",
        literals=("passw", "passp", "passcode"),
        regex=_named(rf"pass(?:word|wd|phrase|code){_NUMBERED}"),
        flags=re.IGNORECASE,
        accepts=no_placeholder,
        keeps="the name",
        source="connection strings, environment dumps, YAML and JSON of any program",
        caught=("host=db1 user=mlflow password=", "Tr0ub4dor&3,x!", " dbname=mlflow"),
        spared="password: incorrect for user; password=args.password, password_file=/etc/pw",
    ),
    Rule(
        kind="password",
        literals=("pwd", "pass"),
        regex=_named(r"(?:(?<![a-z])pwd|(?<=[_-])pass)(?![A-Za-z0-9_-])"),
        flags=re.IGNORECASE,
        accepts=opaque,
        keeps="the name",
        source="ODBC connection strings; SMTP_PASS and the like",
        caught=("Server=db1;Uid=ana;Pwd=", "h0rse" + "battery", ";Database=x"),
        spared="PWD=/scratch/run7 OLDPWD=/home/ana forward_pass: 12.31ms first_pass=True",
    ),
    Rule(
        kind="password",
        literals=("login", "sshpass", "curl", "twine", "redis-cli"),
        anchored=False,
        regex=(
            r"(?:login[ \t]{1,4}\S{1,100}[ \t]{1,4}password[ \t]{1,4}|"
            r"(?:docker|podman|helm|skopeo|oras)[ \t][^\n|;&]{0,60}?login\b"
            r"[^\n|;&]{0,200}?[ \t]-p[ =]?|"
            r"twine[ \t][^\n|;&]{0,200}?[ \t]-p[ =]?|sshpass[ \t]{1,4}-p[ \t]?|"
            r"redis-cli[ \t][^\n|;&]{0,100}?-a[ \t]|"
            r"curl[ \t][^\n|;&]{0,300}?[ \t](?:-u|--user)[ =]?[\"']?[^\s:\"'\[]{1,100}:)"
            r"[\"']?(?P<secret>[^\s\"'\\\[$\x1b][^\s\"'\\\x1b]*)"
        ),
        flags=re.IGNORECASE,
        accepts=no_placeholder,
        keeps="the command and the user",
        source=".netrc of curl; manuals of docker login, sshpass, twine, redis-cli, curl",
        caught=("+ sshpass -p ", "hunter" + "2x", " ssh root@10.0.0.5"),
        spared="docker run -p 8080:80 image; login node-3; curl -u $USER:$PASSWORD -p https://a.example",
    ),
    Rule(
        kind="password",
        literals=("--",),
        regex=(
            r"(?<![\w-])--[\w-]{0,40}?(?:password|passwd|passphrase)[ \t]{1,4}[\"']?"
            r"(?P<secret>[^\s\"'\\\[$\x1b-][^\s\"'\\\x1b]*)"
        ),
        flags=re.IGNORECASE,
        accepts=no_placeholder,
        keeps="the option",
        source="command lines of any program",
        caught=("python serve.py --redis-password ", "let" + "mein", " --port 6379"),
        spared="python serve.py --password $PASSWORD --ask-password --port 6379",
    ),
    Rule(
        kind="token",
        literals=("--",),
        regex=(
            r"(?<![\w-])--[\w-]{0,40}?(?:token|secret|key)[ \t]{1,4}[\"']?"
            r"(?P<secret>[^\s\"'\\\[$\x1b-][^\s\"'\\\x1b]*)"
        ),
        flags=re.IGNORECASE,
        accepts=opaque,
        keeps="the option",
        source="command lines of any program",
        caught=("kubeadm join 10.0.0.1:6443 --token ", "a1b2c3." + HEX[:16], " --v 5"),
        spared="train.py --pad-token <pad> --max-tokens 40960000 --data-key text --token-dir /d/1",
    ),
    Rule(
        kind="authorization",
        literals=("authorization",),
        regex=(
            r"authorization(?:[\"'\\]{1,6})?[ \t]{0,4}[:=,][ \t]{0,4}[\[\"'\\b]{0,8}"
            r"(?:(?:bearer|basic|token|digest|apikey|negotiate)[ \t]{1,4}"
            r"(?P<secret>[^\s\"'\\,\[<$\x1b][^\s\"'\\,;\x1b]{3,}))"
        ),
        flags=re.IGNORECASE,
        accepts=no_placeholder,
        keeps="the name and the scheme",
        source="RFC 9110, section 11.6.2",
        caught=("headers={'Authorization': 'Basic ", "YW5h" + FILL[:16], "', 'Accept': '*/*'}"),
        spared="authorization: bearer required; Authorization failed for 10.0.0.5",
    ),
    Rule(
        kind="authorization",
        literals=("authorization",),
        regex=_named(r"authorization"),
        flags=re.IGNORECASE,
        accepts=opaque,
        keeps="the name",
        source="RFC 9110, section 11.6.2, as used without a scheme",
        caught=('"authorization": "', FILL[:32], '"'),
        spared="Authorization: AWS4-HMAC-SHA256 SignedHeaders=host",
    ),
    Rule(
        kind="authorization",
        literals=("bearer",),
        regex=(rf"{START}bearer[ \t]{{1,4}}[\"']?(?P<secret>[\w.~+/:=-]{{16,}})"),
        flags=re.IGNORECASE | re.ASCII,
        accepts=opaque,
        keeps="the scheme",
        source="RFC 6750, section 2.1",
        caught=("curl: sent Bearer ", FILL[:40], ""),
        spared="Bearer tokens are required; bearer state node-3",
    ),
    Rule(
        kind="docker-auth",
        literals=('"auth', "'auth"),
        regex=(
            r"[\"']auth\\{0,6}[\"'][ \t]{0,4}:[ \t]{0,4}\\{0,6}[\"'](?P<secret>[A-Za-z0-9+/=]{8,})"
        ),
        flags=re.IGNORECASE,
        accepts=basic_credentials,
        keeps="the registry's name",
        source="Docker, config.json: base64 of `user:password`",
        caught=('{"auths": {"nvcr.io": {"auth": "', "JG9hdXRoOmh1" + "bnRlcjI=", '"}}}'),
        spared='{"auth": "required", "level": "info"}',
    ),
    Rule(
        kind="cookie",
        literals=("cookie",),
        regex=(
            r"(?<![a-z])cookie[\"'\\]{0,6}[ \t]{0,4}[:=][ \t]{0,4}[\"'\\\[]{0,8}"
            r"(?P<secret>[\w.%-]{1,64}=[^\s;\"'\\\x1b]++(?:;[ ]?[^\s;\"'\\\x1b]++)*+)"
        ),
        flags=re.IGNORECASE,
        keeps="the name",
        source="RFC 6265, sections 4.1 and 4.2",
        caught=("< Set-Cookie: ", "session=" + FILL[:24] + "; Path=/", ""),
        spared="cookie: 0x1f2e3d4c, MIT-MAGIC-COOKIE-1",
    ),
    Rule(
        kind="signature",
        literals=("signature", "sig=", "sig%3d", "security-token"),
        anchored=False,
        regex=(
            r"(?:(?:[?&;]|\\u0026|%26)(?:[\w-]{0,40}?signature|sig|x-amz-security-token)(?:=|%3D)"
            r"|-signature(?:-\d{1,3})?[\"'\\]{0,6}[ \t]{0,4}[:=][ \t]{0,4}[\[\"'\\b]{0,8}"
            r"|(?<![\w-])signature=)(?P<secret>[\w+/%=.,~-]{16,})"
        ),
        flags=re.IGNORECASE | re.ASCII,
        accepts=opaque,
        keeps="the URL, the header's name",
        source="AWS SigV4, Azure SAS and Google signed URLs; Slack's and GitHub's webhooks",
        caught=("https://b.s3.example/k?X-Amz-Expires=60&X-Amz-Signature=", HEX[:64], "&x-id=Get"),
        spared="exited with sig=9; signature=forward(Tensor) ?sig=none",
    ),
    Rule(
        kind="secret",
        literals=("secret",),
        regex=_named(rf"secret(?:[_-]?key)?(?:[_-](?:value|text|id|base))?{_NUMBERED}"),
        flags=re.IGNORECASE,
        accepts=no_placeholder,
        keeps="the name",
        source="configuration files of any program, Crusoe's `secret_key = …` among them",
        caught=('secret_key = "', FILL[:22], '"'),
        spared='secret: not found, secretName: tls-train, secret "wandb" not found',
    ),
    Rule(
        kind="api-key",
        literals=("key",),
        regex=_named(rf"{_KEY_OF}key(?:[_-]?(?:id|data|value))?{_NUMBERED}"),
        flags=re.IGNORECASE,
        accepts=opaque,
        keeps="the name",
        source="configuration files of any program, Crusoe's `access_key_id = …` among them",
        caught=("access_key_id = ", FILL[:22], ""),
        spared="api_key=None private_key=/root/.ssh/id_ed25519 key: encoder.layer.11",
    ),
    Rule(
        kind="token",
        literals=("token", "_jwt"),
        regex=_named(rf"(?:token(?:[_-]?(?:value|secret))?|_jwt){_NUMBERED}"),
        flags=re.IGNORECASE,
        accepts=opaque,
        keeps="the name",
        source="environment dumps, YAML and JSON of any program",
        caught=("NEPTUNE_API_TOKEN=", FILL[:80] + "==", ""),
        spared="token: 4096, pad_token='<pad>' eos_token_id=2 tokens/s: 81231.5, 0 tokens: 1234",
    ),
)
