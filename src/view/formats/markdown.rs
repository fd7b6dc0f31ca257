//! Markdown for a pull request or a job's summary.
//!
//! Invariant: a text of somebody's stands in code, with every sign that Markdown or HTML reads as a
//! reference to the character: there it marks up nothing, links nothing, closes no table, names no
//! person and no issue.

use crate::verify::ProofVerdict;
use crate::view::results::{Results, Weight, shorten};
use cook_protocol::diagnostic::{Lines, clean, count_noun, without_tags};
use std::fmt::Write;

/// Characters of a cell, rows of a table.
const CELL: usize = 300;
const ROWS: usize = 100;
/// Bytes: GitHub drops a step's summary of more than 1 MiB.
const SUMMARY: usize = 900_000;

/// The verdict, the criteria with what their proof is worth, what was found, what was looked at.
pub fn markdown(results: &Results) -> String {
    let sign = sign(results.passed);
    let mut text = format!("### {sign} `{}` {}\n\n", results.command, results.word());
    let _ = writeln!(text, "{}\n", code(&results.verdict));
    tables(&mut text, results);
    if let Some(head) = &results.head {
        let _ = writeln!(text, "Commit {}", code(head));
    }
    cut(text, SUMMARY)
}

/// What is longer than a forge takes ends at a line's end, and says so.
pub(crate) fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        let line = text.as_bytes()[..longest].iter().rposition(|b| *b == b'\n');
        text.truncate(line.map_or(0, |at| at + 1));
        text.push_str("\n*Cut here: a forge takes no more. `cook verify` says all of it.*\n");
    }
    text
}

pub(crate) fn sign(passed: bool) -> &'static str {
    match passed {
        true => "✅",
        false => "❌",
    }
}

/// The criteria, what was found, what was looked at.
pub(crate) fn tables(text: &mut String, results: &Results) {
    if !results.proofs.is_empty() {
        let rows = results.proofs.iter().map(|(proof, fails)| {
            let sign = match (fails, proof.verdict) {
                (true, _) => "❌",
                (false, ProofVerdict::Recorded | ProofVerdict::NotReproducible) => "⚠️",
                (false, _) => "✅",
            };
            [
                sign.to_owned(),
                code(&proof.slice),
                code(&proof.text),
                proof.verdict.id().replace('_', " "),
                proof.anchor.as_deref().map_or("none".to_owned(), code),
            ]
        });
        let heads = ["", "slice", "criterion", "proof", "evidence"];
        table(text, heads, rows, ("criterion", "criteria"));
    }
    if !results.found.is_empty() {
        let rows = results.found.iter().map(|found| {
            let weight = match found.weight {
                Weight::Fails => "❌ fails",
                Weight::Look => "⚠️ look",
                Weight::Note => "ℹ️ note",
            };
            [
                weight.to_owned(),
                format!("`{}`", found.code),
                code(&found.with_place()),
                code(&found.next),
            ]
        });
        let heads = ["", "found", "what", "next"];
        table(text, heads, rows, ("finding", "findings"));
    }
    if !results.checked.is_empty() {
        let count = count_noun(results.checked.len() as u64, "line");
        let _ = writeln!(
            text,
            "<details><summary>What was looked at ({count})</summary>\n"
        );
        for line in results.checked.iter().take(ROWS) {
            let _ = writeln!(text, "- {}", code(line));
        }
        text.push_str("\n</details>\n\n");
    }
}

/// A table of cells that are Markdown already, and how many more rows there are, of what.
pub(crate) fn table<const N: usize>(
    text: &mut String,
    heads: [&str; N],
    rows: impl ExactSizeIterator<Item = [String; N]>,
    (one, many): (&str, &str),
) {
    let more = rows.len().saturating_sub(ROWS);
    let _ = writeln!(text, "| {} |", heads.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(N));
    for row in rows.take(ROWS) {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    if more > 0 {
        let noun = if more == 1 { one } else { many };
        let _ = writeln!(text, "\n{more} more {noun} not shown here.");
    }
    text.push('\n');
}

/// Somebody's words over several lines, as a quotation.
pub(crate) fn quote_lines(text: &str, longest: usize) -> String {
    let text = without_tags(&clean(text, Lines::Keep));
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut quoted = String::new();
    for line in lines.iter().take(longest) {
        let _ = writeln!(quoted, "> {}  ", code(line.trim()));
    }
    if lines.len() > longest {
        quoted.push_str("> …\n");
    }
    quoted.push('\n');
    quoted
}

/// Somebody's words on one line, as code.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<code>{}</code>", escape(&shorten(text, CELL)))
}

/// References for what Markdown or HTML reads; a link's beginning is none any more.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = [' '; 3];
    while let Some(c) = rest.next() {
        let is_link = match c {
            ':' => rest.peek() == Some(&'/'),
            '.' => before.iter().all(|c| c.eq_ignore_ascii_case(&'w')),
            c => "&<>|*_`[]\\~$@#!".contains(c),
        };
        match is_link {
            true => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            false => escaped.push(c),
        }
        before = [before[1], before[2], c];
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_wrote_is_only_shown() {
        for (text, shown) in [
            ("a | b", "a &#124; b"),
            ("`</code>`", "&#96;&#60;/code&#62;&#96;"),
            (
                "@someone #1 ![x](y)",
                "&#64;someone &#35;1 &#33;&#91;x&#93;(y)",
            ),
            (
                "http://a www.b src/a.rs:1",
                "http&#58;//a www&#46;b src/a.rs:1",
            ),
        ] {
            assert_eq!(code(text), format!("<code>{shown}</code>"));
        }
        assert_eq!(cut("é\né\n".to_owned(), 6), "é\né\n");
        assert!(cut("é\né\n".to_owned(), 5).starts_with("é\n\n*Cut here"));
    }
}
