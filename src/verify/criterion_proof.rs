//! The proof of each criterion of a done slice: looked up, and with `--rerun` run again, at HEAD and with `--history`
//! also at each slice's head and basis.

use crate::anchor::Anchor;
use crate::init::plans::Worth;
use crate::measure::GateRuns;
use crate::measure::{Claim, Reran};
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_protocol::machine::Verdict;
use cook_protocol::model::{Accepted, Basis, EvidenceRecord};
use std::cell::OnceCell;

/// Verdict on the proof of a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdict {
    /// Its gate or test ran again in a new clean room and came out the same.
    Reproduced,
    /// It was looked up in the code, or in what ran here at this tree, and is true.
    Holds,
    /// It rests on what somebody said or a log holds. It fits the log, and nobody looked it up.
    Recorded,
    /// It comes out another way than it is on record.
    Differs,
    /// It can be neither looked up nor run here.
    NotReproducible,
    /// What it rests on is gone.
    Lost,
}

impl ProofVerdict {
    /// The word in answers.
    pub fn id(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Holds => "holds",
            Self::Recorded => "recorded",
            Self::Differs => "differs",
            Self::NotReproducible => "not_reproducible",
            Self::Lost => "lost",
        }
    }

    /// Whether the proof does not hold any more.
    pub fn is_lost(self) -> bool {
        matches!(self, Self::Differs | Self::Lost)
    }
}

/// A criterion of a done slice, with the verdict on its proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Criterion {
    /// ID of the slice.
    pub slice: String,
    /// Text of the criterion.
    pub text: String,
    /// Anchor of the proof; null if no proof is on record.
    pub anchor: Option<String>,
    /// Verdict on the proof.
    pub verdict: ProofVerdict,
    /// Reason for the verdict.
    pub why: String,
    /// Full ID of the commit at which the proof was checked; null if it was not checked at a commit.
    pub at: Option<String>,
}

impl Criterion {
    /// The finding, if the proof does not stand. `shallow` tells whether the clone lacks a part of the history.
    pub(super) fn finding(&self, shallow: bool) -> Option<Finding> {
        let code = match self.verdict {
            ProofVerdict::Reproduced | ProofVerdict::Holds | ProofVerdict::Recorded => return None,
            ProofVerdict::Differs => Code::CriterionDiffers,
            ProofVerdict::NotReproducible if shallow => Code::HistoryShallow,
            ProofVerdict::NotReproducible => Code::ProofNotReproducible,
            ProofVerdict::Lost if self.anchor.is_none() => Code::EvidenceImported,
            ProofVerdict::Lost => Code::ProofBroken,
        };
        let what = match &self.anchor {
            Some(anchor) => format!("`{}` rests on {anchor}: {}", self.text, self.why),
            None => format!("`{}`: {}", self.text, self.why),
        };
        Some(Finding::new(code, what).at(self.slice.clone()))
    }
}

/// Where gates and tests run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rerun {
    /// Nowhere: kept results of this machine's runs count.
    No,
    /// At HEAD and at each slice's head.
    Slices,
    /// At HEAD only.
    Head,
}

/// The kind of thing that a proof rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text in the repository.
    Code,
    /// The result of a command.
    Command,
    /// The words of a person.
    Word,
}

pub(super) fn find_kind(anchor: &Anchor) -> Kind {
    match anchor {
        Anchor::Test(_) | Anchor::Command { .. } | Anchor::Receipt(_) => Kind::Command,
        Anchor::User { .. } => Kind::Word,
        Anchor::Lines { .. }
        | Anchor::Symbol { .. }
        | Anchor::Doc { .. }
        | Anchor::Gone { .. }
        | Anchor::Entry(_)
        | Anchor::Commit(_) => Kind::Code,
    }
}

/// A criterion of a done slice, or a dropped one, with the recorded proof.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub slice_id: String,
    pub criterion: String,
    pub record: Option<EvidenceRecord>,
}

impl Asked {
    /// The question about the proof at HEAD.
    fn question(&self, snapshot: &Snapshot) -> AnchorQuestion {
        match (snapshot.plan.slice(&self.slice_id), &self.record) {
            (Some(slice), Some(record)) => AnchorQuestion::ask_stored(slice, record),
            _ => AnchorQuestion {
                slice_id: self.slice_id.clone(),
                criterion: self.criterion.clone(),
                anchor: String::new(),
                basis: Basis::Observed,
                required: Required::AtHead,
            },
        }
    }
}

