.DEFAULT_GOAL := help
.PHONY: help demo test lint cases bench backup fuzz outage lab chaos lock clean venv

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' Makefile

demo: venv ## open the bot in a local Slack workspace, with a simulated fleet
	@scripts/demo

test: venv ## run every check: style, types, rooms, tests, cases
	@scripts/system-packages test
	@scripts/test

lint: venv ## run the static checks alone
	@scripts/test lint

cases: venv ## print how many known cases are diagnosed right
	@.venv/bin/python -m tests.cases.accuracy

bench: venv ## measure scans against grep and ripgrep, pre-flights against clush
	@scripts/system-packages bench
	@.venv/bin/python -m tests.benchmarks

backup: venv ## back up 20,000 files and 5 GB, killed at random ten times
	@NCCL_DNS_BACKUP_FILES=20000 NCCL_DNS_BACKUP_MB=5000 .venv/bin/python -m pytest -q tests/behaviour/hosts/test_backup_kills.py

fuzz: venv ## look for input that the diagnosis cannot take
	@.venv/bin/python -m tests.fuzz

outage: venv ## let Slack be away for five minutes, in four ways, and see what is lost
	@NCCL_DNS_OUTAGE_S=300 .venv/bin/python -m pytest -q -s tests/scenario/test_outage.py

lab: venv ## break and mend real machines, and see what the bot does: root on Debian 12
	@scripts/system-packages lab
	@.venv/bin/python -m pytest -q -m lab tests/lab --durations=0

chaos: venv ## kill the process that carries steps out everywhere, and 200 times at random
	@scripts/system-packages test
	@NCCL_DNS_KILLS=200 .venv/bin/python -m pytest -q -s tests/crash

lock: venv ## remake the locks (UPGRADE=1 takes newer versions)
	@scripts/lock

clean: ## remove what make made
	rm -rf .venv .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

venv:
	@PYTHON='$(PYTHON)' scripts/venv
