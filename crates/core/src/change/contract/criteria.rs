//! The criteria that a plan of the base states, held against those that the log proves.

use super::difference::{Difference, Strength, show};
use crate::model::{Plan, Slice, SliceStatus};

/// What of the base's plan the log's plan does not ask for. What the branch found when it began (`fork`)
/// is all that it can have taken in.
pub fn compare_criteria(
    file: &str,
    base: &Plan,
    fork: Option<&Plan>,
    proven: &Plan,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let is_in_fork = |slice: &str, criterion: Option<&str>| {
        let Some(fork) = fork else { return true };
        let known = fork.slice(slice);
        known.is_some_and(|known| criterion.is_none_or(|text| holds(known, text)))
    };
    for slice in &base.candidate_slices {
        let id = &slice.slice_id;
        if !is_in_fork(id, None) {
            continue;
        }
        let kept = proven.slice(id);
        let kept = kept.filter(|kept| kept.status != SliceStatus::Cancelled);
        let Some(kept) = kept else {
            let what = format!("is not in what was proven: {}", show(&slice.goal));
            found.push(Difference::new(file, id, Strength::Weaker, what));
            continue;
        };
        for text in &slice.acceptance_criteria {
            if holds(kept, text) || !is_in_fork(id, Some(text)) {
                continue;
            }
            let what = format!(
                "was proven without, or with other words for: {}",
                show(text)
            );
            found.push(Difference::new(file, id, Strength::NotComparable, what));
        }
    }
    found
}

fn holds(slice: &Slice, text: &str) -> bool {
    let mut known = slice.acceptance_criteria.iter();
    known.any(|known| known.trim() == text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SchemaVersion;

    fn plan(slices: &[(&str, &[&str])]) -> Plan {
        let slice = |(id, criteria): &(&str, &[&str])| Slice {
            slice_id: (*id).to_owned(),
            acceptance_criteria: criteria.iter().map(|text| (*text).to_owned()).collect(),
            ..Slice::default()
        };
        Plan {
            schema_version: SchemaVersion,
            mission_anchor: String::new(),
            last_reground_at: None,
            plan_basis: String::new(),
            candidate_slices: slices.iter().map(slice).collect(),
        }
    }

    #[test]
    fn a_dropped_slice_a_dropped_and_a_reworded_criterion_are_named() {
        let base = plan(&[("a", &["one", "two"]), ("b", &["three"])]);
        let of = |proven: &Plan| -> Vec<(String, Strength)> {
            let found = compare_criteria("p", &base, None, proven);
            found
                .into_iter()
                .map(|one| (one.field, one.strength))
                .collect()
        };
        assert_eq!(of(&base), []);
        let more = plan(&[
            ("a", &["one", "two", "more"]),
            ("b", &["three"]),
            ("c", &[]),
        ]);
        assert_eq!(of(&more), []);
        let dropped = plan(&[("a", &["one"]), ("b", &["three"])]);
        assert_eq!(of(&dropped), [("a".to_owned(), Strength::NotComparable)]);
        let reworded = plan(&[("a", &["one", "two, mostly"]), ("b", &["three"])]);
        assert_eq!(of(&reworded), [("a".to_owned(), Strength::NotComparable)]);
        let mut gone = plan(&[("a", &["one", "two"]), ("b", &["three"])]);
        gone.candidate_slices[1].status = SliceStatus::Cancelled;
        assert_eq!(of(&gone), [("b".to_owned(), Strength::Weaker)]);
    }

    #[test]
    fn what_the_base_took_up_later_is_not_asked_of_a_branch() {
        let fork = plan(&[("a", &["one"])]);
        let base = plan(&[("a", &["one", "later"]), ("b", &["later"])]);
        assert!(compare_criteria("p", &base, Some(&fork), &fork).is_empty());
        assert_eq!(compare_criteria("p", &base, None, &fork).len(), 2);
    }
}
