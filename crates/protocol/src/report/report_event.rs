//! From bytes to a report by the grammar, and from a report to the event that `apply` decides on.

use super::block::Block;
use super::draft::{Draft, MAX_FIELD_CHARS, describe_rating};
use super::table::{ANCHOR, DIMENSIONS, Field, Kind, fields, has_block, has_rubric};
use super::value::{MAX_COUNT, after_marker, commit, count, is_none, show_held, word};
use super::{Parsed, Report, answer, rules};
use crate::digest::sha256;
use crate::prelude::*;

// The event that a report becomes.

/// The origin of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The session, if known.
    pub session: Option<String>,
    /// The ticket given out at dispatch, if the report came with one.
    pub ticket: Option<String>,
    /// HEAD when the session began, if a driver began it.
    pub began_at: Option<String>,
}

impl Provenance {
    /// The origin of a report that is on record.
    pub fn of(submission: &Submission) -> Self {
        Self {
            session: submission.session.clone(),
            ticket: submission.ticket.clone(),
            began_at: submission.began_at.clone(),
        }
    }
}

/// The outcome of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Reported {
    /// A transition to apply.
    Event(Box<Event>),
    /// Nothing: a bootstrapper that asks nothing. Its work shows in the worktree, and `cook init` records it.
    Nothing,
}

/// The event that a report becomes.
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
            // The rules refuse a report without a commit and without a reason.
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
        blocker_count: Count(report.count("blocker_count").unwrap_or_default()),
        high_value_gap_count: Count(report.count("high_value_gap_count").unwrap_or_default()),
        ..Verdicts::default()
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