/// The criteria of done slices, or of one of them, with their proofs.
fn list_asked(snapshot: &Snapshot, slice: Option<&str>) -> Vec<Asked> {
    let slices = snapshot.plan.candidate_slices.iter().filter(|known| {
        known.status == SliceStatus::Done && slice.is_none_or(|slice| known.slice_id == slice)
    });
    slices.flat_map(|slice| list_criteria(slice)).collect()
}

/// The criteria of a slice, including those that were dropped with proof.
pub(super) fn list_criteria(slice: &Slice) -> Vec<Asked> {
    let records = || slice.evidence.iter().filter_map(Evidence::record);
    let asked = |criterion: &String, record: Option<&EvidenceRecord>| Asked {
        slice_id: slice.slice_id.clone(),
        criterion: criterion.clone(),
        record: record.cloned(),
    };
    let stated = &slice.acceptance_criteria;
    let dropped = records().filter(|record| !stated.contains(&record.criterion));
    let dropped = dropped.map(|record| asked(&record.criterion, Some(record)));
    let stated = stated.iter().map(|criterion| {
        let record = records().find(|record| record.criterion == *criterion);
        asked(criterion, record)
    });
    stated.chain(dropped).collect()
}

/// Judges the criteria of done slices at a commit.
pub(super) struct Judge<'a> {
    workspace: &'a Workspace,
    snapshot: &'a Snapshot,
    at: &'a Head,
    rerun: Rerun,
    /// The receipts in the log, read when first needed.
    receipts: OnceCell<BTreeMap<String, Receipt>>,
}

/// The result for a criterion: verdict, reason, and commit.
type Found = (ProofVerdict, String, Option<String>);

/// A criterion that is being judged.
struct Case {
    asked: Asked,
    question: AnchorQuestion,
    /// The claim to run again; `None` if no command proves it.
    claim: Option<Claim>,
    kind: Kind,
    found: Option<Found>,
}

impl<'a> Judge<'a> {
    /// A judge for that commit.
    pub fn new(
        workspace: &'a Workspace,
        snapshot: &'a Snapshot,
        at: &'a Head,
        rerun: Rerun,
    ) -> Self {
        Self {
            workspace,
            snapshot,
            at,
            rerun,
            receipts: OnceCell::new(),
        }
    }

    /// The verdicts, in the order of the plan.
    pub fn criteria(&self, slice: Option<&str>) -> Result<Vec<Criterion>> {
        self.judge(list_asked(self.snapshot, slice))
    }

    /// The verdicts for these criteria.
    pub fn judge(&self, asked: Vec<Asked>) -> Result<Vec<Criterion>> {
        let cases = asked.into_iter().map(|asked| self.case(asked));
        let mut cases = cases.collect::<Result<Vec<Case>>>()?;
        if self.rerun != Rerun::No {
            self.run_again_here(&mut cases)?;
        }
        if self.rerun == Rerun::Slices {
            self.run_again(&mut cases)?;
        }
        let open = cases.iter().filter(|case| case.found.is_none());
        let questions: BTreeSet<AnchorQuestion> = open.map(|case| case.question.clone()).collect();
        let answers = self.workspace.look_up(self.snapshot, self.at, &questions)?;
        let mut criteria = Vec::new();
        for mut case in cases {
            let (verdict, why, at) = match (case.found.take(), answers.get(&case.question.key())) {
                (Some(found), _) => found,
                (None, Some(answer)) => {
                    let (verdict, why) = self.look(&case, answer)?;
                    (verdict, why, self.at.commit.clone())
                }
                (None, None) => {
                    let why = "it was not measured".to_owned();
                    (ProofVerdict::NotReproducible, why, None)
                }
            };
            criteria.push(Criterion {
                slice: case.asked.slice_id,
                text: case.asked.criterion,
                anchor: case.asked.record.map(|record| record.anchor),
                verdict,
                why,
                at,
            });
        }
        Ok(criteria)
    }

