//! Test results in JUnit XML, as the many programs write it that have no specification of it. Pure.

use super::forms::TestOutcome::{self, Failed, Ignored, Passed};

/// Words by which `status` or `result` says that a test ran and held; any other says that it did not.
const WELL: [&str; 14] = [
    "",
    "run",
    "ran",
    "ok",
    "pass",
    "passed",
    "success",
    "successful",
    "succeeded",
    "completed",
    "complete",
    "finished",
    "executed",
    "fixed",
];
/// Those that say that it ran and did not hold.
const ILL: [&str; 9] = [
    "fail", "failed", "failure", "error", "errored", "broken", "timeout", "aborted", "crashed",
];
/// Elements of a test that was set aside.
const ASIDE: [&str; 7] = [
    "<skipped",
    "<disabled",
    "<ignored",
    "<notrun",
    "<pending",
    "<todo",
    "<inconclusive",
];

/// `<testcase name=… classname=…>` elements of a report.
pub fn read_cases(text: &str) -> Vec<(String, TestOutcome)> {
    const CASE: &str = "<testcase";
    if !text.contains(CASE) {
        return Vec::new();
    }
    let text = without_asides(text);
    let mut found = Vec::new();
    for part in text.split(CASE).skip(1) {
        let Some((tag, rest)) = split_tag(part) else {
            continue;
        };
        let body = if tag.ends_with('/') {
            ""
        } else {
            rest.split("</testcase>").next().unwrap_or_default()
        };
        if let Some(name) = attribute(tag, "name") {
            let full = match attribute(tag, "classname") {
                Some(class) if !class.is_empty() => format!("{class}::{name}"),
                _ => name,
            };
            found.push((full, find_outcome(tag, body)));
        }
    }
    found
}

fn find_outcome(tag: &str, body: &str) -> TestOutcome {
    let value = |name: &str| attribute(tag, name).map(|value| value.trim().to_ascii_lowercase());
    let words: Vec<String> = ["status", "result"].into_iter().filter_map(value).collect();
    let is_one_of = |known: &[&str], word: &String| known.contains(&word.as_str());
    let is_yes = |name: &str| value(name).is_some_and(|word| word == "true" || word == "1");
    let is_aside = ASIDE.iter().any(|element| body.contains(element))
        || ["skipped", "disabled", "ignored"].into_iter().any(is_yes)
        || value("executed").is_some_and(|word| word == "false");
    if body.contains("<failure")
        || body.contains("<error")
        || words.iter().any(|word| is_one_of(&ILL, word))
    {
        Failed
    } else if is_aside || !words.iter().all(|word| is_one_of(&WELL, word)) {
        Ignored
    } else {
        Passed
    }
}

/// Without comments, and without texts that are no markup: an element in one is none.
fn without_asides(text: &str) -> String {
    const KINDS: [(&str, &str); 2] = [("<!--", "-->"), ("<![CDATA[", "]]>")];
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<!") {
        let (before, there) = rest.split_at(at);
        kept.push_str(before);
        let kind = KINDS.iter().find(|(open, _)| there.starts_with(open));
        rest = match kind {
            None => &there[2..],
            Some((open, close)) => match there[open.len()..].split_once(close) {
                Some((_, behind)) => behind,
                None => return kept,
            },
        };
    }
    kept + rest
}

/// Splits behind the tag's `>`, which may also stand within quotes.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some((&text[..at], &text[at + 1..])),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

/// What an attribute says; what looks like one within another's quotes is none.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, behind) = after[1..].split_once(quote)?;
        if key.trim() == name {
            let value = value.replace("&quot;", "\"").replace("&apos;", "'");
            let value = value.replace("&lt;", "<").replace("&gt;", ">");
            return Some(value.replace("&amp;", "&"));
        }
        rest = behind;
    }
}