/// Positive if no field of the report names anything open and no dimension fails.
fn auditor(report: &Report) -> Verdicts {
    let open_key = "open_top_level_contract_ids";
    let mut findings = report.items("why_the_project_is_still_not_done");
    findings.extend(report.items("worktree_blockers"));
    let mut verdicts = Verdicts {
        follow_up: follow_up(report, "next_mandatory_slice"),
        open_contract_ids: report.ids(open_key),
        weighs_plan: true,
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

/// Describes how an event differs from its report; `None` if it does not, or has no report. `own_words` gives an
/// event the words of the documents, as it got them when it was recorded.
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
    let mut again = event(&report, Provenance::of(submission));
    // The rule under which it was recorded is not part of the report.
    if let (
        Reported::Event(again),
        Event::Audited {
            verdicts: recorded, ..
        },
    ) = (&mut again, found)
        && let Event::Audited { verdicts, .. } = &mut **again
    {
        verdicts.weighs_plan = recorded.weighs_plan;
    }
    match again {
        Reported::Event(again) if *again == *found || own_words(&again) == *found => None,
        _ => Some("it says something else than the report beside it".to_owned()),
    }
}

// From bytes to a report: size, text, one of the two forms, each field by its
// kind, then the rules between fields.

/// Maximum size of a report, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Reads a role's report.
pub fn parse(role: Role, bytes: &[u8]) -> Parsed {
    let refused = |code: Code, message: &str| Parsed {
        report: None,
        findings: vec![Finding::new(code, message)],
        read: ReportRecord {
            role,
            fields: BTreeMap::new(),
            rubric: None,
        },
    };
    if bytes.len() > MAX_BYTES {
        let message = format!("the answer has {} bytes, more than 1 MiB", bytes.len());
        return refused(Code::ReportTooLarge, &message);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => clean(text, Lines::Keep),
        Err(error) => {
            let message = format!("byte {} is not UTF-8", error.valid_up_to() + 1);
            return refused(Code::ReportNotText, &message);
        }
    };
    if text.trim().is_empty() {
        return refused(Code::ReportEmpty, "it holds no words");
    }
    judge(role, answer::read(role, &text), sha256(bytes))
}

/// Checks a draft against the grammar and the rules between fields.
pub(super) fn judge(role: Role, mut draft: Draft, sha256: String) -> Parsed {
    let mut findings = std::mem::take(&mut draft.findings);
    if !draft.unreadable {
        findings.extend(fields(role).iter().filter_map(|field| check(field, &draft)));
        findings.extend(check_rubric(role, &draft, &findings));
    }
    let rated = draft.is_rated(&findings);
    draft.fields.retain(|_, value| !value.is_empty());
    let fields = draft.fields.into_iter();
    let record = ReportRecord {
        role,
        fields: fields.map(|(key, value)| (key.to_owned(), value)).collect(),
        rubric: (has_rubric(role) && rated).then_some(draft.rubric),
    };
    let is_lost = findings.iter().any(|finding| {
        let code = finding.code;
        code == Code::ReportBlockInvalid || code == Code::ReportBlockAmbiguous
    });
    let is_due = has_block(role) && !draft.unreadable && rules::question(&record).is_none();
    if is_due && draft.block.is_none() && !is_lost {
        findings.push(Finding::new(
            Code::ReportBlockMissing,
            "there is no fenced `json` block in the report or after it; it holds the plan's changes, and `{}` where nothing changes",
        ));
    }
    findings.extend(rules::breaches(&record, draft.block.as_ref()));
    if !draft.unreadable {
        let explained = findings.into_iter().map(|it| explain(it, &record));
        findings = explained.collect();
    }
    if let (Some(left_out), Some(first)) = (&draft.left_out, findings.first_mut()) {
        first.message += &format!("; {left_out}");
    }
    let report = findings.is_empty().then(|| Report {
        record: record.clone(),
        block: draft.block,
        sha256,
    });
    Parsed {
        report,
        findings,
        read: record,
    }
}

/// Adds to a finding what its field holds and what it must hold; for a missing field, only the latter.
fn explain(mut finding: Finding, record: &ReportRecord) -> Finding {
    let place = finding.place.as_deref();
    let field = fields(record.role)
        .iter()
        .find(|field| place == Some(field.key));
    if let Some(field) = field {
        if finding.code == Code::FieldMissing {
            finding.message += &format!("; write {}", field.hint);
            return finding;
        }
        let value = rules::field(record, field.key);
        let (holds, wants) = (show_held(value), field.wants(value));
        finding.message += &format!("; it holds {holds}; it must hold {wants}");
    }
    finding
}

/// Checks one field by its kind.
fn check(field: &Field, draft: &Draft) -> Option<Finding> {
    let breach = |code: Code, message: String| Some(Finding::new(code, message).at(field.key));
    let label = field.label;
    let Some(value) = draft.fields.get(field.key) else {
        return match field.key {
            _ if !field.required => None,
            ANCHOR => Some(Finding::new(
                Code::HeaderMissing,
                "`MISSION ANCHOR`, with which a report begins, is missing",
            )),
            _ => breach(Code::FieldMissing, format!("`{label}` is missing")),
        };
    };
    if is_blank(field, value) {
        let empty = breach(Code::FieldEmpty, format!("`{label}` is empty"));
        return empty.filter(|_| field.required);
    }
    let length = value.chars().count();
    if length > MAX_FIELD_CHARS {
        let message = format!("`{label}` has {length} characters, more than {MAX_FIELD_CHARS}");
        return breach(Code::FieldTooLong, message);
    }
    let (is_one, code, what) = match field.kind {
        Kind::Text | Kind::List => return None,
        Kind::YesNo | Kind::Choice(_) => {
            let code = match field.kind {
                Kind::YesNo => Code::FieldNotYesNo,
                _ => Code::FieldNotInSet,
            };
            let words = field.words().join(" or ");
            let is_one = word(value, field.words()).is_some();
            (is_one, code, format!("not exactly {words}"))
        }
        Kind::Count => {
            let what = format!("not exactly a whole number from 0 to {MAX_COUNT}");
            (count(value).is_some(), Code::FieldNotCount, what)
        }
        Kind::Sha => {
            let is_one = commit(value).is_some() || is_none(value);
            let what = "neither exactly a commit id of 7 to 64 hex digits nor none";
            (is_one, Code::FieldNotInSet, what.to_owned())
        }
    };
    match is_one {
        true => None,
        false => breach(code, format!("`{label}` is {what}")),
    }
}

/// Whether a value has neither a letter nor a digit. A mission may consist of signs alone.
fn is_blank(field: &Field, value: &str) -> bool {
    if field.key == ANCHOR {
        return value.is_empty();
    }
    let value = after_marker(value).unwrap_or(value);
    !value.chars().any(char::is_alphanumeric)
}

fn check_rubric(role: Role, draft: &Draft, found: &[Finding]) -> Vec<Finding> {
    if !has_rubric(role) {
        return Vec::new();
    }
    if !draft.is_rated(found) {
        return vec![
            finding!(
                Code::RubricMissing,
                "`Rubric:` is missing; it must hold a line for each dimension: {}",
                describe_rating(DIMENSIONS[0].label)
            )
            .at("rubric"),
        ];
    }
    DIMENSIONS
        .iter()
        .map(|dimension| (dimension, format!("rubric.{}", dimension.key)))
        .filter(|(dimension, place)| {
            // A line that is present but broken has its own finding.
            !draft.rubric.contains_key(dimension.key)
                && !found.iter().any(|f| f.place.as_ref() == Some(place))
        })
        .map(|(dimension, place)| {
            finding!(
                Code::RubricIncomplete,
                "`{}` is not rated; it holds nothing; it must hold {}",
                dimension.label,
                describe_rating(dimension.label)
            )
            .at(place)
        })
        .collect()
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
