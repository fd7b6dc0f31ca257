//! Drift, which rule 2 looks at: whether the state still describes this repository. Also tells own commits from
//! foreign ones.

use super::facts::{CommitSeen, Facts, Range};
use super::{proof, wave};
use crate::model::surface_matches;
use crate::prelude::*;
use crate::question::Question;

/// The differences between the state and the repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Drift {
    /// Why rule 2 answers, one text for each cause; empty if it does not.
    pub causes: Vec<String>,
    /// All findings, including the causes.
    pub findings: Vec<Finding>,
    /// Own commits of the active slice that no report names, oldest first.
    pub unreported: Vec<String>,
    /// The commit on HEAD that holds the active slice's work according to a re-ground.
    pub holds: Option<String>,
}

impl Drift {
    fn cause(&mut self, code: Code, message: impl Into<String>) {
        self.add(Finding::new(code, message));
    }

    fn note_cause(&mut self, place: &str, code: Code, message: String) {
        self.add(Finding::new(code, message).at(place));
    }

    /// Adds a cause once, however often it is found.
    fn add(&mut self, finding: Finding) {
        if !self.causes.contains(&finding.message) {
            self.causes.push(finding.message.clone());
        }
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

/// The question about done slices that precedes the judges, if the end of the project is next.
pub fn ask_standing(snapshot: &Snapshot) -> Option<Question> {
    let is_open = snapshot.state.continuation_policy == Policy::Continue;
    let seen = mark(snapshot).filter(|_| is_open && end_is_near(snapshot));
    seen.map(|seen| proof::ask_standing(snapshot, seen))
}

/// The commit after which foreign commits count.
pub fn mark(snapshot: &Snapshot) -> Option<&String> {
    let ledger = &snapshot.ledger;
    ledger.mark.as_ref().or(ledger.head_seen.as_ref())
}

/// Whether every slice is closed, so that the end of the project is next.
pub(super) fn end_is_near(snapshot: &Snapshot) -> bool {
    snapshot.ledger.regrounded
        && !snapshot.is_in_work()
        && snapshot.plan.open_slices().next().is_none()
}

fn active_ledger(snapshot: &Snapshot) -> Option<&SliceLedger> {
    snapshot.find_ledger(snapshot.active.slice_id.as_deref()?)
}

/// Compares the state with the repository.
pub(super) fn measure(snapshot: &Snapshot, facts: &Facts) -> Result<Drift, Refusal> {
    let mut drift = Drift::default();
    if snapshot.state.requires_reground {
        drift.cause(Code::RegroundRequired, reground_reason(snapshot));
    }
    for edit in facts.outside_edits()? {
        let what = match (edit.missing, edit.fields.is_empty()) {
            (true, _) => "is missing".to_owned(),
            (false, true) => "was edited outside cook".to_owned(),
            (false, false) => format!("was edited outside cook ({})", edit.fields.join(", ")),
        };
        drift.note_cause(
            &format!(".agent/{}", edit.file),
            Code::EditedOutside,
            format!("`.agent/{}` {what}", edit.file),
        );
    }
    contradict(snapshot, &mut drift);
    if snapshot.is_in_work() {
        position(snapshot, facts, &mut drift)?;
    }
    if let Some(seen) = mark(snapshot) {
        foreign(snapshot, facts.since(seen)?, &mut drift);
    }
    note_lost(snapshot, facts, &mut drift)?;
    let head = facts.head()?;
    let room = wave::find_room(snapshot, head).filter(|_| end_is_near(snapshot));
    if let Some(room) = room.filter(|room| !room.red.is_empty()) {
        let what = format!("at HEAD, in a clean room, {}", room.red.join("; "));
        drift.cause(Code::RoomRed, what);
    }
    let open_audit = wave::open_audit(snapshot).filter(|_| end_is_near(snapshot));
    for blocker in wave::list_unanswered(snapshot, head)
        .into_iter()
        .chain(open_audit)
    {
        let what = blocker.what.join("; ");
        let whose = match blocker.is_users() {
            true => "a word of the user's that no slice holds to".to_owned(),
            false => format!("{}'s rejection", blocker.by()),
        };
        drift.note_cause(
            &blocker.id,
            Code::UnansweredNo,
            format!("{whose} ({}) is not answered: {what}", blocker.id),
        );
    }
    Ok(drift)
}

fn reground_reason(snapshot: &Snapshot) -> String {
    let ledger = &snapshot.ledger;
    let mut reason = match ledger.due_for.is_empty() {
        true => "a re-ground is due".to_owned(),
        false => format!("a re-ground is due: {}", ledger.due_for.join("; ")),
    };
    if let Some(answer) = new_answer(ledger) {
        reason.push_str(&format!("; the user answered: {answer}"));
    }
    if let Some(what) = &ledger.stopped_for {
        reason.push_str(&format!("; the work was stopped for: {what}"));
    }
    reason
}

/// The user's answer that no re-ground has seen: its id if it is one of the kept answers, otherwise its text.
pub fn new_answer(ledger: &Ledger) -> Option<String> {
    let text = ledger.answered.as_ref()?;
    let mut answers = ledger.answers.iter().rev();
    let known = answers.find(|answer| answer.answer == *text);
    Some(known.map_or_else(|| text.clone(), UserAnswer::id))
}

/// Contradictions between the documents themselves.
pub fn contradictions(snapshot: &Snapshot) -> Vec<Finding> {
    let mut drift = Drift::default();
    contradict(snapshot, &mut drift);
    drift.findings
}

/// The log holds a contradiction only after an import; `.agent/` may hold one after an edit.
fn contradict(snapshot: &Snapshot, drift: &mut Drift) {
    let slices = snapshot.plan.candidate_slices.iter();
    let selected = slices.filter(|slice| slice.status.is_selected());
    let selected: Vec<&str> = selected.map(|slice| slice.slice_id.as_str()).collect();
    let id = snapshot.active.slice_id.as_deref();
    if let [only] = selected[..]
        && (!snapshot.is_in_work() || id != Some(only))
    {
        drift.note_cause(
            only,
            Code::StatusPairIllegal,
            format!("slice `{only}` is selected in the plan, and it is not active"),
        );
    }
    if selected.len() > 1 {
        drift.cause(
            Code::SelectedTwice,
            format!("{} slices are selected in the plan", selected.len()),
        );
    }
    let Some(id) = id else { return };
    let Some(slice) = snapshot.plan.slice(id) else {
        if snapshot.is_in_work() {
            drift.note_cause(
                id,
                Code::SliceNotInPlan,
                format!("the active slice `{id}` is not in the plan"),
            );
        }
        return;
    };
    if !pair_is_legal(snapshot.active.status, slice.status) {
        drift.note_cause(
            id,
            Code::StatusPairIllegal,
            format!(
                "slice `{id}` is {} as the active slice and {} in the plan",
                snapshot.active.status.id(),
                slice.status.id()
            ),
        );
    }
    if snapshot.is_in_work() {
        if slice.acceptance_criteria.is_empty() {
            drift.note_cause(
                id,
                Code::CriteriaMissing,
                format!("slice `{id}` has no acceptance criteria"),
            );
        }
        let fields = handoff_differences(snapshot, slice);
        if !fields.is_empty() {
            drift.note_cause(
                id,
                Code::HandoffDiffers,
                format!(
                    "the active slice `{id}` differs from its plan entry in {}",
                    fields.join(", ")
                ),
            );
        }
    }
}

/// Whether one slice may have these statuses in the two documents.
fn pair_is_legal(active: ActiveStatus, plan: SliceStatus) -> bool {
    match active {
        ActiveStatus::Idle => true,
        ActiveStatus::Selected => plan == SliceStatus::Selected,
        ActiveStatus::InProgress | ActiveStatus::Committed => plan == SliceStatus::InProgress,
        // Reopening the last active slice makes the active document idle.
        ActiveStatus::Done => plan == SliceStatus::Done,
    }
}

/// Handoff fields in which the active slice and its plan entry differ.
pub fn handoff_differences(snapshot: &Snapshot, slice: &Slice) -> Vec<&'static str> {
    let active = &snapshot.active;
    let Some(handoff) = &active.handoff else {
        return vec!["handoff"];
    };
    let empty: &[String] = &[];
    let mut fields = Vec::new();
    let mut check = |name, same: bool| {
        if !same {
            fields.push(name);
        }
    };
    check("goal", active.goal.as_deref() == Some(slice.goal.as_str()));
    check("contract_ids", active.contract_ids == slice.contract_ids);
    check(
        "acceptance_criteria",
        handoff.acceptance_criteria == slice.acceptance_criteria,
    );
    check("priority", handoff.priority == slice.priority);
    check("why_now", handoff.why_now == slice.why_now);
    check("blocked_on", handoff.blocked_on == slice.blocked_on);
    check(
        "locked_notes",
        handoff.locked_notes == slice.locked_notes.as_deref().unwrap_or(empty),
    );
    check(
        "must_fix_findings",
        handoff.must_fix_findings == slice.must_fix_findings.as_deref().unwrap_or(empty),
    );
    check(
        "basis_commit",
        Some(&handoff.basis_commit) == slice.basis_commit.as_ref(),
    );
    fields
}

/// Checks where the active slice stands in the commit graph.
fn position(snapshot: &Snapshot, facts: &Facts, drift: &mut Drift) -> Result<(), Refusal> {
    let Some(handoff) = &snapshot.active.handoff else {
        return Ok(());
    };
    let basis = &handoff.basis_commit;
    let range = facts.range(basis)?;
    if !range.resolves {
        drift.note_cause(
            "basis_commit",
            Code::BasisUnresolved,
            format!("`basis_commit` {basis} is not a commit of this repository"),
        );
    } else if !range.ancestor {
        drift.note_cause(
            "basis_commit",
            Code::BasisNotAncestor,
            format!("`basis_commit` {basis} is not an ancestor of HEAD"),
        );
    }
    drift.unreported = list_unreported(snapshot, range);
    let holds = active_ledger(snapshot).and_then(|slice| slice.holds.clone());
    if let Some(at) = holds {
        drift.holds = facts.on_head(&at)?.then_some(at);
    }
    if snapshot.active.status == ActiveStatus::Committed {
        let head = active_ledger(snapshot).and_then(|slice| slice.head.clone());
        let on_head = match &head {
            Some(head) => facts.on_head(head)?,
            None => false,
        };
        if !on_head && drift.unreported.is_empty() {
            let id = snapshot.active.slice_id.as_deref().unwrap_or_default();
            drift.cause(
                Code::SliceHeadVanished,
                format!(
                    "commit {} that was reported for slice `{id}` is not on HEAD, so the slice is in progress again",
                    head.as_deref().map_or("unknown", short)
                ),
            );
        }
    }
    Ok(())
}

/// Notes done slices whose proof HEAD lost since the mark, so that no judge is asked about missing work.
fn note_lost(snapshot: &Snapshot, facts: &Facts, drift: &mut Drift) -> Result<(), Refusal> {
    let Some(seen) = mark(snapshot).filter(|_| end_is_near(snapshot)) else {
        return Ok(());
    };
    if !is_accounted_for(snapshot, facts.since(seen)?) {
        facts.ask(proof::ask_standing(snapshot, seen))?;
        for finding in proof::find_lost(snapshot, facts) {
            drift.add(finding);
        }
    }
    Ok(())
}

/// Commits since the mark that are not the active slice's.
pub fn list_others_since<'a>(snapshot: &Snapshot, facts: &'a Facts) -> Vec<&'a CommitSeen> {
    let since = facts.since.as_ref();
    since.map_or_else(Vec::new, |since| list_foreign(snapshot, since))
}

