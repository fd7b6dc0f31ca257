//! What a report amounts to: the event that `apply` is asked about.

use super::block::Block;
use super::draft::Draft;
use super::grammar::judge;
use super::table::fields;
use super::value::is_none;
use super::{Report, rules};
use crate::diagnostic::{Lines, clean};
use crate::model::{Count, Event, Reground, Role, RubricVerdict, Submission, Verdicts};

/// Where a report came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The session, when known.
    pub session: Option<String>,
    /// The ticket handed out at dispatch, when the report came with one.
    pub ticket: Option<String>,
    /// HEAD when the session began, where a driver began it.
    pub began_at: Option<String>,
}

impl Provenance {
    /// That of a report which is on record.
    pub fn of(submission: &Submission) -> Self {
        Self {
            session: submission.session.clone(),
            ticket: submission.ticket.clone(),
            began_at: submission.began_at.clone(),
        }
    }
}

/// What a report leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reported {
    /// A transition to ask for.
    Event(Box<Event>),
    /// None: a bootstrapper that asks nothing. What it did shows in the worktree,
    /// and `cook init` is what writes it down.
    Nothing,
}

/// The event a report amounts to.
pub fn event(report: &Report, provenance: Provenance) -> Reported {
    let role = report.role();
    let submission = submission(report, provenance);
    if let Some(question) = report.question() {
        return Reported::Event(Box::new(Event::Asked {
            role,
            question: question.to_owned(),
            submission,
        }));
    }
    let event = match role {
        Role::Bootstrapper => return Reported::Nothing,
        Role::Regrounder => Event::Regrounded {
            block: report.block().cloned().unwrap_or_else(Reground::default),
            submission,
        },
        Role::Implementer => implementer(report, submission),
        Role::Reviewer => Event::Reviewed {
            verdicts: reviewer(report),
            submission,
        },
        Role::Auditor => Event::Audited {
            verdicts: auditor(report),
            submission,
        },
        Role::StopJudge => Event::Judged {
            verdicts: stop_judge(report),
            submission,
        },
    };
    Reported::Event(Box::new(event))
}

fn submission(report: &Report, provenance: Provenance) -> Submission {
    Submission {
        report: report.record(),
        report_sha256: report.sha256().to_owned(),
        session: provenance.session,
        ticket: provenance.ticket,
        began_at: provenance.began_at,
        mission_anchor: report.mission_anchor().to_owned(),
        remaining_contract_ids: report.remaining_contract_ids(),
        worktree_clean: report.yes("tracked_and_unignored_worktree_is_clean"),
    }
}

fn implementer(report: &Report, submission: Submission) -> Event {
    let slice_id = clean(report.field("slice_id"), Lines::Fold);
    match report.commit("commit_sha") {
        Some(commit) => Event::Implemented {
            slice_id,
            commit,
            evidence: report.offers().to_vec(),
            submission,
        },
        None => Event::Returned {
            slice_id,
            // A report without a commit and without a reason is refused by the rules.
            why: rules::return_reason(&report.record).unwrap_or_default(),
            submission,
        },
    }
}

fn verdicts(report: &Report, positive: bool, findings: Vec<String>) -> Verdicts {
    let fails = report
        .rubric()
        .into_iter()
        .flatten()
        .filter(|(_, entry)| entry.verdict == RubricVerdict::Fail)
        .map(|(key, _)| key.clone())
        .collect();
    let entries = report.rubric().into_iter().flatten();
    let concerns = entries.filter(|(_, entry)| entry.verdict != RubricVerdict::Pass);
    let concerns = concerns.map(|(key, entry)| match entry.verdict {
        RubricVerdict::Fail => format!("{key} (fail): {}", entry.why),
        _ => format!("{key} (concern): {}", entry.why),
    });
    Verdicts {
        positive,
        fails,
        concerns: concerns.collect(),
        findings,
        follow_up: None,
        open_contract_ids: Vec::new(),
        blocker_count: Count(report.count("blocker_count").unwrap_or_default()),
        high_value_gap_count: Count(report.count("high_value_gap_count").unwrap_or_default()),
        commit: None,
    }
}

fn follow_up(report: &Report, key: &str) -> Option<String> {
    rules::follow_up(&report.record, key).map(str::to_owned)
}

fn reviewer(report: &Report) -> Verdicts {
    let positive = report.yes("acceptable_as_is") == Some(true);
    Verdicts {
        follow_up: follow_up(report, "smallest_follow_up_slice"),
        ..verdicts(report, positive, report.items("findings"))
    }
}

/// Positive = the report names nothing as open, in whichever of its fields, and no dimension fails.
fn auditor(report: &Report) -> Verdicts {
    let open_key = "open_top_level_contract_ids";
    let mut findings = report.items("why_the_project_is_still_not_done");
    findings.extend(report.items("worktree_blockers"));
    let mut verdicts = Verdicts {
        follow_up: follow_up(report, "next_mandatory_slice"),
        open_contract_ids: report.ids(open_key),
        ..verdicts(report, false, findings)
    };
    verdicts.findings.extend(rules::counts(&verdicts));
    let untrue = rules::untrue(&report.record);
    verdicts.positive = is_none(report.field(open_key))
        && verdicts.findings.is_empty()
        && verdicts.fails.is_empty()
        && untrue.is_empty();
    verdicts.concerns.extend(untrue);
    verdicts
}

fn stop_judge(report: &Report) -> Verdicts {
    let positive = report.yes("can_the_project_stop_now") == Some(true);
    let reasons = report.items("brief_justification");
    let mut verdicts = Verdicts {
        open_contract_ids: report.ids("exact_remaining_open_top_level_contract_ids"),
        commit: report.commit("latest_completed_slice_commit"),
        ..verdicts(report, positive, reasons)
    };
    let docs = "docs_config_runbooks_match_shipped_behavior";
    verdicts
        .concerns
        .extend(rules::contrary(&report.record, docs, true));
    verdicts
}

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
