//! What a review asks for, and lists of that kind without doubles.

use crate::diagnostic::{Lines, clean};
use crate::model::ReviewNote;

/// What a review asks for: its findings, its follow-up, and each reason for which it fails a dimension,
/// once for all that fail for it.
pub(super) fn list_requests(review: &ReviewNote) -> Vec<String> {
    let mut asked = Vec::new();
    add_new(&mut asked, review.findings.iter().cloned());
    add_new(&mut asked, review.follow_up.iter().cloned());
    let is_of = |concern: &&String, dimension: &String| {
        let rest = concern.strip_prefix(dimension.as_str());
        rest.is_some_and(|rest| rest.starts_with(FAILS))
    };
    let concerns = review.concerns.iter();
    let failing = concerns.filter(|concern| review.fails.iter().any(|it| is_of(concern, it)));
    let failing: Vec<String> = failing.cloned().collect();
    let failing = list_other_ratings(&asked, &failing);
    add_new(&mut asked, failing);
    let bare = review.fails.iter().filter(|dimension| {
        let mut concerns = review.concerns.iter();
        !concerns.any(|concern| is_of(&concern, dimension))
    });
    add_new(
        &mut asked,
        bare.map(|dimension| format!("the review fails {dimension}")),
    );
    asked
}

const FAILS: &str = " (fail): ";

/// What a rubric does not pass, where the findings do not say it: dimensions that are rated the same for the
/// same reason stand together.
pub fn list_other_ratings(findings: &[String], concerns: &[String]) -> Vec<String> {
    // Dimensions, how they are rated, and why.
    let mut merged: Vec<(Vec<&str>, &str, &str)> = Vec::new();
    for concern in concerns {
        let (rated, why) = concern.split_once(": ").unwrap_or((concern, ""));
        let (dimension, how) = rated.split_once(' ').unwrap_or((rated, ""));
        let words = reduce_wording(why);
        // Often it is a finding's own words.
        if !words.is_empty()
            && findings
                .iter()
                .any(|text| reduce_wording(text).contains(&words))
        {
            continue;
        }
        let is_same = |(_, known, reason): &&mut (Vec<&str>, &str, &str)| {
            *known == how && reduce_wording(reason) == words
        };
        match merged.iter_mut().find(is_same) {
            Some((dimensions, ..)) => dimensions.push(dimension),
            None => merged.push((vec![dimension], how, why)),
        }
    }
    let merged = merged.iter();
    merged
        .map(|(dimensions, how, why)| format!("{} {how}: {why}", dimensions.join(", ")))
        .collect()
}

/// A text without what does not change what it asks for: blanks, the mark or number of a list before it,
/// the case of its first letter, the full stop at its end.
fn reduce_wording(text: &str) -> String {
    let text = clean(text, Lines::Fold);
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_mark = |word: &str| {
        let number = word.strip_suffix(['.', ')']).unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number || matches!(word, "-" | "*" | "+" | "•")
    };
    let marks = words.iter().take_while(|word| is_mark(word)).count();
    let text = words[marks..].join(" ");
    let text = text.trim_end_matches(['.', ';', ',']);
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// Adds the texts that say something and are not there yet, in whatever marks they stand.
pub(super) fn add_new(to: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for text in more {
        let words = reduce_wording(&text);
        if !words.is_empty() && !to.iter().any(|old| reduce_wording(old) == words) {
            to.push(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_finding_is_asked_for_once() {
        let review: ReviewNote = serde_json::from_value(json!({
            "commit": "c", "criteria_sha256": "", "acceptable": false,
            "fails": ["contract_coverage", "correctness_risk", "verification_evidence", "docs_state_parity"],
            "concerns": [
                "contract_coverage (fail): no test",
                "correctness_risk (fail): it loses the exit code.",
                "verification_evidence (fail): No test.",
                "docs_state_parity (concern): old",
            ],
            "findings": ["a.rs:3: it loses the exit code", "it loses the exit code (b.rs)"],
            "follow_up": "A.rs:3:  it loses the exit code.", "report_sha256": "", "seq": 4,
        }))
        .unwrap_or_else(|error| panic!("{error}"));
        let mut asked = list_requests(&review);
        let all = [
            "a.rs:3: it loses the exit code",
            "it loses the exit code (b.rs)",
            "contract_coverage, verification_evidence (fail): no test",
            "the review fails docs_state_parity",
        ];
        assert_eq!(asked, all);
        let more = [
            "1. a.rs:3: it loses the exit code",
            "x <= 3",
            "x >= 3",
            "-x",
            "x",
        ];
        add_new(&mut asked, more.map(str::to_owned));
        assert_eq!(asked[4..], ["x <= 3", "x >= 3", "-x", "x"]);
    }
}