/// Own commits of the active slice that no report names.
fn list_unreported(snapshot: &Snapshot, range: &Range) -> Vec<String> {
    let id = snapshot.active.slice_id.as_deref();
    let claimed = active_ledger(snapshot).map_or(&[][..], |slice| slice.claimed.as_slice());
    range
        .commits
        .iter()
        .filter(|commit| commit.slice.as_deref() == id && !claimed.contains(&commit.id))
        .map(|commit| commit.id.clone())
        .collect()
}

fn active_slice(snapshot: &Snapshot) -> Option<&str> {
    let active = snapshot.active.slice_id.as_deref();
    active.filter(|_| snapshot.is_in_work())
}

/// Whether HEAD contains the mark, and every commit since belongs to the active slice.
pub(super) fn is_accounted_for(snapshot: &Snapshot, since: &Range) -> bool {
    since.ancestor && list_foreign(snapshot, since).is_empty()
}

/// Commits since the mark that are not the active slice's.
fn list_foreign<'a>(snapshot: &Snapshot, since: &'a Range) -> Vec<&'a CommitSeen> {
    let active = active_slice(snapshot);
    let claimed = active_ledger(snapshot).map_or(&[][..], |slice| slice.claimed.as_slice());
    let is_own = |commit: &CommitSeen| {
        active.is_some() && (commit.slice.as_deref() == active || claimed.contains(&commit.id))
    };
    let commits = since.commits.iter();
    commits.filter(|commit| !is_own(commit)).collect()
}

