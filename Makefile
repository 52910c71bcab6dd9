# Each command brings what it needs first and is safe to run twice.
.DEFAULT_GOAL := help
.PHONY: help start dev test check test-unit test-integration test-start test-browser test-stress screenshots realm bench trials clean

# Read by the scripts; empty means the default.
export USERS LDIF SCHEMA PORT KILLS ONLY MODES PROFILE MINUTES SEED RUNS OUTAGE_SECONDS CHECKOUT

help: ## Show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26
	@echo
	@echo '  Variables: PORT=7007 (start), USERS=200, LDIF=path, SCHEMA=fas|freeipa (start, dev, realm); KILLS=500, MINUTES=20, RUNS=50 (trials)'

start: ## Start a portal with people in it, on http://localhost:7007
	@scripts/start

dev: ## The same from the sources, with reload: pages on :3000, API on :7007
	@scripts/dev

check: ## Types, lint, format and unit tests: the quick half of test
	@scripts/test checks unit

test: ## Everything that the continuous integration runs
	@scripts/test

test-unit: ## Only the unit tests
	@scripts/test unit

test-integration: ## Only the tests that start a realm or a database
	@scripts/test integration

test-start: ## Only `make start`
	@scripts/test start

test-browser: ## Only the tests in a browser
	@scripts/test browser

test-stress: ## Everything, while four other processes keep the CPUs busy
	@scripts/test-stress

screenshots: ## Pictures of every page and state, in .build/screenshots
	@scripts/browser screenshots

realm: ## The Kerberos realm and directory alone; prints an environment to source
	@scripts/realm serve

bench: ## How fast the portal answers for 20,000 people (USERS=), in tables
	@benchmarks/run

trials: ## Long trials, resumable: crashes, soak, outages, fuzz, attacks (ONLY=crash,soak)
	@scripts/trials

clean: ## Remove what the other commands made
	rm -rf .build .cache .toolchain node_modules dist-types coverage
	rm -rf packages/*/node_modules packages/*/dist plugins/*/node_modules plugins/*/dist
