# Two stages: the wheel is built in the first, and the second holds nothing but Python and it.
# Everything is installed from the locks, by hash; wheels only, so that nothing is compiled or run.
FROM python:3.11.11-slim-bookworm AS build
WORKDIR /build
COPY requirements.lock requirements-build.lock ./
# pip stays in this stage: the second gets what it installs.
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: \
        -r requirements-build.lock \
    && python -m venv --without-pip /opt/nccl-dns \
    && /opt/build/bin/pip --python /opt/nccl-dns/bin/python install --no-cache-dir --no-deps \
        --require-hashes --only-binary :all: -r requirements.lock
COPY pyproject.toml README.md LICENSE manifest.yml manifest-channels.yml ./
COPY bot bot
COPY handlers handlers
RUN /opt/build/bin/python -m hatchling build -t wheel -d /build/dist \
    && /opt/build/bin/pip --python /opt/nccl-dns/bin/python install --no-cache-dir --no-deps \
        /build/dist/*.whl \
    && /opt/nccl-dns/bin/python -m compileall -q /opt/nccl-dns

FROM python:3.11.11-slim-bookworm
LABEL org.opencontainers.image.title="nccl-dns" \
      org.opencontainers.image.description="Which rank, which VM and why, when distributed training cannot start" \
      org.opencontainers.image.licenses="MIT"
# No shell, and a number that a volume can be given to.
RUN groupadd --gid 10001 nccl-dns \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/nccl-dns \
        --shell /usr/sbin/nologin nccl-dns \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/nccl-dns
COPY --from=build /opt/nccl-dns /opt/nccl-dns
# The root file system may be read-only: what is written goes to the state folder alone. HOME, since
# Slack's library does not load for a user without one, and whoever runs this may choose another.
ENV PATH=/opt/nccl-dns/bin:$PATH \
    HOME=/var/lib/nccl-dns \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NCCL_DNS_STATE_DIR=/var/lib/nccl-dns \
    NCCL_DNS_SLACK__HOST=0.0.0.0
# Settings are looked for at /etc/nccl-dns/nccl-dns.toml; variables NCCL_DNS_… do as well.
VOLUME /var/lib/nccl-dns
USER 10001:10001
EXPOSE 8080
# Alive, not ready: while Slack is away a new process would not help; /readyz says more.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["nccl-dns", "healthy"]
STOPSIGNAL SIGTERM
CMD ["nccl-dns", "serve"]
