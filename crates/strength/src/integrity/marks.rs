//! The marks by which it is known that a test is set aside, tried again, padded with waiting, or
//! that an error in it goes unseen.

use crate::language::Language;
use crate::lex::{self, Kind};

/// What sets a test aside, wherever it stands.
const SKIPS: [&str; 77] = [
    "collect_ignore",
    "pytest_deselected(",
    "pytest_ignore_collect(",
    "items[:] =",
    "items.remove(",
    "#[ignore",
    "#[cfg(any())]",
    "#[cfg(feature",
    "#[cfg(not(test))]",
    "#![cfg(any())]",
    "#[cfg_attr(",
    "@pytest.mark.skip",
    "@pytest.mark.xfail",
    "pytest.mark.skip",
    "pytest.mark.xfail",
    "pytest.skip(",
    "pytest.xfail(",
    "pytest.importorskip(",
    "unittest.skip",
    "@skip",
    "@expectedFailure",
    "unittest.expectedFailure",
    "self.skipTest(",
    "SkipTest(",
    "raise SkipTest",
    "raise unittest.SkipTest",
    "it.skip",
    "test.skip",
    "describe.skip",
    "it.only",
    "test.only",
    "describe.only",
    "it.todo",
    "test.todo",
    "it.fails",
    "test.fails",
    "it.failing",
    "test.failing",
    "test.fixme",
    "describe.todo",
    "it.runIf",
    "test.runIf",
    "xit(",
    "xtest(",
    "xdescribe(",
    "xspecify(",
    "xcontext(",
    "fit(",
    "fdescribe(",
    "this.skip(",
    "t.skip(",
    "t.Skip(",
    "t.Skipf(",
    "t.SkipNow(",
    "b.Skip(",
    "@Disabled",
    "@Ignore",
    "[Ignore",
    "Skip = \"",
    "@EnabledIf",
    "@EnabledOn",
    "@tag :skip",
    "@tag skip",
    "GTEST_SKIP(",
    "markTestSkipped(",
    "markTestIncomplete(",
    "XCTSkip",
    "Assume.assume",
    "assumeTrue(",
    "skip: true",
    "skip:true",
    "skip: '",
    "skip: \"",
    "todo: true",
    "todo:true",
    "only: true",
    "only:true",
];
/// The same as a whole line's first word.
const SKIP_WORDS: [&str; 4] = ["skip", "pending", "xit", "xdescribe"];
/// What tries a test again until it passes.
const RETRIES: [&str; 34] = [
    "@flaky",
    "mark.flaky",
    "flaky(",
    "@retry",
    "@Retry",
    "@RetryingTest",
    "RetryRule",
    "RetryAnalyzer",
    "@RepeatedIfExceptionsTest",
    "jest.retryTimes(",
    "this.retries(",
    ".retries(",
    "retry:",
    "retries:",
    "--reruns",
    "--retries",
    "--retry",
    "reruns=",
    "rerunFailingTestsCount",
    "--flaky-test-attempts",
    "nick-fields/retry",
    "nick-invision/retry",
    "#[flaky_test",
    "retries =",
    "retries=",
    "retry=",
    "retry =",
    "#[retry",
    "flaky_test::",
    "retry(",
    "retry_on_failure",
    "rspec-retry",
    "surefire.rerun",
    "retryTimes",
];
/// What waits for a time.
const SLEEPS: [&str; 14] = [
    "sleep(",
    "Sleep(",
    "sleep_ms(",
    "usleep(",
    "waitForTimeout(",
    "cy.wait(",
    "setTimeout(",
    "delay(",
    "Delay(",
    "Thread.sleep",
    "sleepFor(",
    "sleep_for(",
    "pause(",
    "nanosleep(",
];

/// A text's lines without comments, texts emptied; the first is of line 1.
pub(super) fn code_lines(path: &str, text: &str) -> Vec<String> {
    let language = Language::of(path, text);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for token in lex::tokens(language, text) {
        match token.kind {
            // A comment that a compiler reads.
            Kind::Comment if token.text.starts_with("//go:build") => {}
            Kind::Comment | Kind::Text => {
                out.push_str(&text[at..token.at]);
                if token.kind == Kind::Text {
                    out.push_str(
                        &token.text[..token.text.chars().next().map_or(0, char::len_utf8)],
                    );
                }
                out.extend(token.text.chars().filter(|c| *c == '\n'));
                if token.kind == Kind::Text {
                    out.push(token.text.chars().next_back().unwrap_or_default());
                }
                at = token.end();
            }
            _ => {}
        }
    }
    out.push_str(&text[at..]);
    out.lines().map(|line| line.trim().to_owned()).collect()
}

