//! Entries that cannot both hold.

use crate::diagnostic::{Code, Finding};
use crate::model::{BriefEntry, Slot};
use std::collections::BTreeMap;

/// Pairs of live entries that say opposite things: the same words, one of them negated.
pub(super) fn contradictions(entries: &[BriefEntry]) -> Vec<Finding> {
    let mut seen: BTreeMap<Vec<String>, (bool, &BriefEntry)> = BTreeMap::new();
    let mut findings = Vec::new();
    let claims = entries
        .iter()
        .filter(|entry| entry.line.slot() != Slot::Open);
    for entry in claims {
        let (words, negated) = polarity(entry);
        if words.is_empty() {
            continue;
        }
        match seen.get(&words) {
            Some((other, first)) if *other != negated => findings.push(
                Finding::new(
                    Code::BriefContradiction,
                    format!(
                        "`{}` and `{}` cannot both hold",
                        first.line.head(),
                        entry.line.head()
                    ),
                )
                .at(format!("{}, {}", first.id, entry.id)),
            ),
            Some(_) => {}
            None => {
                seen.insert(words, (negated, entry));
            }
        }
    }
    findings
}

/// The words without what only negates or carries a negation; whether they are negated.
/// A forbid that does not say "not" negates what it forbids all the same.
fn polarity(entry: &BriefEntry) -> (Vec<String>, bool) {
    const NEGATIONS: [&str; 8] = [
        "not", "no", "never", "don't", "doesn't", "isn't", "can't", "cannot",
    ];
    const CARRIERS: [&str; 6] = ["do", "does", "did", "must", "ever", "longer"];
    let text = entry.line.head().to_lowercase().replace('\u{2019}', "'");
    let mut negations = 0;
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if NEGATIONS.contains(&word) {
            negations += 1;
        } else if !word.is_empty() && !CARRIERS.contains(&word) {
            words.push(word.to_owned());
        }
    }
    let forbids = entry.line.slot() == Slot::Forbid && negations == 0;
    (words, forbids || negations % 2 == 1)
}
