//! What criteria rest on, run again at one commit, and what they are worth by that alone.

use super::gates::{ending, explain_untrusted};
use super::world::World;
use crate::anchor::{Anchor, Sources};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::{AnchorAnswer, AnchorQuestion, GateRun, Head, Required};
use cook_protocol::model::{GateSpec, KeptProof, Place, Verdict};
use cook_repo::receipt::{merge_gates, words};
use std::collections::{BTreeMap, BTreeSet};

/// A criterion whose proof is a command's.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Its slice.
    pub slice: String,
    /// Where its proof is.
    pub anchor: String,
    /// The command that proved it; none = whichever of the slice's gates names it.
    pub command: Option<String>,
    /// What it showed when it was accepted; none where that is not asked.
    pub kept: Option<KeptProof>,
}

/// What came of running a claim's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reran {
    /// It came out the same.
    Same,
    /// It came out another way.
    Differs(String),
    /// The commands are green, and none says this.
    Unsaid(String),
    /// It was not run.
    No(String),
}

impl World<'_> {
    /// Runs what the claims rest on at a commit (full id), in a new clean room where this process did not run it
    /// there already, and says of each what came of it. A claim names a gate; it is never run because a claim names it.
    ///
    /// # Errors
    /// When the repository cannot be read, or cook is interrupted.
    pub(crate) fn rerun(&self, commit: &str, claims: &[Claim]) -> Result<Vec<Reran>, Failure> {
        let (receipts, trust) = self.gates_here()?;
        receipts.believe_own_alone();
        let mut refused: BTreeMap<String, String> = BTreeMap::new();
        let mut due: Vec<GateSpec> = Vec::new();
        let mut of_claims = Vec::new();
        for claim in claims {
            let gates = self.list_gates_for(claim);
            for gate in &gates {
                let no = explain_untrusted(trust, &gate.run)
                    .or_else(|| self.explain_untrusted_setup(trust));
                if let Some(why) = no {
                    refused.insert(gate.run.clone(), why);
                } else if !due.iter().any(|known| known.run == gate.run) {
                    due.push(gate.clone());
                }
            }
            of_claims.push(gates);
        }
        let runs = match self.run_trusted(commit, None, due) {
            Ok(runs) => runs,
            Err(failure) if failure.code == Code::NotReproducible => {
                return Ok(vec![Reran::No(failure.message); claims.len()]);
            }
            Err(failure) => return Err(failure),
        };
        let head = Head {
            commit: Some(commit.to_owned()),
            tree: Some(self.repo.find_tree(commit)?),
            branch: None,
        };
        let runner = self.runner()?;
        let sources = self.sources(&head, Some(&runner))?;
        let mut answers = Vec::new();
        for (claim, gates) in claims.iter().zip(of_claims) {
            answers.push(answer(claim, &gates, &refused, &runs, &sources)?);
        }
        Ok(answers)
    }

    /// What anchors are worth at a commit, by what is kept: no gate is run for them. A claim whose basis is not
    /// here is not answered.
    ///
    /// # Errors
    /// When the repository or a receipt cannot be read.
    pub(crate) fn look_up(
        &self,
        head: &Head,
        questions: &BTreeSet<AnchorQuestion>,
    ) -> Result<BTreeMap<String, AnchorAnswer>, Failure> {
        let sources = self.sources(head, None)?;
        let mut answers = BTreeMap::new();
        for question in questions {
            if let Required::Claimed { basis, .. } = &question.required
                && self.repo.resolve(basis)?.is_none()
            {
                continue;
            }
            let answer = sources.judge(question, &self.list_gates(&question.slice_id))?;
            answers.insert(question.key(), answer);
        }
        Ok(answers)
    }

    /// The gates that may prove a claim, as the settings have them now.
    fn list_gates_for(&self, claim: &Claim) -> Vec<GateSpec> {
        let own = self.slice_commands.get(&claim.slice);
        let own: Vec<String> = own.into_iter().flatten().cloned().collect();
        let mut gates = merge_gates(self.config.gate_specs(), &own);
        gates.retain(|gate| gate.place == Place::CleanRoom);
        let named = claim.command.as_deref().and_then(|named| words(named).ok());
        if let Some(named) = named {
            gates.retain(|gate| words(&gate.run).is_ok_and(|words| words == named));
        }
        for gate in &mut gates {
            gate.must_fail_at_basis = false;
        }
        gates
    }
}

fn answer(
    claim: &Claim,
    gates: &[GateSpec],
    refused: &BTreeMap<String, String>,
    runs: &[GateRun],
    sources: &Sources,
) -> Result<Reran, Failure> {
    if gates.is_empty() {
        return Ok(Reran::No(match &claim.command {
            Some(command) => format!("`{command}` is not a gate of this commit's settings"),
            None => "no gate of this commit's settings runs in a clean room".to_owned(),
        }));
    }
    let mut not_run = Vec::new();
    for gate in gates {
        if let Some(why) = refused.get(&gate.run) {
            not_run.push(why.clone());
            continue;
        }
        let run = runs.iter().find(|run| run.gate.run == gate.run);
        match run.map(|run| (run, run.problem.as_deref())) {
            None => not_run.push(format!("`{}` did not run", gate.run)),
            Some((run, Some(problem))) => {
                not_run.push(ending(&gate.name, run.receipt.as_ref(), Some(problem)));
            }
            Some((run, None)) if !run.has_passed() && claim.command.is_some() => {
                let why = ending(&gate.name, run.receipt.as_ref(), None);
                return Ok(Reran::Differs(why));
            }
            Some(_) => {}
        }
    }
    if not_run.len() == gates.len() {
        return Ok(Reran::No(not_run.join("; ")));
    }
    let anchor = match Anchor::parse(&claim.anchor) {
        Ok(Anchor::Receipt(_)) => return Ok(Reran::Same),
        Ok(anchor) => anchor,
        Err(why) => return Ok(Reran::Differs(why.0)),
    };
    let question = AnchorQuestion {
        slice_id: claim.slice.clone(),
        criterion: String::new(),
        anchor: claim.anchor.clone(),
        basis: anchor.basis(),
        required: match &claim.kept {
            Some(kept) => Required::Accepted(kept.clone()),
            None => Required::AtHead,
        },
    };
    let commands: Vec<String> = gates.iter().map(|gate| gate.run.clone()).collect();
    let found = sources.judge(&question, &commands)?;
    Ok(match found.verdict {
        Verdict::Verified => Reran::Same,
        // What was not run may say it.
        _ if !not_run.is_empty() => Reran::No(not_run.join("; ")),
        Verdict::Missing if found.receipt.is_none() => Reran::Unsaid(found.why),
        Verdict::Unverifiable if claim.kept.is_some() => Reran::No(found.why),
        _ => Reran::Differs(found.why),
    })
}
