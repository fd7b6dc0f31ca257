//! What stands around a line: a condition that it depends on, a loop that looks again until a deadline.

use std::collections::BTreeSet;

/// Lines above one that are looked at.
const NEAR: usize = 60;
/// Lines of a loop that are looked at.
const LONGEST: usize = 24;

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The line, from 1, runs only where a condition holds that may be otherwise elsewhere.
pub(super) fn is_conditional(text: Option<&str>, line: usize) -> bool {
    let lines: Vec<&str> = text.unwrap_or_default().lines().collect();
    let Some(own) = line.checked_sub(1).and_then(|at| lines.get(at)) else {
        return false;
    };
    let chosen = own.contains(" ? ") && own.contains(" : ");
    let joined = own.contains(" || skip") || own.contains(" && skip");
    if chosen || joined || asks(own) {
        return true;
    }
    let mut depth = indent(own);
    for above in lines[..line - 1].iter().rev().take(NEAR) {
        if above.trim().is_empty() || indent(above) >= depth {
            continue;
        }
        depth = indent(above);
        if asks(above) {
            return true;
        }
    }
    false
}

fn asks(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['}', ' ']);
    let begins = ["if ", "if(", "elif ", "else if", "unless "]
        .iter()
        .any(|word| line.starts_with(word));
    let always = ["if true", "if (true", "if True", "if 1", "if (1", "if :"];
    begins && !always.iter().any(|word| line.starts_with(word))
}

/// Lines, from 1, of loops that wait and look again: what they look at ends them.
pub(super) fn list_polling(text: Option<&str>) -> BTreeSet<usize> {
    let lines: Vec<&str> = text.unwrap_or_default().lines().collect();
    let mut found = BTreeSet::new();
    for (at, head) in lines.iter().enumerate() {
        let own = head.trim_start();
        let loops = [
            "while ", "while(", "until ", "for ", "for(", "loop ", "loop{",
        ]
        .iter()
        .any(|word| own.starts_with(word));
        if !loops {
            continue;
        }
        let rest = lines[at + 1..].iter().take(LONGEST);
        let body: Vec<&str> = rest
            .take_while(|line| line.trim().is_empty() || indent(line) > indent(head))
            .copied()
            .collect();
        let by_head = own.starts_with("until ") || own.contains('!') || own.contains(" not ");
        let ends = by_head
            || body.iter().any(|line| {
                ["return", "break", "exit"]
                    .iter()
                    .any(|word| line.contains(word))
            });
        let waits = |line: &&str| super::marks::is_sleep(line.trim());
        if ends && body.iter().any(waits) {
            found.extend(at + 1..=at + 1 + body.len());
        }
    }
    found
}

/// Lines, from 1, of a shell's loops that run no check.
pub(super) fn list_harmless_loops(text: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = BTreeSet::new();
    for (at, head) in lines.iter().enumerate() {
        let own = head.trim_start();
        let loops = ["while ", "until ", "for "]
            .iter()
            .any(|word| own.starts_with(word));
        if !loops
            || !(own.ends_with("do") || lines.get(at + 1).is_some_and(|next| next.trim() == "do"))
        {
            continue;
        }
        let inside = lines[at + 1..].iter().take(LONGEST);
        let len = inside
            .take_while(|line| line.trim() != "done" || indent(line) > indent(head))
            .count();
        let whole = &lines[at..=(at + len).min(lines.len() - 1)];
        if !whole.iter().any(|line| super::commands::runs_check(line)) {
            found.extend(at + 1..=at + 1 + len);
        }
    }
    found
}