    fn case(&self, asked: Asked) -> Result<Case> {
        let mut case = Case {
            question: asked.question(self.snapshot),
            claim: None,
            kind: Kind::Code,
            found: None,
            asked,
        };
        let Some(record) = &case.asked.record else {
            let why = "it has no evidence that can be checked".to_owned();
            case.found = Some((ProofVerdict::Lost, why, None));
            return Ok(case);
        };
        let anchor = match (&record.retired, Anchor::parse(&record.anchor)) {
            (Some(reason), _) => {
                let why = format!("the user gave up its proof: {reason}");
                case.found = Some((ProofVerdict::Recorded, why, None));
                return Ok(case);
            }
            (None, Err(why)) => {
                case.found = Some((ProofVerdict::Lost, why.0, None));
                return Ok(case);
            }
            (None, Ok(anchor)) => anchor,
        };
        case.kind = find_kind(&anchor);
        let command = match &anchor {
            _ if case.kind != Kind::Command => return Ok(case),
            Anchor::Command { command, .. } => Some(command.clone()),
            _ => self.receipt(record)?.map(|receipt| receipt.command.clone()),
        };
        // A receipt that the log does not hold names no command.
        if command.is_some() || !matches!(anchor, Anchor::Receipt(_)) {
            case.claim = Some(Claim {
                slice: case.asked.slice_id.clone(),
                anchor: record.anchor.clone(),
                command,
                kept: Some(record.copy_kept()),
            });
        }
        Ok(case)
    }

    /// The receipt in the log that a proof names.
    fn receipt(&self, record: &EvidenceRecord) -> Result<Option<&Receipt>> {
        let id = match Anchor::parse(&record.anchor) {
            Ok(Anchor::Receipt(id)) => Some(id),
            _ => record.receipt.clone(),
        };
        let Some(id) = id else { return Ok(None) };
        let receipts = match self.receipts.get() {
            Some(receipts) => receipts,
            None => {
                let read = self.workspace.store()?.receipts()?;
                self.receipts.get_or_init(|| read)
            }
        };
        Ok(receipts.get(&id))
    }

    /// Whether nothing in this clone supports or contradicts the proof, and the log says that it held.
    fn is_recorded(&self, asked: Asked, answer: &AnchorAnswer) -> Result<bool> {
        let case = self.case(asked)?;
        Ok(case.found.is_none() && self.look(&case, answer)?.0 == ProofVerdict::Recorded)
    }

    /// Judges by kept results.
    fn look(&self, case: &Case, answer: &AnchorAnswer) -> Result<(ProofVerdict, String)> {
        let why = || answer.why.clone();
        Ok(match (case.kind, answer.verdict) {
            (_, Verdict::Malformed) => (ProofVerdict::Lost, why()),
            (Kind::Word, Verdict::Missing | Verdict::Changed) => (ProofVerdict::Lost, why()),
            (Kind::Word, _) => (ProofVerdict::Recorded, why()),
            (_, Verdict::Verified) => (ProofVerdict::Holds, why()),
            (_, Verdict::Moved) => {
                let now = answer.now.as_deref().unwrap_or(&answer.target);
                (ProofVerdict::Holds, format!("{}, now {now}", answer.why))
            }
            (_, Verdict::Changed) => (ProofVerdict::Differs, why()),
            (Kind::Code, Verdict::Missing) => (ProofVerdict::Lost, why()),
            (Kind::Code, Verdict::Stale | Verdict::Unverifiable) => {
                (ProofVerdict::NotReproducible, self.with_history(why()))
            }
            (Kind::Command, Verdict::Missing) if self.has_looked(case, answer)? => {
                (ProofVerdict::Differs, why())
            }
            (Kind::Command, _) => self.by_log(case)?,
        })
    }

    /// Whether the kept results can show that the proof is missing. An output that does not name a test shows nothing
    /// as long as the gate that named it, according to the log, has not run here at this tree.
    fn has_looked(&self, case: &Case, answer: &AnchorAnswer) -> Result<bool> {
        let (Some(claim), None) = (&case.claim, &answer.receipt) else {
            return Ok(true);
        };
        let command = match (Anchor::parse(&claim.anchor), &claim.command) {
            (Ok(Anchor::Receipt(_)), _) => return Ok(false),
            (Ok(Anchor::Test(_)), Some(command)) => command,
            _ => return Ok(true),
        };
        let tree = self.at.tree.as_deref().unwrap_or_default();
        let kept = Receipts::of(&self.workspace.repo)?;
        Ok(kept.find(command, tree)?.is_some())
    }

    /// The verdict by the log, for a proof about which this clone has no results.
    fn by_log(&self, case: &Case) -> Result<(ProofVerdict, String)> {
        let Some(record) = &case.asked.record else {
            return Ok((ProofVerdict::Lost, "it has no evidence".to_owned()));
        };
        let said = match self.receipt(record)? {
            Some(receipt) if receipt.has_passed() => format!(
                "a receipt of the log says that `{}` passed at {}",
                receipt.command,
                short(receipt.head_sha.as_deref().unwrap_or_default())
            ),
            Some(receipt) => {
                let why = format!("its receipt in the log {}", receipt.ending());
                return Ok((ProofVerdict::Lost, why));
            }
            None => {
                let of = short(&record.head_sha);
                format!("the log says that it was verified at {of}")
            }
        };
        let why = format!("{said}; it was not run here (`--rerun` runs it)");
        Ok((ProofVerdict::Recorded, why))
    }

