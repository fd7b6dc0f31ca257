//! What a review asks for, and lists of that kind without doubles.

use crate::diagnostic::{Lines, clean};
use crate::model::ReviewNote;

/// What a review asks for: its findings, its follow-up, and each dimension that it fails.
pub(super) fn asked_by(review: &ReviewNote) -> Vec<String> {
    let mut asked = Vec::new();
    add_new(&mut asked, review.findings.iter().cloned());
    add_new(&mut asked, review.follow_up.iter().cloned());
    for dimension in &review.fails {
        let named = format!("{dimension} (fail): ");
        let mut concerns = review.concerns.iter();
        match concerns.find_map(|concern| concern.strip_prefix(&named)) {
            // Often it is a finding's own words.
            Some(why) if review.findings.iter().any(|text| text.contains(why)) => {}
            Some(why) => add_new(&mut asked, [format!("{named}{why}")]),
            None => add_new(&mut asked, [format!("the review fails {dimension}")]),
        }
    }
    asked
}

/// Adds the texts that say something and are not there yet.
pub(super) fn add_new(to: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for text in more {
        let folded = clean(&text, Lines::Fold);
        let is_known = |old: &String| clean(old, Lines::Fold) == folded;
        if !folded.is_empty() && !to.iter().any(is_known) {
            to.push(text);
        }
    }
}
