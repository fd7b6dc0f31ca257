//! Whether evidence would notice a defect: defects that are planted in what a diff changed; what other tools
//! planted; how often judges notice.
//!
//! Pure: texts in, values out. No file, process, clock or randomness, and every effort is bounded.

mod calibrate;
mod class;
mod fault;
mod language;
mod lex;
mod lines;
mod mutant;
mod report;
mod shipped;
mod suite;
mod touched;

use std::collections::BTreeSet;

pub use calibrate::{Answer, Interval, Joint, Record, Share, joint};
pub use class::{Class, Edited, classify};
pub use fault::{Fault, FaultKind, faults};
pub use language::Language;
pub use mutant::{
    Mutant, Operator, Planting, Subject, plant, subject, with_comment, without_change,
};
pub use report::{Outcome, Tally, Tried, Unread, read_cargo_mutants, read_elements};
pub use shipped::{classify_texts, is_in_tests};
pub use touched::{Touch, list_touched_tests};

/// The lines, from 0, that no language known here reads as code: they begin a comment, or stand within one
/// or within a text.
pub fn list_quoted(path: &str, text: &str) -> BTreeSet<usize> {
    let language = Language::of(path, text);
    let mut quoted = BTreeSet::new();
    if language == Language::Other {
        return quoted;
    }
    let mut last = 0;
    for token in lex::tokens(language, text) {
        let first = token.line - 1;
        // A here-document has no quote that would begin it.
        let is_whole = match token.kind {
            lex::Kind::Comment => first >= last,
            _ => token.column == 0 && !token.text.starts_with(['"', '\'', '`', '$', '%', '/']),
        };
        last = first + token.text.matches('\n').count() + 1;
        if matches!(token.kind, lex::Kind::Comment | lex::Kind::Text) {
            quoted.extend(first + usize::from(!is_whole)..last);
        }
    }
    quoted
}

/// Whether a text holds a test, as its language's common frameworks write one.
pub fn has_tests(path: &str, text: &str) -> bool {
    suite::Suite::read(path, text).has_tests()
}

#[cfg(test)]
mod tests {
    use super::list_quoted;

    #[test]
    fn what_stands_in_comments_and_texts_is_quoted() {
        for (path, text, quoted) in [
            (
                "a.js",
                "one()\n/*\ntwo()\n*/\nthree() // 3\n// four()\n",
                &[1, 2, 3, 5][..],
            ),
            ("a.js", "const a = `\ntwo()\n`\nthree()\n", &[1, 2]),
            (
                "a.py",
                "def a():\n    '''says\n    b\n    '''\n    # c\n",
                &[2, 3, 4],
            ),
            ("a.rs", "/* a */ fn b() {}\nlet c = \"\nd\";\n", &[0, 2]),
            ("a.sh", "cat <<E\nd\nE\necho\n", &[1, 2]),
            ("a.txt", "/*\n# b\n*/\n", &[]),
        ] {
            let found: Vec<usize> = list_quoted(path, text).into_iter().collect();
            assert_eq!(found, quoted, "{text}");
        }
    }
}