    fn with_history(&self, why: String) -> String {
        match self.workspace.repo.is_shallow() {
            true => format!("history is shallow: {why}"),
            false => why,
        }
    }

    fn find_acceptance(&self, case: &Case) -> Option<&Accepted> {
        let ledger = self.snapshot.ledger.slices.get(&case.asked.slice_id)?;
        ledger.accepted.as_ref()
    }

    /// Runs the proofs at HEAD: its own tests, and the accepted versions of tests that have changed.
    fn run_again_here(&self, cases: &mut [Case]) -> Result<()> {
        let Some(head) = &self.at.commit else {
            return Ok(());
        };
        let due: Vec<usize> = (0..cases.len())
            .filter(|at| cases[*at].claim.is_some() && cases[*at].found.is_none())
            .collect();
        for (at, reran) in self.run_at(head, cases, &due)? {
            cases[at].found = Some(self.find_verdict(reran, head));
        }
        Ok(())
    }

    /// Runs the proofs at each slice's head too, and at its basis if only commands prove the slice.
    fn run_again(&self, cases: &mut [Case]) -> Result<()> {
        let by_more = cases.iter().filter(|case| case.kind != Kind::Command);
        let by_more: BTreeSet<String> = by_more.map(|case| case.asked.slice_id.clone()).collect();
        let mut by_commit: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (at, case) in cases.iter_mut().enumerate() {
            if !matches!(case.found, Some((ProofVerdict::Reproduced, ..))) {
                continue;
            }
            if let Some(claim) = &mut case.claim {
                claim.kept = None;
            }
            let accepted = self.find_acceptance(case);
            let stamped = case.asked.record.as_ref().map(|record| &record.head_sha);
            let head = accepted.map(|accepted| &accepted.head).or(stamped);
            let head = head.cloned().unwrap_or_default();
            let basis = accepted.map(|accepted| accepted.basis.clone());
            let basis = basis.filter(|_| !by_more.contains(&case.asked.slice_id));
            let mut missing = |of: &String, why: String| {
                let why = self.with_history(why);
                case.found = Some((ProofVerdict::NotReproducible, why, Some(of.clone())));
            };
            match self.workspace.repo.resolve(&head)? {
                Some(commit) => by_commit.entry(commit).or_default()[0].push(at),
                None => {
                    let of = short(&head);
                    missing(&head, format!("the slice's head {of} is not in this clone"));
                    continue;
                }
            }
            let Some(basis) = basis else { continue };
            match self.workspace.repo.resolve(&basis)? {
                Some(commit) => by_commit.entry(commit).or_default()[1].push(at),
                None => {
                    let of = short(&basis);
                    let why = format!(
                        "the slice's basis {of} is not in this clone, so it is unknown whether it is new"
                    );
                    missing(&basis, why);
                }
            }
        }
        let mut old = BTreeSet::new();
        for (commit, [those, before]) in &by_commit {
            let both: Vec<usize> = those.iter().chain(before).copied().collect();
            let mut reran = self.run_at(commit, cases, &both)?;
            let at_basis = reran.split_off(those.len());
            let is_old = |(at, reran): (usize, Reran)| (reran == Reran::Same).then_some(at);
            old.extend(at_basis.into_iter().filter_map(is_old));
            for (at, reran) in reran.into_iter().filter(|(_, reran)| *reran != Reran::Same) {
                cases[at].found = Some(self.find_verdict(reran, commit));
            }
        }
        // If all proofs of a slice gave the same result before the slice was begun, they do not prove it.
        let new = cases.iter().enumerate().filter(|(at, _)| !old.contains(at));
        let proven: BTreeSet<String> = new.map(|(_, case)| case.asked.slice_id.clone()).collect();
        for at in old {
            let case = &mut cases[at];
            if !proven.contains(&case.asked.slice_id) {
                let why = "it already came out the same at the slice's basis, and so did every other proof of the slice";
                let at = self.at.commit.clone();
                case.found = Some((ProofVerdict::Differs, why.to_owned(), at));
            }
        }
        Ok(())
    }

