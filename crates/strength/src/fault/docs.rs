//! Documents that say what is not so: a word that is the opposite, a number that is another one.

use super::line::with_line;
use crate::lines;
use std::collections::BTreeSet;

/// Words and what takes the meaning of each away; the first that a line has is taken.
const OTHERS: [(&str, &str); 16] = [
    (" never ", " always "),
    (" always ", " never "),
    (" not ", " "),
    (" cannot ", " can "),
    (" must ", " need not "),
    (" only ", " "),
    (" without ", " with "),
    (" before ", " after "),
    (" after ", " before "),
    (" every ", " no "),
    (" each ", " no "),
    (" is an error", " is accepted"),
    (" fails", " passes"),
    (" can ", " cannot "),
    (" is ", " is not "),
    (" are ", " are not "),
];

/// The text with one changed line that is not true any more, once for each such line.
pub(super) fn false_texts(text: &str, changed: &BTreeSet<usize>) -> Vec<String> {
    let all = lines::split(text);
    let changed = changed.iter().filter(|at| **at < all.len());
    changed
        .filter_map(|at| Some(with_line(&all, *at, &make_false(all[*at])?)))
        .collect()
}

fn make_false(line: &str) -> Option<String> {
    // A heading names a thing and says nothing of it.
    if line.trim_start().starts_with('#') {
        return None;
    }
    let word = OTHERS.iter().find(|(from, _)| line.contains(from));
    match word {
        Some((from, to)) => Some(line.replacen(from, to, 1)),
        None => change_number(line),
    }
}

/// The line with its first whole number another one.
fn change_number(line: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let mut from = 0;
    for word in line.split(|c: char| !is_part(c)) {
        let at = from + line[from..].find(word)?;
        from = at + word.len();
        if let Ok(number) = word.parse::<u32>() {
            let other = number.checked_mul(2)?.checked_add(1)?;
            return Some(format!("{}{other}{}", &line[..at], &line[from..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_not_so() {
        for (line, expected) in [
            (
                "Numbers from 1 to 3999; the rest is an error.\n",
                Some("Numbers from 1 to 3999; the rest is accepted.\n"),
            ),
            ("It does not write.\n", Some("It does write.\n")),
            ("waits 30 seconds\n", Some("waits 61 seconds\n")),
            ("see v1.2 and a-3\n", None),
            ("# 3 things\n", None),
            ("\n", None),
        ] {
            assert_eq!(make_false(line).as_deref(), expected, "{line}");
        }
    }
}
