# Two commands do everything on a machine with rustup: `make demo` and `make test`.
CARGO ?= cargo

.PHONY: demo test check bench clean

demo: ## Build condyle and run its demo: a figure with known truth, estimated from its motion.
	$(CARGO) run --release --quiet --package condyle-cli -- demo -o target/demo

test: tools ## Everything the project checks, as CI does it.
	$(CARGO) xtask ci

check: tools ## The fast inner loop: format, lints, unit tests.
	$(CARGO) xtask check

bench: ## Figures of the hot paths, each beside a peer measured in the same run.
	$(CARGO) xtask bench

.PHONY: tools
tools: # What the checks need from rustup; nothing happens where it is there already.
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy

clean:
	$(CARGO) clean