    /// Runs the proofs of these cases at a commit.
    fn run_at(&self, commit: &str, cases: &[Case], those: &[usize]) -> Result<Vec<(usize, Reran)>> {
        let claims = those.iter().filter_map(|at| cases[*at].claim.clone());
        let claims: Vec<Claim> = claims.collect();
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        let reran = self.workspace.rerun(self.snapshot, commit, &claims)?;
        Ok(those.iter().copied().zip(reran).collect())
    }

    fn find_verdict(&self, reran: Reran, commit: &str) -> Found {
        let (verdict, why) = match reran {
            Reran::Same => {
                let why = "it came out the same in a new clean room".to_owned();
                (ProofVerdict::Reproduced, why)
            }
            Reran::Differs(why) | Reran::Unsaid(why) => (ProofVerdict::Differs, why),
            Reran::No(why) => (ProofVerdict::NotReproducible, self.with_history(why)),
        };
        (verdict, why, Some(commit.to_owned()))
    }
}

/// Looks up the proof of done slices in kept results, and adds a finding for each criterion that lost it.
pub(super) fn check_proof(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<()> {
    let asked = list_asked(snapshot, None);
    let (with_record, without): (Vec<_>, Vec<_>) =
        asked.into_iter().partition(|asked| asked.record.is_some());
    for asked in without {
        let what = format!("`{}` has no evidence that can be checked", asked.criterion);
        outcome.find_at(Code::EvidenceImported, what, &asked.slice_id);
    }
    let questions = with_record.iter().map(|asked| asked.question(snapshot));
    let questions: BTreeSet<AnchorQuestion> = questions.collect();
    if questions.is_empty() {
        return Ok(());
    }
    let count = questions.len();
    let runs = match workspace.caches {
        Caches::Kept => GateRuns::Kept,
        Caches::Empty => GateRuns::Allowed,
    };
    let question = Question::Anchors {
        asked: questions,
        ends: false,
    };
    let facts = workspace.measure(Some(snapshot), question, runs)?;
    let head = workspace.repo.head()?;
    let judge = Judge::new(workspace, snapshot, &head, Rerun::No);
    let (mut verified, mut recorded) = (0, 0);
    for asked in with_record {
        let question = asked.question(snapshot);
        let Some(answer) = facts.anchors.get(&question.key()) else {
            continue;
        };
        let code = match answer.verdict {
            Verdict::Verified | Verdict::Moved => {
                verified += 1;
                continue;
            }
            Verdict::Changed | Verdict::Stale => Code::ProofStale,
            // It ran on another machine.
            _ if judge.is_recorded(asked, answer)? => {
                recorded += 1;
                continue;
            }
            Verdict::Missing | Verdict::Unverifiable | Verdict::Malformed => Code::ProofBroken,
        };
        let (text, anchor, why) = (&question.criterion, &question.anchor, &answer.why);
        let what = format!("`{text}` rests on {anchor}: {why}");
        outcome.find_at(code, what, &question.slice_id);
    }
    let elsewhere = match recorded {
        0 => String::new(),
        recorded => format!(", {recorded} only according to the log"),
    };
    outcome.add_checked(format!(
        "{verified} of {} proofs of done slices hold{elsewhere}",
        count
    ));
    Ok(())
}

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Outcome {
    /// One line for each thing that was checked.
    pub checked: Vec<String>,
    pub findings: Vec<Finding>,
}

impl Outcome {
    pub(super) fn find(&mut self, code: Code, what: impl Into<String>) {
        self.findings.push(Finding::new(code, what));
    }

    pub(super) fn find_at(&mut self, code: Code, what: impl Into<String>, place: &str) {
        self.findings.push(Finding::new(code, what).at(place));
    }

    pub(super) fn add_checked(&mut self, what: impl Into<String>) {
        self.checked.push(what.into());
    }

    /// Whether there is a finding with this code.
    pub fn has_found(&self, code: Code) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    pub(super) fn forget(&mut self, code: Code) {
        self.findings.retain(|finding| finding.code != code);
    }

    /// Sorts the findings, worst first, and removes duplicates.
    pub fn sort(mut self) -> Self {
        self.findings
            .sort_by(|a, b| b.severity().cmp(&a.severity()).then_with(|| a.cmp(b)));
        self.findings.dedup();
        let mut seen = BTreeSet::new();
        self.checked.retain(|line| seen.insert(line.clone()));
        self
    }

    /// The state in the log, unless the log is damaged: then its votes and proofs cannot be believed.
    pub(super) fn sound_log(&self, workspace: &Workspace) -> Result<Option<Snapshot>> {
        match self.has_found(Code::LogDamaged) {
            true => Ok(None),
            false => Ok(workspace.current()?.1),
        }
    }

    /// Adds the finding that the log is missing, so that nothing is known of slices and votes.
    pub(super) fn miss_log(&mut self, workspace: &Workspace) {
        let why = match (&workspace.log_from, &workspace.store) {
            (Some(source), _) => {
                let of = match source.reference.as_str() {
                    "" => "that names this commit (no branch is checked out: `--branch BRANCH` names one)".to_owned(),
                    branch => format!("for branch `{branch}`, and none that names this commit"),
                };
                format!("`{}` holds no log {of}", source.shown)
            }
            (None, Some(_)) => {
                "the log of this repository holds nothing for this worktree".to_owned()
            }
            (None, None) => "there is no log in this clone".to_owned(),
        };
        let next = match workspace.log_from {
            Some(_) => "; `cook push` in the clone where the work was done puts it there",
            None => "",
        };
        let what = format!("{why}, so no report, proof or vote can be recomputed{next}");
        self.find(Code::LogMissing, what);
    }
}

// The proofs behind the ticks of a plan that was taken in.

/// The state of each slice's proof at HEAD, by its id, for the ticks of a plan that was taken in.
///
/// # Errors
/// A failing git, or a log that cannot be read.
pub fn measure_worths(
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<BTreeMap<String, Worth>> {
    let head = workspace.repo.head()?;
    let judge = Judge::new(workspace, snapshot, &head, Rerun::No);
    let criteria = judge.criteria(None)?;
    let mut worths = BTreeMap::new();
    for slice in &snapshot.plan.candidate_slices {
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        // It was done before, and is open again.
        let was_accepted = known.is_some_and(|known| known.last_head.is_some());
        let worth = match find_criteria(&judge, slice, &criteria)? {
            None if was_accepted => Worth::Lost("it was opened again".to_owned()),
            None => Worth::Never,
            Some(criteria) => weigh(&criteria),
        };
        worths.insert(slice.slice_id.clone(), worth);
    }
    Ok(worths)
}

/// The worst of its criteria.
fn weigh(criteria: &[Criterion]) -> Worth {
    let find = |is_wanted: fn(ProofVerdict) -> bool| {
        let found = criteria.iter().find(|one| is_wanted(one.verdict));
        found.map(|one| format!("`{}`: {}", one.text, one.why))
    };
    if let Some(why) = find(ProofVerdict::is_lost) {
        return Worth::Lost(why);
    }
    let untold = find(|it| it == ProofVerdict::NotReproducible);
    let none = || {
        criteria
            .is_empty()
            .then(|| "it has no criterion".to_owned())
    };
    untold.or_else(none).map_or(Worth::Holds, Worth::Untold)
}

/// The criteria of a slice that was built here or shown to be there; `None` if it is open.
fn find_criteria(
    judge: &Judge,
    slice: &Slice,
    done: &[Criterion],
) -> Result<Option<Vec<Criterion>>> {
    if slice.is_satisfied() {
        return judge.judge(list_criteria(slice)).map(Some);
    }
    let own = done.iter().filter(|one| one.slice == slice.slice_id);
    Ok((slice.status == SliceStatus::Done).then(|| own.cloned().collect()))
}

/// Counts how many of the tasks that the source calls done hold: they were built here, or shown to be there.
pub(super) fn count_ticks(
    judge: &Judge,
    snapshot: &Snapshot,
    criteria: &[Criterion],
    outcome: &mut Outcome,
) -> Result<()> {
    let Some(source) = &snapshot.ledger.plan_source else {
        return Ok(());
    };
    let (mut ticked, mut bare) = (0, Vec::new());
    for slice in &snapshot.plan.candidate_slices {
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        let from = known.and_then(|known| known.source.as_ref());
        if !from.is_some_and(|from| from.ticked) {
            continue;
        }
        ticked += 1;
        let own = find_criteria(judge, slice, criteria)?.unwrap_or_default();
        if own.is_empty() || own.iter().any(|one| one.verdict.is_lost()) {
            bare.push(format!("`{}`", slice.slice_id));
        }
    }
    if ticked == 0 {
        return Ok(());
    }
    let rest = match bare.is_empty() {
        true => String::new(),
        false => format!("; {} without proof", bare.join(", ")),
    };
    let held = ticked - bare.len();
    let count = count_noun(ticked, "tick");
    outcome.add_checked(format!("{held} of {count} in {} hold{rest}", source.path));
    Ok(())
}
