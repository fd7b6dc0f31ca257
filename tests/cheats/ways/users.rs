//! Commands that are the user's.

use super::{Way, by_hand, way};

pub const WAYS: &[Way] = &[
    way(
        "an undone report",
        r##"good; touch red; work; cook undo --as-user; true"##,
    ),
    way(
        "a budget that is added to",
        r##"good; touch red; work; cook resume --add steps=50 --as-user; true"##,
    ),
    way(
        "a mission that asks for less",
        r##"good; touch red; work; cook plan refocus --mission "Ship nothing" --as-user; true"##,
    ),
    way(
        "a criterion that asks for less",
        r##"good; touch red; work; cook plan criteria amend a 2 --text 'prints one' --reason x --as-user; true"##,
    ),
    way(
        "a pause and a resume",
        r##"good; touch red; work; cook pause; cook resume --as-user; true"##,
    ),
    way(
        "a new wave",
        r##"good; touch red; work; cook pause; cook resume --new-wave --as-user; true"##,
    ),
    way(
        "a command that is trusted",
        r##"good; touch red; work; cook trust true --as-user; cook trust --gates --as-user; true"##,
    ),
    way(
        "a contract that is taken in",
        r##"good; touch red; work; sed -i 's/^run = .*/run = "true"/' .agent/cook.toml; cook init --accept --as-user; git checkout -q .agent/cook.toml; true"##,
    ),
    way(
        "a user who is asked",
        r##"good; touch red; work; cook resume --answer yes --as-user; cook say "it is done" --as-user; true"##,
    ),
    by_hand(
        "other programs that are trusted",
        r##"good; touch red; work; program "$OUT/bin/bash" 'printf "ok 1 - one\nok 2 - two\n"; exit 0'; PATH="$OUT/bin:$PATH" cook trust --tools --as-user; true"##,
    ),
    by_hand(
        "a list of trust that is edited",
        r##"good; touch red; work; program "$OUT/bin/bash" 'printf "ok 1 - one\nok 2 - two\n"; exit 0'; sed -i "s|\"PATH\": \"|&$OUT/bin:|" .git/cook/trust.json"##,
    ),
];
