//! Commands of a shell script whose failure ends it no longer, now that errors do not.

use super::commands::{is_harmless, runs_check};
use std::collections::BTreeSet;

type Lines<'s> = &'s [(usize, &'s str)];

/// Words that begin a line which runs nothing by itself.
const WORDS: [&str; 30] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "function", "local", "export", "readonly", "echo", "printf", "set", "shift", "return", "exit",
    "exec", "{", "}", "declare", "umask", "wait", "true", ":",
];

/// Some command of before, or a check, is run now so that nothing sees it fail.
pub(super) fn runs_unseen(before: Lines, after: Lines) -> bool {
    let known: BTreeSet<String> = before
        .iter()
        .filter(|(_, line)| is_command(line))
        .map(|(_, line)| dense(line))
        .collect();
    let functions: BTreeSet<&str> = after
        .iter()
        .filter_map(|(_, line)| line.trim().split_once("()").map(|(name, _)| name.trim()))
        .collect();
    let last = after.len().saturating_sub(1);
    after.iter().enumerate().any(|(place, (_, line))| {
        let first = line.split_whitespace().next().unwrap_or_default();
        let bare = place < last
            && is_command(line)
            && !functions.contains(first)
            && !line.contains("||")
            && !after
                .get(place + 1)
                .is_some_and(|(_, next)| next.contains("$?") || next.trim().starts_with("||"));
        bare && (known.contains(&dense(line)) || runs_check(first))
    })
}

fn dense(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

fn is_command(line: &str) -> bool {
    let own = line.trim();
    let first = own.split_whitespace().next().unwrap_or_default();
    let assigns = first.contains('=') && !first.starts_with(['[', '-']);
    !(own.is_empty()
        || WORDS.contains(&first)
        || assigns
        || own.contains("()")
        || own.ends_with(')') && !own.contains('(')
        || is_harmless(own))
}
