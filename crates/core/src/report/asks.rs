//! Whether a text asks the user something: to need nothing and to be polite is no question.

use super::value::{is_named, is_none};
use crate::diagnostic::{Lines, clean};

/// A text asks something, beyond what models say at the end of an answer.
pub(super) fn asks_something(text: &str) -> bool {
    is_named(text) && !needs_nothing(text) && !is_courtesy(text)
}

/// Nothing but words for none and sign-offs: `None. Let me know if you want anything else?`
fn is_courtesy(text: &str) -> bool {
    let folded = clean(text, Lines::Keep);
    let folded = folded.replace(" - ", "\n").replace(" – ", "\n");
    let sentences = folded.split_inclusive(['\n', '.', '?', '!', ';', '\u{2014}']);
    let mut sentences = sentences.filter(|one| one.chars().any(char::is_alphanumeric));
    sentences.all(|one| {
        let plain = one.trim().trim_end_matches(['.', ';', '!', '\u{2014}']);
        is_none(plain) || needs_nothing(plain) || is_sign_off(one)
    })
}

/// A line that only says goodbye.
pub(super) fn is_parting(line: &str) -> bool {
    !line.starts_with(' ') && is_courtesy(line) && has_sign_off(line)
}

fn has_sign_off(line: &str) -> bool {
    line.split_inclusive(['.', '?', '!', ';']).any(is_sign_off)
}

/// Offers to go on, or to help, and names nothing that the user would have to decide.
fn is_sign_off(sentence: &str) -> bool {
    const BEGINS: [&str; 24] = [
        "anything else",
        "any questions",
        "any other questions",
        "can i continue",
        "can i proceed",
        "do you want me to",
        "feel free",
        "happy to",
        "if you",
        "is there anything else",
        "let me know",
        "may i continue",
        "may i proceed",
        "please let me know",
        "shall i",
        "should i",
        "should we",
        "thank you",
        "thanks",
        "want me to",
        "would you like",
        "i hope this helps",
        "hope this helps",
        "ok to",
    ];
    const WORDS: &str = "a able adjust again ahead all am and any anything assist begin can carry change \
        changes clarification clarifications continue do else feel for free from further further glad go \
        happy have help helps here hope i if is it know let like me more move need needed needs next now of ok okay on other \
        please proceed question questions review s shall should slice some something start step steps task \
        thank thanks that the then there this to us want we will with work would you your";
    let text = clean(sentence, Lines::Fold).to_lowercase();
    let text = text.replace(['\'', '\u{2019}'], " ");
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined = words.join(" ");
    let begins = BEGINS.iter().any(|begin| {
        let rest = joined.strip_prefix(begin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let is_plain = |word: &&str| {
        WORDS.split_whitespace().any(|known| known == *word)
            || matches!(*word, "d" | "ll" | "m" | "re")
    };
    begins && words.iter().all(is_plain)
}

/// Says in words that nothing is needed: `No`, `None needed.`, `nothing at this time`, `N/A - all
/// clear`. A question, or any word that could begin one, is none of it.
pub(super) fn needs_nothing(text: &str) -> bool {
    const NOTHING: [&str; 8] = ["no", "none", "nothing", "n", "na", "nil", "not", "nope"];
    const FILLING: [&str; 42] = [
        "a",
        "action",
        "all",
        "any",
        "applicable",
        "are",
        "as",
        "at",
        "clear",
        "currently",
        "else",
        "everything",
        "fine",
        "for",
        "from",
        "further",
        "good",
        "input",
        "is",
        "it",
        "moment",
        "more",
        "necessary",
        "need",
        "needed",
        "now",
        "of",
        "ok",
        "point",
        "question",
        "questions",
        "required",
        "so",
        "stage",
        "step",
        "the",
        "there",
        "this",
        "thanks",
        "time",
        "user",
        "yet",
    ];
    let text = clean(text, Lines::Fold).to_lowercase();
    let text = text.replace('\'', "");
    let mut words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let begins = words.next().is_some_and(|word| NOTHING.contains(&word));
    let is_plain = |word: &str| FILLING.contains(&word) || NOTHING.contains(&word);
    begins && !text.contains('?') && words.all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_offs_ask_nothing() {
        for text in [
            "Let me know if you want anything else?",
            "Shall I continue?",
            "Should I proceed with the next slice?",
            "None. Let me know if you want anything else?",
            "none\nShall I continue?",
            "No input needed. Would you like me to go on?",
            "Nothing. Is there anything else?",
            "Do you want me to continue with the next step?",
            "Please let me know if you have any questions!",
            "none - let me know if you'd like any changes.",
            "Happy to help further. Thanks!",
            "None \u{2014} anything else?",
        ] {
            assert!(!asks_something(text), "{text:?}");
        }
        for text in [
            "Shall I continue with SQLite or with Postgres?",
            "Shall I delete the old table?",
            "Let me know which licence you want.",
            "Should I drop Python 2?",
            "None of the keys works: which one is right?",
            "Which licence? Let me know if you want anything else.",
            "Would you like tabs?",
            "May I change the public API",
            "if you want it in blue, which blue",
        ] {
            assert!(asks_something(text), "{text:?}");
        }
        assert!(is_parting("Let me know if you want anything else! Thanks."));
        for kept in ["none", "  Shall I continue?", "- one", ""] {
            assert!(!is_parting(kept), "{kept:?}");
        }
    }

    #[test]
    fn what_asks_nothing_is_no_question() {
        for text in [
            "No",
            "no.",
            "None needed",
            "nothing",
            "None at this time.",
            "N/A - all clear",
            "Not applicable",
            "No input needed from the user.",
            "- none required",
        ] {
            assert!(needs_nothing(text), "{text:?}");
        }
        for text in [
            "No license is named: which one?",
            "none of the keys works; which is right",
            "No?",
            "Nothing works without the token",
            "May I drop Python 2",
            "",
        ] {
            assert!(!needs_nothing(text), "{text:?}");
        }
    }
}
