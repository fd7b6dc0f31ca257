//! Assembles the brief of a repository from the log, the documents and histories, and the present verdict on every
//! anchor. Writes nothing except the brief's own file.

use super::due_role::dispatch_now;
use crate::anchor::Sources;
use crate::init::{read_text_file, write_text_file};
use crate::measure::GateRuns;
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_protocol::brief::{
    self, Attempt, Author, Brief, Budgeted, Due, Filled, Here, LastCheckpoint, Material, Proof,
    Weight, mentions,
};
use cook_protocol::diagnostic::last_line;
use cook_protocol::machine::BriefFacts;
use cook_protocol::model::{
    Anchor, BRIEF_FILE, Basis, BriefDocument, BriefSync, EvidenceRecord, SliceRecord,
};
use cook_protocol::question::BriefQuestion;
use cook_repo::store::History;

/// Size limit in bytes of a brief that is not requested in full.
pub const DEFAULT_BYTES: usize = 8_000;

/// The whole brief, before any size limit.
#[derive(Debug)]
pub struct WholeBrief {
    /// The seven slots.
    pub brief: Brief,
    /// Its entries with their origin, in the same order.
    pub entries: Vec<Filled>,
    /// Contradictions, and demotions that the next change will record.
    pub findings: Vec<Finding>,
}

impl WholeBrief {
    /// Returns the text that fits into `max_bytes`, or all of it if there is no limit.
    pub fn within(&self, max_bytes: Option<usize>) -> Budgeted {
        let weights = self.entries.iter().map(|entry| entry.weight.clone());
        let weights: Vec<Weight> = weights.collect();
        brief::within(&self.brief, &weights, max_bytes.unwrap_or(usize::MAX))
    }

    /// Returns the entries that the role's prompt does not already contain, as far as they fit.
    pub fn beside_prompt(&self, role: Role, shown: &[String], max_bytes: usize) -> String {
        let kept = self
            .entries
            .iter()
            .filter(|entry| !entry.stands_in_prompt(role, shown));
        let (lines, weights): (Vec<_>, Vec<_>) = kept
            .map(|entry| (entry.line.clone(), entry.weight.clone()))
            .unzip();
        let brief = Brief {
            lines,
            ..Brief::default()
        };
        brief::within(&brief, &weights, max_bytes).text
    }
}

/// An anchor of the brief or of the plan's evidence, with its verdict.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct CheckedAnchor {
    /// ID of the entry that holds the anchor; `SLICE: CRITERION` for evidence of the plan.
    pub id: String,
    /// List of the brief that holds the entry, or `plan`.
    #[serde(rename = "slot")]
    #[schemars(extend("enum" = ["forbid", "established", "learned", "open", "next", "plan"]))]
    pub place: &'static str,
    /// Text of the anchor.
    pub anchor: String,
    /// Kind of proof that the anchor gives.
    pub basis: Basis,
    /// Whether the anchor decides about the result; false if only a free text mentions it.
    pub required: bool,
    /// Verdict on the anchor at HEAD.
    pub verdict: Verdict,
    /// Reason for the verdict.
    pub why: String,
    /// Anchor of the present place, if the text has moved; null otherwise.
    pub now: Option<String>,
}

/// Assembles the brief.
///
/// # Errors
/// A missing log, unreadable state, or a failing git.
pub fn assemble(workspace: &Workspace) -> Result<WholeBrief> {
    let (_, snapshot) = workspace.require()?;
    let (dispatch, facts) = dispatch_now(workspace, Some(&snapshot))?;
    put_together(workspace, &snapshot, &dispatch, &facts)
}

