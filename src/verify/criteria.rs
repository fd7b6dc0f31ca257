//! Each criterion of a done slice: its proof looked up again, and with `--rerun` run again.

use super::asked::{Asked, list_asked};
use super::criterion::{Criterion, ProofVerdict};
use crate::anchor::Anchor;
use crate::measure::Claim;
use crate::service::Workspace;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, Head, Verdict, short};
use cook_core::model::{Receipt, Snapshot};
use cook_store::receipt::Receipts;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Where gates and tests run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rerun {
    /// Nowhere: what is kept of this machine's runs counts.
    No,
    /// At each slice's head too.
    Slices,
    /// At HEAD alone.
    Head,
}

/// What kind of place a proof names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text of the repository.
    Code,
    /// What a command did.
    Command,
    /// What somebody said.
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

/// Judges the criteria of done slices, or of one, at a commit.
pub(super) struct Judge<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) snapshot: &'a Snapshot,
    pub(super) at: &'a Head,
    rerun: Rerun,
    /// The receipts that the log holds, read when one is asked for.
    receipts: OnceCell<BTreeMap<String, Receipt>>,
}

/// A criterion that is being judged.
pub(super) struct Case {
    pub asked: Asked,
    pub question: AnchorQuestion,
    /// Where its command is; none = its proof is not a command's.
    pub claim: Option<Claim>,
    pub kind: Kind,
    pub found: Option<(ProofVerdict, String, Option<String>)>,
}

impl<'a> Judge<'a> {
    /// At that commit.
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
    pub fn criteria(&self, slice: Option<&str>) -> Result<Vec<Criterion>, Failure> {
        self.judge(list_asked(self.snapshot, slice))
    }

    /// The verdicts of these.
    pub fn judge(&self, asked: Vec<Asked>) -> Result<Vec<Criterion>, Failure> {
        let mut cases = Vec::new();
        for asked in asked {
            cases.push(self.case(asked)?);
        }
        match self.rerun {
            Rerun::No => {}
            Rerun::Head => self.run_again_here(&mut cases)?,
            Rerun::Slices => self.run_again(&mut cases)?,
        }
        let open = cases.iter().filter(|case| case.found.is_none());
        let questions: BTreeSet<AnchorQuestion> = open.map(|case| case.question.clone()).collect();
        let answers = self.workspace.look_up(self.snapshot, self.at, &questions)?;
        let mut criteria = Vec::new();
        for case in cases {
            let found = match (case.found.clone(), answers.get(&case.question.key())) {
                (Some(found), _) => found,
                (None, Some(answer)) => {
                    let (verdict, why) = self.look(&case, answer)?;
                    (verdict, why, self.at.commit.clone())
                }
                (None, None) => {
                    let why = "nobody answered for it".to_owned();
                    (ProofVerdict::NotReproducible, why, None)
                }
            };
            let (verdict, why, at) = found;
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

    fn case(&self, asked: Asked) -> Result<Case, Failure> {
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
        if let Some(reason) = &record.retired {
            let why = format!("the user gave up its proof: {reason}");
            case.found = Some((ProofVerdict::Recorded, why, None));
            return Ok(case);
        }
        let anchor = match Anchor::parse(&record.anchor) {
            Ok(anchor) => anchor,
            Err(why) => {
                case.found = Some((ProofVerdict::Lost, why.0, None));
                return Ok(case);
            }
        };
        case.kind = find_kind(&anchor);
        let receipt = match &anchor {
            Anchor::Receipt(id) => Some(id),
            _ => record.receipt.as_ref(),
        };
        if case.kind == Kind::Command {
            let command = match (&anchor, receipt) {
                (Anchor::Command { command, .. }, _) => Some(command.clone()),
                (_, Some(id)) => self.receipt(id)?.map(|receipt| receipt.command.clone()),
                (_, None) => None,
            };
            // A receipt that the log does not hold names no command.
            if command.is_none() && matches!(anchor, Anchor::Receipt(_)) {
                return Ok(case);
            }
            case.claim = Some(Claim {
                slice: case.asked.slice_id.clone(),
                anchor: record.anchor.clone(),
                command,
                kept: Some(record.copy_kept()),
            });
        }
        Ok(case)
    }

    /// A receipt of the log's.
    fn receipt(&self, id: &str) -> Result<Option<&Receipt>, Failure> {
        let receipts = match self.receipts.get() {
            Some(receipts) => receipts,
            None => {
                let read = self.workspace.store()?.receipts()?;
                self.receipts.get_or_init(|| read)
            }
        };
        Ok(receipts.get(id))
    }

    /// Nothing here says anything for or against a proof, and the log says that it held.
    pub fn is_recorded(&self, asked: Asked, answer: &AnchorAnswer) -> Result<bool, Failure> {
        let case = self.case(asked)?;
        Ok(case.found.is_none() && self.look(&case, answer)?.0 == ProofVerdict::Recorded)
    }

    /// By what is kept.
    fn look(&self, case: &Case, answer: &AnchorAnswer) -> Result<(ProofVerdict, String), Failure> {
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

    /// Whether what ran here can say that the proof is not there: an output that does not name a test
    /// says nothing while the gate that named it, by the log, has not run here at this tree.
    fn has_looked(&self, case: &Case, answer: &AnchorAnswer) -> Result<bool, Failure> {
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

    /// Of what nothing here says anything: what the log says.
    fn by_log(&self, case: &Case) -> Result<(ProofVerdict, String), Failure> {
        let Some(record) = &case.asked.record else {
            return Ok((ProofVerdict::Lost, "it has no evidence".to_owned()));
        };
        let id = match Anchor::parse(&record.anchor) {
            Ok(Anchor::Receipt(id)) => Some(id),
            _ => record.receipt.clone(),
        };
        let receipt = match &id {
            Some(id) => self.receipt(id)?,
            None => None,
        };
        let here = "not run here: `--rerun` does";
        Ok(match receipt {
            Some(receipt) if receipt.has_passed() => {
                let of = receipt.head_sha.as_deref().unwrap_or_default();
                let why = format!(
                    "a receipt of the log says that `{}` passed at {}; {here}",
                    receipt.command,
                    short(of)
                );
                (ProofVerdict::Recorded, why)
            }
            Some(receipt) => {
                let why = format!("its receipt in the log {}", receipt.ending());
                (ProofVerdict::Lost, why)
            }
            None => {
                let of = short(&record.head_sha);
                let why = format!("the log says that it was verified at {of}; {here}");
                (ProofVerdict::Recorded, why)
            }
        })
    }

    /// The commit that a slice was accepted at.
    pub(super) fn find_head(&self, asked: &Asked) -> String {
        let ledger = self.snapshot.ledger.slices.get(&asked.slice_id);
        let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
        let stamped = asked.record.as_ref().map(|record| record.head_sha.clone());
        accepted
            .map(|accepted| accepted.head.clone())
            .or(stamped)
            .unwrap_or_default()
    }

    pub(super) fn with_history(&self, why: String) -> String {
        match self.workspace.repo.is_shallow() {
            true => format!("history is shallow: {why}"),
            false => why,
        }
    }
}