/// A mark that begins with a letter is a word of its own: `emit(` is no `it(`.
fn stands(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !mark.starts_with(char::is_alphabetic)
            || !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
    })
}

/// Something is set aside here.
pub(super) fn is_skip(line: &str) -> bool {
    if line.starts_with("//go:build") {
        return true;
    }
    let first = line.split([' ', '(']).next().unwrap_or_default();
    // `skip` of bats, `pending` of RSpec; a call of something else has more behind it.
    let word = SKIP_WORDS.contains(&first) && !line.contains('=') && !line.contains(").");
    let conditional = line.starts_with("#[cfg(") && !line.contains("test)");
    word || conditional
        || SKIPS.iter().any(|mark| stands(line, mark)) && !is_harmless_attribute(line)
}

fn is_harmless_attribute(line: &str) -> bool {
    line.starts_with("#[cfg_attr(") && !line.contains("ignore")
}

/// A skip that does not depend on where the tests run.
pub(super) fn is_unconditional(line: &str) -> bool {
    let asks = [
        "skipif",
        "skipIf",
        "skipUnless",
        "SkipIf",
        "importorskip",
        "cfg_attr",
        "EnabledIf",
        "EnabledOn",
        "DisabledOn",
        "DisabledIf",
        "runIf",
        "assume",
        "cfg(",
        "fails",
        "failing",
        "XCTSkip",
    ];
    is_skip(line) && !asks.iter().any(|word| line.contains(word))
}

/// A test is tried again here.
pub(super) fn is_retry(line: &str) -> bool {
    RETRIES.iter().any(|mark| {
        line.match_indices(mark).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let own = !mark.starts_with(char::is_alphabetic)
                || !before.is_some_and(|c| {
                    c.is_alphanumeric() || c == '_' || c == '.' && !mark.starts_with("retryTimes")
                });
            own && !is_argument(line, at, mark)
        })
    }) || is_retry_loop(line)
}

/// A runner's settings say that tests are tried again: `retries: 2`.
pub(super) fn is_retry_setting(line: &str) -> bool {
    let given = ["retries", "retry", "reruns", "retryTimes"]
        .iter()
        .any(|word| {
            line.match_indices(word).any(|(at, _)| {
                let rest = line[at + word.len()..].trim_start_matches(['"', '\'', ' ']);
                let rest = rest.strip_prefix(':').map(str::trim_start);
                rest.is_some_and(|rest| !rest.starts_with('0') && !rest.is_empty())
            })
        });
    given || is_retry(line)
}

/// `Client(retries=3)` is about what is tested.
fn is_argument(line: &str, at: usize, mark: &str) -> bool {
    let named = matches!(
        mark,
        "retries=" | "retry=" | "retries:" | "retry:" | "retries =" | "retry ="
    );
    let test = ["it(", "it.", "test(", "test.", "describe(", "describe."];
    let decorated = line.starts_with('@')
        || test.iter().any(|start| line.starts_with(start))
        || line.contains(".configure(");
    let called = line[..at].contains(['(', '{', '[']);
    named && called && !decorated
}

/// `for attempt in range(3)`, `until make test; do`.
fn is_retry_loop(line: &str) -> bool {
    let lower = line.to_lowercase();
    let loops = ["for ", "for(", "while ", "until "]
        .iter()
        .any(|word| lower.starts_with(word));
    let tries = ["attempt", "retry", "retries", "tries", "try_"]
        .iter()
        .any(|word| lower.contains(word));
    let until = lower.starts_with("until ") && super::commands::runs_check(&lower);
    loops && tries || until
}

/// Time is waited for here.
pub(super) fn is_sleep(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let of_shell = first == "sleep"
        && line
            .split_whitespace()
            .nth(1)
            .is_some_and(|word| !word.starts_with('='));
    of_shell
        || line.contains("; sleep ")
        || line.contains("&& sleep ")
        || SLEEPS.iter().any(|mark| {
            line.match_indices(mark).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        }) && !line.starts_with("def ")
            && !line.starts_with("fn ")
            && !line.starts_with("func ")
            && !line.contains("jest.")
}
