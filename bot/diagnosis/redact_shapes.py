"""Secrets known by their own shape: one row a format, wherever in a line it stands."""

from __future__ import annotations

import re

from bot.diagnosis.patterns import Pattern
from bot.diagnosis.redact_rules import FILL, Rule

# A secret may begin where no letter or digit stands before it, or where these only belong to an
# escape: `\n` and `\u003d` inside JSON, `%3D` in a URL, the end of a colour (`\x1b[31m`).
_ESCAPED = r"(?<=\\[abfnrtv])|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})|(?<=%[0-9A-Fa-f]{2})"
_COLOURED = "|".join(rf"(?<=\[[0-9;]{{{width}}}[mK])" for width in range(17))
START = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED}|{_COLOURED})"
_START_OF_RUN = rf"(?:(?<![A-Za-z0-9_-])|{_ESCAPED}|{_COLOURED})"
_START_OF_NAME = (
    r"(?:(?<![\w.+\\-])(?!(?<=[\[;])[0-9;]{1,16}[mK])(?!(?<=%)[0-9A-Fa-f]{2})|"
    rf"{_ESCAPED}|{_COLOURED})"
)
_END = r"(?![A-Za-z0-9])"


SHAPES: tuple[Rule, ...] = (
    Rule(
        kind="private-key",
        literals=("LS0tLS1CRUdJTiB", "b3BlbnNzaC1rZXktdjE"),
        regex=(
            rf"{START}(?P<secret>(?:LS0tLS1CRUdJTiB(?:QUklWQVRFIEtFW|SU0EgUFJJVkFUR|"
            r"FQyBQUklWQVRFI|PUEVOU1NIIFBSS|FTkNSWVBURUQg)|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=]*)"
        ),
        keeps="nothing",
        source="RFC 7468 and OpenSSH PROTOCOL.key, in base64 as Kubernetes prints secrets",
        caught=("tls.key: ", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo" + FILL[:60], ""),
        spared="tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
    ),
    Rule(
        kind="aws-key",
        literals=("AKIA", "ASIA", "ABIA", "ACCA"),
        regex=(rf"{START}(?P<secret>A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}){_END}"),
        keeps="nothing",
        source="AWS IAM, 'IAM identifiers: unique ID prefixes'",
        caught=("InvalidAccessKeyId: ", "AKIA" + "Z7QXN2LM4KD6VB3R", " does not exist"),
        spared="AKIA-ASIA region map loaded, zone ASIA_EAST1",
    ),
    Rule(
        kind="aws-key",
        literals=("FwoGZXIvYXdz", "IQoJb3JpZ2lu"),
        regex=(rf"{START}(?P<secret>(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=%]{{20,}})"),
        keeps="nothing",
        source="AWS STS, session tokens",
        caught=("token ", "IQoJb3JpZ2luX2Vj" + FILL[:90], " expired"),
        spared="cursor IQoJb3JpZ2lu",
    ),
    Rule(
        kind="gcp-key",
        literals=("AIza", "ya29.", "GOCSPX-", "1//0"),
        regex=(
            rf"{START}(?P<secret>AIza[\w-]{{35,}}|ya29\.[\w.-]{{20,}}|GOCSPX-[\w-]{{20,}}|"
            r"1//0[\w-]{30,})"
        ),
        flags=re.ASCII,
        keeps="nothing",
        source="Google Cloud, 'API keys' and OAuth 2.0 access and refresh tokens",
        caught=("GET /v1/models?key=", "AIza" + FILL[:35], "&alt=json"),
        spared="AIza is the prefix of an API key; shard 1//08 done",
    ),
    Rule(
        kind="azure-key",
        literals=("8Q~",),
        anchored=False,
        regex=(rf"{START}(?P<secret>[A-Za-z0-9_~.-]{{3}}8Q~[A-Za-z0-9_~.-]{{31,}})"),
        keeps="nothing",
        source="Microsoft Entra ID, client secrets",
        caught=("invalid_client: secret ", "k2V8Q~" + FILL[:34], " is wrong"),
        spared="pattern 8Q~ has no match",
    ),
    Rule(
        kind="crusoe-key",
        literals=("bearer 1.0:",),
        regex=(r"bearer (?P<secret>1\.0:[\w-]{6,128}(?::[\w-]{8,})?)"),
        flags=re.IGNORECASE | re.ASCII,
        keeps="the scheme",
        source="Crusoe Cloud API, request signing 1.0: `Bearer 1.0:<access key id>:<signature>`",
        caught=("> Authorization: Bearer ", "1.0:" + FILL[:22] + ":" + FILL[3:46], ""),
        spared="Bearer 1.0: see how requests are signed",
    ),
    Rule(
        kind="slack-webhook",
        literals=("hooks.slack",),
        regex=(
            r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{16,})"
        ),
        flags=re.ASCII,
        keeps="the host and the kind of hook",
        source="Slack, 'Sending messages using incoming webhooks'",
        caught=(
            "POST https://hooks.slack.com/services/",
            "T0A1B2C3D/B0A1B2C3D/" + FILL[:24],
            " 404",
        ),
        spared="cannot resolve hooks.slack.com/services: Temporary failure in name resolution",
    ),
    Rule(
        kind="slack-token",
        literals=("xox", "xapp-"),
        regex=(
            rf"{START}(?P<secret>xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{{10,}}|xapp-\d-[A-Za-z0-9-]{{10,}})"
        ),
        keeps="nothing",
        source="Slack, 'Token types'",
        caught=("invalid_auth for ", "xoxb-" + "1234567890-" + FILL[:24], ""),
        spared="xoxb-token is missing; xapp- too",
    ),
    Rule(
        kind="huggingface-token",
        literals=("hf_", "api_org_"),
        regex=(rf"{START}(?P<secret>(?:hf|api_org)_[A-Za-z0-9]{{30,}})"),
        keeps="nothing",
        source="Hugging Face Hub, 'User access tokens'",
        caught=("+ huggingface-cli login --token ", "hf_" + FILL[:34], ""),
        spared="hf_hub_download(repo_id='org/hf_model', etag_timeout=10)",
    ),
    Rule(
        kind="wandb-key",
        literals=("wandb_v",),
        regex=(rf"{START}(?P<secret>wandb_v\d_[A-Za-z0-9_-]{{30,}})"),
        keeps="nothing",
        source="Weights & Biases, 'API keys' (86 characters since SDK 0.22.3)",
        caught=("+ wandb login ", "wandb_v1_" + FILL[:77], ""),
        spared="wandb_v1_run-20260501_100000-ab12",
    ),
    Rule(
        kind="github-token",
        literals=("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        regex=(rf"{START}(?P<secret>(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{{20,}})"),
        keeps="nothing",
        source="GitHub, 'About authentication: token formats'",
        caught=("remote: Invalid username or token ", "ghp_" + FILL[:36], "."),
        spared="ghs_mode=off, gho_count=3",
    ),
    Rule(
        kind="gitlab-token",
        literals=("gl",),
        regex=(
            rf"(?=gl[a-z]{{2,5}}-){START}(?P<secret>gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w.-]{{20,}})"
        ),
        flags=re.ASCII,
        keeps="nothing",
        source="GitLab, 'Token overview: token prefixes'",
        caught=("HTTP Basic: Access denied, ", "glpat-" + FILL[:20], ""),
        spared="glrt-runner is online; glibc 2.36 global step 17",
    ),
    Rule(
        kind="docker-auth",
        literals=("eyJhdXRocyI6",),
        regex=(rf"{START}(?P<secret>eyJhdXRocyI6[A-Za-z0-9+/=_-]{{8,}})"),
        keeps="nothing",
        source="Kubernetes, 'Docker config secrets' (base64 of `{\"auths\":`)",
        caught=(".dockerconfigjson: ", "eyJhdXRocyI6" + FILL[:60], ""),
        spared="decoded eyJhdXRocyI6",
    ),
    Rule(
        kind="jwt",
        literals=("eyJ",),
        regex=(rf"{_START_OF_RUN}(?P<secret>eyJ[\w-]{{8,}}+\.[\w-]{{8,}}+(?:\.[\w-]*+){{0,3}})"),
        flags=re.ASCII,
        keeps="nothing",
        source="RFC 7519; Slurm 'JWT Authentication', Kubernetes service account tokens",
        caught=("SLURM_JWT=", "eyJ" + FILL[:33] + ".eyJ" + FILL[:60] + "." + FILL[:43], ""),
        spared="eyJhbGciOiJIUzI1NiJ9 is a header without a payload",
    ),
    Rule(
        kind="llm-key",
        literals=("sk-",),
        regex=(
            rf"{START}(?P<secret>sk-(?:(?:ant|proj|svcacct|admin|None|or-v\d|lf)-[\w-]{{20,}}|"
            r"[A-Za-z0-9]{32,}))"
        ),
        flags=re.ASCII,
        keeps="nothing",
        source="OpenAI and Anthropic, 'API keys'",
        caught=("Incorrect API key provided: ", "sk-proj-" + FILL[:74], ". You can find"),
        spared="sk-learn-pipeline, task-4711-abcdef, disk-5f3c2b1a",
    ),
    Rule(
        kind="ngc-key",
        literals=("nvapi-",),
        regex=(rf"{START}(?P<secret>nvapi-[A-Za-z0-9_-]{{20,}})"),
        keeps="nothing",
        source="NVIDIA NGC, 'Generating a personal API key'",
        caught=("docker login nvcr.io with ", "nvapi-" + FILL[:64], ""),
        spared="nvapi-version 12",
    ),
    Rule(
        kind="package-token",
        literals=("pypi-", "npm_"),
        regex=(rf"{START}(?P<secret>pypi-A[A-Za-z0-9_-]{{30,}}|npm_[A-Za-z0-9]{{30,}})"),
        keeps="nothing",
        source="PyPI, 'API tokens'; npm, 'About access tokens'",
        caught=("403 Invalid API Token: ", "pypi-AgEIcHlwaS5vcmc" + FILL[:60], ""),
        spared="pypi-mirror is up, npm_config_loglevel=warn",
    ),
    Rule(
        kind="docker-token",
        literals=("dckr_",),
        regex=(rf"{START}(?P<secret>dckr_[op]at_[A-Za-z0-9_-]{{20,}})"),
        keeps="nothing",
        source="Docker Hub, 'Personal access tokens'",
        caught=("unauthorized: ", "dckr_pat_" + FILL[:27], ""),
        spared="dckr_pat_ is the prefix",
    ),
    Rule(
        kind="vendor-token",
        literals=(
            "_live_",
            "hvs.",
            "dapi",
            "r8_",
            "gsk_",
            "tskey-",
            "dop_v1_",
            "glsa_",
            "NRAK-",
            "lin_api_",
            "AGE-SECRET-KEY-1",
            "SG.",
            "xai-",
        ),
        anchored=False,
        regex=(
            rf"{START}(?P<secret>[rs]k_live_[A-Za-z0-9]{{16,}}|hvs\.[\w-]{{24,}}|dapi[0-9a-f]{{32,}}|"
            r"r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|tskey-[a-z]{2,12}-[\w-]{16,}|"
            r"dop_v1_[0-9a-f]{40,}|glsa_\w{32,}|NRAK-[A-Z0-9]{20,}|lin_api_[A-Za-z0-9]{32,}|"
            r"AGE-SECRET-KEY-1[A-Z0-9]{40,}|SG\.[\w-]{16,64}\.[\w-]{16,}|xai-[A-Za-z0-9]{60,})"
        ),
        flags=re.ASCII,
        keeps="nothing",
        source="Stripe, Vault, Databricks, Replicate, Groq, Tailscale, DigitalOcean, Grafana, New "
        "Relic, Linear, age, SendGrid, xAI: each one's page on its keys",
        caught=("vault: permission denied for ", "hvs." + FILL[:28], ""),
        spared="dapi.py r8_kernel hvs.example sg.SG.x AGE-SECRET-KEY",
    ),
    Rule(
        kind="url-credentials",
        literals=("://",),
        regex=(
            r"://(?P<secret>[^\s/?#@:\"'<>\u2039\u203a\\]{0,256}:[^\s/?#\"'<>\u2039\u203a\\]{0,512}|"
            r"(?:(?<=https://)|(?<=http://))[^\s/?#@:\"'<>\u2039\u203a\\]{1,256})@(?=[\w.\[-])"
        ),
        keeps="the scheme, the host and what follows",
        source="RFC 3986, section 3.2.1",
        caught=("ConnectionError: redis://", ":" + FILL[:20], "@redis-0.train:6379/0"),
        spared="tcp://node-0:29500 ssh://git@git.example.com/r https://a.example:8080/x@y",
    ),
    Rule(
        kind="email",
        literals=("@", "%40"),
        hint=Pattern(r"(?:@|%40)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2}"),
        anchored=False,
        regex=(
            rf"{_START_OF_NAME}(?!(?:git|root|ubuntu|debian|centos|admin|ec2-user|slurm|nobody|"
            r"noreply|rank\d{0,6})(?:@|%40))(?P<secret>[\w+][\w.+-]{0,63})(?:@|%40)"
            r"(?=(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9]))"
            r"(?!(?:[A-Za-z0-9-]{1,63}\.){1,8}(?:service|socket|timer|target|mount|slice|scope|"
            r"path|device|swap|automount)(?![A-Za-z0-9]))"
        ),
        keeps="the domain: after `user@` in a prompt or an ssh command it is the machine",
        source="RFC 5321, section 4.1.2",
        caught=("#SBATCH --mail-user=", "ana.kovac", "@example.com"),
        spared="[ana@py041:train]$ ssh root@10.0.0.5 user@1000.service git@git.example.com:r",
    ),
)
