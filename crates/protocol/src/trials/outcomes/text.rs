//! Small readings of the text that runners print.

use super::types::TestResult::{self, Failed, Passed, Skipped};
use std::borrow::Cow;

/// Bytes that a message may have.
const MESSAGE: usize = 200;

/// The text without the escape sequences of terminals, and only what stands behind the last return of
/// the carriage: what a reader of the terminal sees.
pub(crate) fn without_escapes(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if rest.next_if_eq(&'[').is_some() {
            while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
            rest.next_if(|c| ('@'..='~').contains(c));
        } else if rest
            .next_if(|c| matches!(c, ']' | 'P' | 'X' | '^' | '_'))
            .is_some()
        {
            while rest.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}')).is_some() {}
            if rest.next_if_eq(&'\u{1b}').is_some() {
                rest.next_if_eq(&'\\');
            } else {
                rest.next_if_eq(&'\u{7}');
            }
        }
    }
    Cow::Owned(plain)
}

/// The first line with letters of what a test failed with, short.
pub(crate) fn make_message(text: &str, root: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = without_escapes(line);
    let mut line = line.trim().replace(|c: char| c.is_control(), " ");
    if root.len() > 1 {
        line = line.replace(&format!("{}/", root.trim_end_matches('/')), "");
    }
    if line.len() > MESSAGE {
        let mut end = MESSAGE - '\u{2026}'.len_utf8();
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push('\u{2026}');
    }
    (!line.is_empty()).then_some(line)
}

/// `5ms`, `1.2s`, `813µs`, `< 1 ms`, `1m 5s`, `0.00 sec`
pub(crate) fn is_time(text: &str) -> bool {
    let text = text.trim_start_matches("< ");
    let is_part = |part: &str| {
        let number = part.trim_end_matches(|c: char| c.is_alphabetic());
        let unit = &part[number.len()..];
        let is_unit = matches!(
            unit,
            "h" | "m"
                | "s"
                | "ms"
                | "\u{b5}s"
                | "\u{3bc}s"
                | "us"
                | "ns"
                | "min"
                | "sec"
                | "seconds"
        );
        (number.parse::<f64>().is_ok() && (is_unit || unit.is_empty()))
            || number.is_empty() && is_unit
    };
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_alphabetic())
        && text.split(' ').all(is_part)
}

/// Takes `(0.00s)`, `(5 ms)`, `[0.12ms]` off the end.
pub(crate) fn without_time(name: &str) -> &str {
    let name = name.trim_end();
    for (open, close) in [(" (", ')'), (" [", ']')] {
        if let Some((before, time)) = name.rsplit_once(open)
            && time.strip_suffix(close).is_some_and(is_time)
        {
            return before.trim_end();
        }
    }
    name
}

/// The number that stands before a word: `3 passed, 1 failed` and `passed` are 3.
pub(crate) fn number_before(text: &str, word: &str) -> Option<u64> {
    text.match_indices(word).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        before[start..].parse().ok()
    })
}

/// How far in a line stands.
pub(crate) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Whether it is the path of a file of JavaScript's or TypeScript's.
pub(crate) fn is_script(path: &str) -> bool {
    let ends = path.rsplit_once('.').map(|(_, end)| end);
    matches!(
        ends,
        Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" | "vue" | "svelte")
    )
}

/// A test's dotted name as Python's unittest writes it, `test_x (module.Class.test_x)`, before 3.11
/// `test_x (module.Class)`, with the parameters of a subtest or without; and what stands behind it.
pub(crate) fn unittest_name(text: &str) -> Option<(String, &str)> {
    let is_word = |text: &str| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
        !text.is_empty() && text.chars().all(is_part)
    };
    let (method, rest) = text.split_once(" (")?;
    let (class, mut rest) = rest.split_once(')')?;
    if !is_word(method) || !is_word(class) || class.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    for (open, close) in [(" [", ']'), (" (", ')')] {
        if let Some((_, behind)) = rest
            .strip_prefix(open)
            .and_then(|rest| rest.split_once(close))
        {
            rest = behind;
        }
    }
    let whole = class.strip_suffix(method);
    let name = match whole.is_some_and(|class| class.ends_with('.')) {
        true => class.to_owned(),
        false if class.contains('.') => format!("{class}.{method}"),
        false => return None,
    };
    Some((name, rest))
}

/// True when `claimed` is the test's whole name or its last parts, or what its runner prints for it.
pub fn names(full: &str, claimed: &str) -> bool {
    const BETWEEN: [&str; 7] = ["::", "/", ".", " > ", " \u{203a} ", " ", "#"];
    if full == claimed {
        return true;
    }
    if claimed.is_empty() {
        return false;
    }
    if unittest_name(claimed).is_some_and(|(dotted, rest)| rest.is_empty() && dotted == full) {
        return true;
    }
    full.strip_suffix(claimed)
        .is_some_and(|before| BETWEEN.iter().any(|mark| before.ends_with(mark)))
}

/// The result that a runner's word for it means, in whichever case it prints it.
pub(crate) fn find_result(word: &str) -> Option<TestResult> {
    Some(match word.to_ascii_lowercase().as_str() {
        "ok" | "pass" | "passed" | "xfail" | "expectedfail" => Passed,
        "fail" | "failed" | "error" | "xpass" | "unexpectedpass" | "timeout" | "interrupt" => {
            Failed
        }
        "skip" | "skipped" | "ignored" | "todo" => Skipped,
        _ => return None,
    })
}
