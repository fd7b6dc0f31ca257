//! Whether an event is what the report beside it amounts to: a log may be written by anybody.

use super::block::Block;
use super::draft::Draft;
use super::grammar::judge;
use super::table::fields;
use super::{Provenance, Reported, event};
use crate::model::Event;

/// What an event says that its report does not; none where it has no report. `own_words` gives an event
/// the words of the documents, as it got them when it was recorded.
pub fn find_contradiction(
    found: &Event,
    own_words: impl FnOnce(&Event) -> Event,
) -> Option<String> {
    let submission = found.submission()?;
    let record = &submission.report;
    let mut draft = Draft {
        rubric: record.rubric.clone().unwrap_or_default(),
        ..Draft::default()
    };
    for (key, value) in &record.fields {
        let mut known = fields(record.role).iter();
        let Some(field) = known.find(|field| field.key == key) else {
            return Some(format!(
                "its report has a field `{key}`, which its role does not have"
            ));
        };
        draft.fields.insert(field.key, value.clone());
    }
    match found {
        Event::Regrounded { block, .. } => draft.block = Some(Block::Reground(block.clone())),
        Event::Implemented { evidence, .. } => draft.block = Some(Block::Offers(evidence.clone())),
        _ => {}
    }
    let parsed = judge(record.role, draft, submission.report_sha256.clone());
    let Some(report) = parsed.report else {
        let why = parsed.findings.into_iter().next();
        let why = why.map_or_else(String::new, |finding| finding.message);
        return Some(format!("its report breaks a rule: {why}"));
    };
    match event(&report, Provenance::of(submission)) {
        Reported::Event(again) if *again == *found || own_words(&again) == *found => None,
        _ => Some("it says something else than the report beside it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Count, Role};

    fn make_audited() -> Event {
        let text = "MISSION ANCHOR: m\nRemaining contract IDs: C-a\nRubric:\n- Contract coverage: pass - read\n- Correctness risk: concern - one\n- Verification evidence: pass - read\n- Docs/state parity: pass - read\nWhy the project is still not done: none\nOpen top-level contract IDs: none\nBlocker count: 0\nHigh-value gap count: 0\nTracked and unignored worktree is clean: yes\nWorktree blockers: none\nNext mandatory slice: none\nStale or conflicting canonical state: no\nPlan truthfully captures remaining slice backlog: yes\n";
        let report = super::super::parse(Role::Auditor, text.as_bytes());
        let report = report.report.expect("it keeps the rules");
        match event(&report, Provenance::default()) {
            Reported::Event(event) => *event,
            Reported::Nothing => unreachable!("an auditor's report is an event"),
        }
    }

    #[test]
    fn an_event_is_what_its_report_amounts_to() {
        assert_eq!(find_contradiction(&make_audited(), Event::clone), None);
        assert_eq!(
            find_contradiction(&Event::Paused { why: "x".into() }, Event::clone),
            None
        );
        let forge = |change: fn(&mut Event)| {
            let mut event = make_audited();
            change(&mut event);
            find_contradiction(&event, Event::clone)
        };
        let verdicts: [fn(&mut crate::model::Verdicts); 4] = [
            |verdicts| verdicts.blocker_count = Count(1),
            |verdicts| verdicts.open_contract_ids.push("C-a".to_owned()),
            |verdicts| verdicts.fails.push("correctness_risk".to_owned()),
            |verdicts| verdicts.concerns.clear(),
        ];
        for change in verdicts {
            let mut event = make_audited();
            if let Event::Audited { verdicts, .. } = &mut event {
                change(verdicts);
            }
            assert!(
                find_contradiction(&event, Event::clone).is_some(),
                "{event:?}"
            );
        }
        assert!(forge(|event| set(event, "blocker_count", "1")).is_some());
        assert!(forge(|event| set(event, "blocker_count", "many")).is_some());
        assert!(forge(|event| set(event, "no_such_field", "x")).is_some());
    }

    fn set(event: &mut Event, key: &str, value: &str) {
        if let Event::Audited { submission, .. } = event {
            let fields = &mut submission.report.fields;
            fields.insert(key.to_owned(), value.to_owned());
        }
    }
}
