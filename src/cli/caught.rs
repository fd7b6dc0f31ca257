//! Which events caught something: reports that were refused, and those that said no.

use cook_core::model::{Event, Verdicts};

/// Events that report on a slice or on the whole.
pub(super) const REPORTS: [&str; 6] = [
    "implemented",
    "returned",
    "reviewed",
    "audited",
    "judged",
    "refused",
];

/// What was caught, and what is named; none where nothing was.
pub(super) fn find_catch(event: &Event) -> Option<(&'static str, String)> {
    Some(match event {
        Event::Returned { slice_id, why, .. } => {
            ("a slice was given back", format!("{slice_id}: {why}"))
        }
        Event::Refused { role, codes, .. } => (
            "a session was refused",
            format!("{role}: {}", codes.join(", ")),
        ),
        Event::Reviewed { verdicts, .. } if !verdicts.positive => {
            ("a review said no", names_of(verdicts))
        }
        Event::Audited { verdicts, .. } if !verdicts.positive => {
            ("an audit found something open", names_of(verdicts))
        }
        Event::Judged { verdicts, .. } if !verdicts.positive => {
            ("a judge said no", names_of(verdicts))
        }
        _ => return None,
    })
}

fn names_of(verdicts: &Verdicts) -> String {
    let all = verdicts.findings.iter().chain(&verdicts.concerns);
    let all: Vec<&str> = all.chain(&verdicts.fails).map(String::as_str).collect();
    all.join("; ")
}
