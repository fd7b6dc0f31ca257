//! What a passed verification shows, by name. A name is given only for what passed.

use crate::anchor::Anchor;
use crate::verify::{Criterion, ProofVerdict};

/// This commit is proven done.
pub(super) const DONE: &str = "COOK_DONE";
/// Each required gate ran again at this commit, in a new clean room with empty caches.
const GATES: &str = "COOK_GATES_REPRODUCED";
/// What each criterion rests on came out the same: commands ran again, places were looked up.
const CRITERIA: &str = "COOK_CRITERIA_REPRODUCED";

/// The contract of a base branch decided, and this commit's asks for no less.
const BASE: &str = "COOK_BASE_CONTRACT";

/// What passed.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    /// In a new clean room.
    pub reran: bool,
    /// Required gates.
    pub gates: usize,
    /// Each with what its proof is worth.
    pub criteria: &'a [Criterion],
    /// Votes that said yes, and all.
    pub votes: (u64, u64),
    /// The contract of a base was held against this one.
    pub base: bool,
}

/// The properties, in the order of the list above.
pub(super) fn properties(shown: &Shown) -> Vec<String> {
    let Shown {
        reran, criteria, ..
    } = *shown;
    let mut named = vec![DONE.to_owned()];
    if reran && shown.gates > 0 {
        named.push(GATES.to_owned());
    }
    if reran && !criteria.is_empty() && criteria.iter().all(is_reproduced) {
        named.push(CRITERIA.to_owned());
    }
    let (yes, all) = shown.votes;
    if all > 0 {
        named.push(format!("COOK_VOTES_RECORDED_{yes}_OF_{all}"));
    }
    if shown.base {
        named.push(BASE.to_owned());
    }
    named
}

fn is_reproduced(criterion: &Criterion) -> bool {
    match criterion.verdict {
        ProofVerdict::Reproduced => true,
        // Of a place in the code there is nothing to run.
        ProofVerdict::Holds => {
            let anchor = criterion.anchor.as_deref().map(Anchor::parse);
            !matches!(
                anchor,
                None | Some(Err(_))
                    | Some(Ok(Anchor::Test(_)
                        | Anchor::Command { .. }
                        | Anchor::Receipt(_)))
            )
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criterion(anchor: &str, verdict: ProofVerdict) -> Criterion {
        Criterion {
            slice: "a".to_owned(),
            text: "it works".to_owned(),
            anchor: Some(anchor.to_owned()),
            verdict,
            why: String::new(),
            at: None,
        }
    }

    #[test]
    fn a_name_is_given_only_for_what_passed() {
        use ProofVerdict::{Holds, NotReproducible, Recorded, Reproduced};
        let text = criterion("code.txt:2-3", Holds);
        for (reran, criteria, expected) in [
            (false, vec![], "COOK_DONE COOK_VOTES_RECORDED_3_OF_3"),
            (
                true,
                vec![criterion("test:adds", Reproduced), text.clone()],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_CRITERIA_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
            (
                true,
                vec![criterion("test:adds", Holds), text.clone()],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
            (
                true,
                vec![criterion("user:u1", Recorded)],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
            (
                true,
                vec![criterion("code.txt:2-3", NotReproducible)],
                "COOK_DONE COOK_GATES_REPRODUCED COOK_VOTES_RECORDED_3_OF_3",
            ),
        ] {
            let shown = Shown {
                reran,
                gates: 1,
                criteria: &criteria,
                votes: (3, 3),
                base: false,
            };
            assert_eq!(properties(&shown).join(" "), expected);
        }
        // Where there is nothing, nothing is claimed of all of it.
        let mut shown = Shown {
            reran: true,
            gates: 0,
            criteria: &[],
            votes: (0, 0),
            base: false,
        };
        assert_eq!(properties(&shown), ["COOK_DONE"]);
        shown.base = true;
        assert_eq!(properties(&shown), ["COOK_DONE", "COOK_BASE_CONTRACT"]);
    }
}