/// Like [`assemble`], for callers that already know which role is due.
///
/// # Errors
/// As [`assemble`].
pub fn put_together(
    workspace: &Workspace,
    snapshot: &Snapshot,
    dispatch: &Dispatch,
    facts: &Facts,
) -> Result<WholeBrief> {
    let stored = snapshot.brief.clone().unwrap_or_default();
    let measured = standings(workspace, snapshot, &stored)?;
    let reconciled = brief::reconcile(&stored, &Default::default(), &measured, &reader(snapshot))?;
    let (reopened, attempts) = read_past(workspace, snapshot)?;
    let proofs = proofs(workspace, snapshot)?;
    let commits = commits(workspace, snapshot)?;
    let tree = facts.head.as_ref().and_then(|head| head.tree.as_deref());
    let protected = workspace
        .config()
        .map(|config| config.rules.protected.clone())
        .unwrap_or_default();
    let (brief, entries) = brief::fill(&Material {
        snapshot,
        due: due(dispatch),
        here: here(workspace, facts)?,
        checkpoint: last_checkpoint(workspace)?,
        findings: &dispatch.findings,
        proofs: &proofs,
        reopened: &reopened,
        attempts: &attempts,
        commits: &commits,
        protected: &protected,
        tree,
        added: &reconciled.document,
        standings: &measured.standings,
    });
    Ok(WholeBrief {
        brief,
        entries,
        findings: reconciled.findings,
    })
}

/// A placeholder author: a brief that is only shown is not recorded.
fn reader(snapshot: &Snapshot) -> Author {
    Author {
        by: "cook".to_owned(),
        session: None,
        seq: Count(snapshot.ledger.seq.0 + 1),
        at: Timestamp::Text(snapshot.ledger.last_at.clone().unwrap_or_default()),
        is_user: false,
    }
}

fn due(dispatch: &Dispatch) -> Due {
    Due {
        role: dispatch.role.map(|role| role.short()),
        action: dispatch.action.clone(),
        reason: dispatch.reason.clone(),
        command: dispatch.blocking_command.clone(),
    }
}

/// The state of the worktree. Leaves out `.agent/` and the brief's own file, which `cook` writes.
fn here(workspace: &Workspace, facts: &Facts) -> Result<Here> {
    let measured = match &facts.worktree {
        Some(worktree) => worktree.clone(),
        None => workspace.repo.recent_status()?.worktree,
    };
    let head = workspace.repo.head()?;
    let is_ours = |path: &String| path.starts_with(".agent/") || path == BRIEF_FILE;
    Ok(Here {
        branch: head.branch,
        head: head.commit,
        dirty: measured
            .dirty
            .into_iter()
            .filter(|path| !is_ours(path))
            .collect(),
        more: measured.more,
    })
}

/// Number of newest trail entries that are searched for the last checkpoint.
const NEWEST: usize = 200;

/// The last checkpoint. What it calls done is shown only until HEAD moves to a later commit.
fn last_checkpoint(workspace: &Workspace) -> Result<Option<LastCheckpoint>> {
    let entries = workspace.store()?.checkpoints(NEWEST)?.entries;
    let is_said =
        |entry: &&Checkpoint| matches!(entry.kind, CheckpointKind::Manual | CheckpointKind::Auto);
    let Some(at) = entries.iter().rposition(|entry| is_said(&entry)) else {
        return Ok(None);
    };
    let last = &entries[at];
    let is_shown = last.commit.is_some() && last.commit != workspace.repo.head()?.commit;
    let (done, next) = brief::split_checkpoint(&last.text);
    Ok(Some(LastCheckpoint {
        at: last.at.display(),
        done: done.filter(|_| !is_shown),
        next,
    }))
}

fn standings(
    workspace: &Workspace,
    snapshot: &Snapshot,
    stored: &BriefDocument,
) -> Result<BriefFacts> {
    if stored.entries.is_empty() {
        return Ok(BriefFacts::default());
    }
    let question = Question::Brief(BriefQuestion {
        entries: stored.entries.clone(),
        ..BriefQuestion::default()
    });
    let facts = workspace.measure(Some(snapshot), question, GateRuns::Kept)?;
    facts
        .brief
        .ok_or_else(|| Failure::state(Code::FactMissing, "the brief's anchors were not measured"))
}

