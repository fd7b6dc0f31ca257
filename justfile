# The commands of a working day. Without `just`, copy the line below the name.

# Compile everything, tests among it.
check:
    cargo check --all-targets

# Every test.
test:
    cargo test

# The tests of `tests/` whose path contains NAME: just test-one docs::published
test-one NAME:
    cargo test --test all {{NAME}}

# Format, then what the compiler and clippy say.
lint:
    cargo fmt
    cargo clippy --all-targets -- -D warnings

# Write every generated file again.
update:
    COOK_UPDATE=1 INSTA_UPDATE=always cargo test --test all --test exploration generated

# The same without the exploration, for a change that adds no transition.
update-fast:
    COOK_UPDATE=1 INSTA_UPDATE=always cargo test --test all generated

# A real job from `cook init` to `done`, with the program as it is built here.
smoke:
    ./smoke/smoke.sh

# A whole run with scripted agents, to look at.
demo:
    cargo run -- demo

# Draw README's picture from a run.
picture:
    ./docs/demo.sh

# The proofs, each for a minute or two.
proofs:
    ./proofs/exploration.sh --short
    ./proofs/mutants.sh --short
    ./proofs/crash-sweep.sh --short
    ./proofs/concurrency.sh --short
    ./proofs/seeds.sh --short
    ./proofs/histories.sh --short

# Whole processes measured side by side, on small repositories.
bench:
    cargo bench --bench table -- --quick

# What CI runs.
ci:
    ./.ci/run