/// Notes commits since the mark that do not belong to the active slice.
fn foreign(snapshot: &Snapshot, since: &Range, drift: &mut Drift) {
    if !since.ancestor {
        drift.findings.push(finding!(
            Code::HistoryRewritten,
            "HEAD no longer contains a commit that the log has seen"
        ));
    }
    let active = active_slice(snapshot);
    let foreign = list_foreign(snapshot, since);
    let Some(newest) = foreign.last() else {
        return;
    };
    let surfaces = match (&snapshot.active.handoff, active) {
        (Some(handoff), Some(_)) => handoff
            .implementation_surfaces
            .as_deref()
            .unwrap_or_default(),
        _ => &[],
    };
    let touched: Vec<&str> = foreign
        .iter()
        .flat_map(|commit| commit.paths.iter())
        .filter(|path| {
            surfaces
                .iter()
                .any(|surface| surface_matches(surface, path))
        })
        .map(String::as_str)
        .collect();
    let count = count_noun(foreign.len() as u64, "commit");
    let newest = short(&newest.id);
    match touched.first() {
        Some(path) => drift.cause(Code::ForeignTouchesSlice, format!("{count} up to {newest} not made for the slice: `{path}`, which it works on, changed")),
        None => drift.findings.push(finding!(Code::ForeignCommits, "{count} up to {newest} not made for a slice in work")),
    }
}