/// Evidence of the active slice and of done slices, judged by kept receipts alone.
fn proofs(workspace: &Workspace, snapshot: &Snapshot) -> Result<Vec<Proof>> {
    let active = snapshot.active.slice_id.as_deref();
    let mut asked = Vec::new();
    for slice in &snapshot.plan.candidate_slices {
        let is_done = slice.status == cook_protocol::model::SliceStatus::Done;
        if !is_done && active != Some(slice.slice_id.as_str()) {
            continue;
        }
        let records = slice.evidence.iter().filter_map(Evidence::record);
        let counts = |record: &&EvidenceRecord| {
            record.retired.is_none() && slice.acceptance_criteria.contains(&record.criterion)
        };
        for record in records.filter(counts) {
            let question = AnchorQuestion::ask_stored(slice, record);
            asked.push((question, record.recorded_at.display()));
        }
    }
    let wanted = asked.iter().map(|(question, _)| question.clone()).collect();
    let answers = workspace.measure_kept(snapshot, wanted)?;
    let proof = |(question, at): (AnchorQuestion, String)| {
        let answer = answers.get(&question.key())?;
        Some(Proof {
            anchor: answer.now.clone().unwrap_or(question.anchor),
            slice_id: question.slice_id,
            criterion: question.criterion,
            basis: question.basis,
            at,
            verdict: answer.verdict,
            why: answer.why.clone(),
        })
    };
    Ok(asked.into_iter().filter_map(proof).collect())
}

/// Slice heads that HEAD contains.
fn commits(workspace: &Workspace, snapshot: &Snapshot) -> Result<Vec<(String, String)>> {
    let mut heads = Vec::new();
    for slice in &snapshot.plan.candidate_slices {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id);
        let is_done = slice.status == cook_protocol::model::SliceStatus::Done;
        let head = ledger.and_then(|ledger| match is_done {
            true => ledger.last_head.clone(),
            false => ledger.head.clone(),
        });
        heads.extend(head.map(|head| (slice.slice_id.clone(), head)));
    }
    let repo = &workspace.repo;
    let Some(now) = repo.head()?.commit else {
        return Ok(Vec::new());
    };
    let mut known = BTreeMap::new();
    for (_, head) in &heads {
        known.extend(repo.resolve(head)?.map(|id| (head.clone(), id)));
    }
    let on_head = repo.list_ancestors(&now, known.values().cloned().collect())?;
    heads.retain(|(_, head)| known.get(head).is_some_and(|id| on_head.contains(id)));
    Ok(heads)
}

