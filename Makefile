# Each target installs its requirements and can be run repeatedly.
.DEFAULT_GOAL := help
.PHONY: help start dev test check test-unit test-integration test-start test-browser test-stress screenshots realm doctor ca bench trials faults pack dist test-install clean

# Read by the scripts; empty means the default.
export API CA USERS LDIF SCHEMA PORT PAGES_PORT ONLY CLIENTS MINUTES REST RECORD SEED RUNS OUTAGE_SECONDS KILLS FAULTS HOLD_FAULTS WRITES CUTS RESTARTS ROUNDS SEARCHES REQUESTS WHOLE KEEP CONFIG JSON TIMEOUT FOLDER ORGANIZATION URL

help: ## Show this help
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26
	@echo
	@echo '  Variables: PORT=7007 (start, dev), PAGES_PORT=3000 (dev), USERS=200, LDIF=path, SCHEMA=fas|freeipa (start, dev, realm); CA=step-ca, API=1 (start); MINUTES=20, RUNS=50 (trials)'

start: ## Start a portal with users on http://localhost:7007
	@scripts/start

dev: ## Start the portal from source, with reload: pages on :3000, API on :7007
	@scripts/dev

doctor: ## Check the running portal, or that of CONFIG="FILE…" (JSON=1, TIMEOUT=10)
	@scripts/doctor

check: ## Check types, lint and format, run unit tests
	@scripts/test checks unit

test: ## Run all checks and tests, as CI does
	@scripts/test

test-unit: ## Run unit tests
	@scripts/test unit

test-integration: ## Run tests that start a realm or a database
	@scripts/test integration

test-start: ## Test `make start`
	@scripts/test start

test-browser: ## Run tests in a browser
	@scripts/test browser

test-stress: ## Run all checks and tests while stress-ng keeps the CPUs busy
	@scripts/test-stress

screenshots: ## Take screenshots of all pages and states, in .build/screenshots
	@scripts/browser screenshots

realm: ## Start only the realm and print its environment
	@scripts/realm serve

ca: ## Create a root, its CRL and an intermediate in FOLDER= for ORGANIZATION= (URL=)
	@scripts/ca

bench: ## Measure the production build with 20,000 users (USERS=, ONLY=, MINUTES=)
	@benchmarks/run

trials: ## Run long trials, resumable (ONLY=holds,answers,outages…)
	@scripts/trials

faults: ## Check that tests catch plausible faults, resumable (ONLY=id,id WHOLE=0)
	@scripts/faults

pack: ## Build tarballs of the public packages, in .build/packages
	@scripts/pack

dist: ## Build the portal for production with Node and all modules, in .build/dist
	@scripts/dist

test-install: ## Follow docs/install.md in a new portal (ten minutes)
	@scripts/test-install

clean: ## Remove all generated files
	rm -rf .build .cache .toolchain node_modules dist-types coverage
	rm -rf packages/*/node_modules packages/*/dist plugins/*/node_modules plugins/*/dist