/// Reopened slices and failed attempts under this mission, oldest first. Undone transitions do not count.
fn read_past(
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<(Vec<SliceRecord>, Vec<Attempt>)> {
    let store = workspace.store()?;
    // Finding the tests that the proofs show reads the same commits.
    store.remember();
    let undone = &snapshot.undone.seqs;
    let (mut reopened, mut failed) = (Vec::new(), Vec::new());
    for meta in store.entries()? {
        let meta = meta?;
        if undone.contains(&meta.seq) {
            continue;
        }
        match meta.event.as_str() {
            "refocused" => break,
            // Red gates cost the slice an attempt, and no transition lowers that count.
            "implemented" if !snapshot.counters.attempts.contains_key(&meta.subject) => {}
            "implemented" | "returned" | "refused" => {
                let (event, facts) = store.event_and_facts(&meta.commit)?;
                failed.extend(attempts(&event, &facts, meta.seq));
            }
            // The other events that can reopen a slice, and those that may bring a history along.
            "regrounded" | "regrounded_by_cook" | "adopted" | "bootstrapped" => {
                // Most records are of other kinds, and long; every `reopened` record contains this word.
                let lines = store.lines_added(&meta.commit, History::Slice)?;
                let lines = lines.lines().rev();
                for line in lines.filter(|line| line.contains("\"reopened\"")) {
                    let record: SliceRecord = serde_json::from_str(line)
                        .or_fail(Code::LogUnreadable, "a line of the slices' history")?;
                    reopened.extend(Some(record).filter(|it| it.kind == SliceRecordType::Reopened));
                }
            }
            _ => {}
        }
    }
    failed.reverse();
    reopened.reverse();
    Ok((reopened, failed))
}

/// The failures of one transition, newest gate first.
fn attempts(event: &Event, facts: &Facts, seq: u64) -> Vec<Attempt> {
    let attempt = |slice_id: Option<&String>, class, line| Attempt {
        slice_id: slice_id.cloned(),
        class,
        line,
        seq,
    };
    match event {
        Event::Implemented { slice_id, .. } => {
            let runs = facts.gates.iter().flatten().rev();
            let red = runs.filter(|run| run.gate.required && !run.has_passed());
            let tell = |run: &GateRun| {
                let said = match (&run.receipt, &run.problem) {
                    (Some(receipt), None) => {
                        last_line(&receipt.tail).unwrap_or("nothing").to_owned()
                    }
                    (_, Some(problem)) => problem.clone(),
                    (None, None) => "it was not run".to_owned(),
                };
                let line = format!("`{}`: {said}", run.gate.run);
                attempt(Some(slice_id), "gate_red", line)
            };
            red.map(tell).collect()
        }
        Event::Returned { slice_id, why, .. } => {
            vec![attempt(Some(slice_id), "returned", why.clone())]
        }
        Event::Refused { role, codes, .. } => {
            let line = format!("the report of the {role}: {}", codes.join(", "));
            vec![attempt(None, "refused", line)]
        }
        _ => Vec::new(),
    }
}

/// Every anchor of the brief and of the plan's evidence, with its verdict.
///
/// # Errors
/// As [`assemble`].
pub fn check(workspace: &Workspace) -> Result<Vec<CheckedAnchor>> {
    let (_, snapshot) = workspace.require()?;
    let mut checked: Vec<CheckedAnchor> = proofs(workspace, &snapshot)?
        .into_iter()
        .map(|proof| CheckedAnchor {
            id: format!("{}: {}", proof.slice_id, proof.criterion),
            place: "plan",
            now: (proof.verdict == Verdict::Moved).then(|| proof.anchor.clone()),
            anchor: proof.anchor,
            basis: proof.basis,
            required: true,
            verdict: proof.verdict,
            why: proof.why,
        })
        .collect();
    let Some(stored) = &snapshot.brief else {
        return Ok(checked);
    };
    let head = workspace.repo.head()?;
    let receipts = Receipts::of(&workspace.repo)?;
    let sources = Sources {
        repo: &workspace.repo,
        receipts: &receipts,
        head: &head,
        config: workspace.config()?,
        runner: None,
        workspace,
        accepted: BTreeSet::new(),
        known: Default::default(),
    };
    let gates = workspace.list_gate_commands(&snapshot)?;
    for entry in &stored.entries {
        let mut add = |anchor: &str, basis, required, answer: AnchorAnswer| {
            checked.push(CheckedAnchor {
                id: entry.id.clone(),
                place: entry.line.slot.id(),
                anchor: anchor.to_owned(),
                basis,
                required,
                verdict: answer.verdict,
                why: answer.why,
                now: answer.now,
            });
        };
        let tail = &entry.line.tail;
        if let Some((basis, _)) = entry.line.proof {
            let answer = sources.recheck(tail, basis, entry.stamp.as_ref(), &gates)?;
            add(tail, basis, true, answer);
            continue;
        }
        for anchor in mentions(tail) {
            let Ok(parsed) = Anchor::parse(&anchor) else {
                continue;
            };
            let basis = parsed.basis();
            let answer = sources.recheck(&anchor, basis, None, &gates)?;
            add(&anchor, basis, false, answer);
        }
    }
    Ok(checked)
}

// The file that holds the brief (`CONTINUE.md`): the bytes that are printed, with one newline at the end. Only a brief
// is overwritten.

/// Writes a brief to `path`, or to `CONTINUE.md` if `path` is empty. Returns the path relative to the worktree.
///
/// # Errors
/// A path outside the worktree, an existing file that is not a brief, or a file that cannot be written.
pub fn write_brief(workspace: &Workspace, path: &str, text: &str) -> Result<String> {
    let path = match path {
        "" => BRIEF_FILE,
        path => path,
    };
    let root = workspace.repo.root();
    let text = format!("{text}\n");
    match read_text_file(root, path)? {
        Some(there) if there == text => {}
        Some(there) if !there.trim().is_empty() && !there.starts_with("## Task\n") => {
            return Err(Refusal::new(
                Code::PathUnsafe,
                format!("`{path}` is not a brief and would be overwritten"),
            )
            .into());
        }
        _ => write_text_file(root, path, &text)?,
    }
    Ok(path.to_owned())
}

/// Writes the file if the settings want it kept in step with the brief.
///
/// # Errors
/// As [`write_brief`]; a brief that cannot be assembled.
pub fn follow_brief(workspace: &Workspace) -> Result<Option<String>> {
    if workspace.config()?.brief.sync != BriefSync::Always {
        return Ok(None);
    }
    let whole = assemble(workspace)?;
    write_brief(workspace, "", &whole.within(Some(DEFAULT_BYTES)).text).map(Some)
}
