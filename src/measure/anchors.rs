//! The present verdicts on anchors of criteria and of the brief.

use super::gates::{ending, explain_untrusted};
use super::world::World;
use crate::anchor::{Anchor, Sources};
use crate::prelude::*;
use crate::workspace::list_tests;
use cook_protocol::brief::{is_users, mentions, quotes};
use cook_protocol::machine::BriefFacts;
use cook_protocol::model::{BriefLine, BriefStanding, KeptProof, Place, Slot};
use cook_protocol::question::BriefQuestion;

impl World<'_> {
    /// Judges anchors, after running the trusted gates that they depend on and that have no receipt at HEAD's tree.
    pub(super) fn anchors(
        &self,
        asked: &BTreeSet<AnchorQuestion>,
        ends: bool,
    ) -> Result<BTreeMap<String, AnchorAnswer>> {
        let head = self.repo.head()?;
        let mut resting = BTreeSet::new();
        let (receipts, _) = self.gates_here()?;
        for question in asked {
            match Anchor::parse(&question.anchor) {
                Ok(Anchor::Test(_)) => {
                    let gates = self.list_gates(&question.slice_id);
                    resting.extend(gates.iter().filter_map(|gate| words(gate).ok()));
                }
                Ok(anchor @ (Anchor::Command { .. } | Anchor::Receipt(_))) => {
                    let command = match anchor {
                        Anchor::Command { command, .. } => Some(command),
                        Anchor::Receipt(id) => receipts.get(&id)?.map(|receipt| receipt.command),
                        _ => None,
                    };
                    let gates = self.list_gates(&question.slice_id);
                    let named = command.and_then(|command| words(&command).ok());
                    // A command is not run just because an anchor names it.
                    let is_gate = |named: &Vec<String>| {
                        gates
                            .iter()
                            .any(|gate| words(gate).is_ok_and(|gate| gate == *named))
                    };
                    resting.extend(named.filter(is_gate));
                }
                _ => {}
            }
        }
        if self.runs {
            // A result from the cache of an earlier commit must not end a project.
            let caches = if ends {
                Caches::Empty
            } else {
                self.workspace.caches
            };
            self.complete(&head, &resting, caches)?;
            // A result that a command already had at the basis is not new.
            let bases: BTreeSet<&str> = asked.iter().filter_map(find_basis).collect();
            for basis in bases {
                if let Some(commit) = self.repo.resolve(basis)? {
                    let tree = Some(self.repo.find_tree(&commit)?);
                    let then = Head {
                        tree,
                        commit: Some(commit),
                        branch: None,
                    };
                    self.complete(&then, &resting, self.workspace.caches)?;
                }
            }
        }
        let runner = match self.runs {
            true => Some(self.runner()?),
            false => None,
        };
        let sources = self.sources(&head, runner.as_ref())?;
        let mut answers = BTreeMap::new();
        for question in asked {
            let mut answer = sources.judge(question, &self.list_gates(&question.slice_id))?;
            let rests_on = match &answer.receipt {
                Some(id) if ends => receipts.get(id)?,
                _ => None,
            };
            let is_kept = rests_on.is_some_and(|receipt| receipt.caches != Caches::Empty);
            if is_kept && matches!(answer.verdict, Verdict::Verified | Verdict::Moved) {
                answer.verdict = Verdict::Stale;
                answer.why = "it cannot be run again without files of earlier runs".to_owned();
            }
            answers.insert(question.key(), answer);
        }
        Ok(answers)
    }

    pub(super) fn sources<'s>(
        &'s self,
        head: &'s Head,
        runner: Option<&'s Gates<'s>>,
    ) -> Result<Sources<'s>> {
        Ok(Sources {
            repo: self.repo,
            receipts: self.gates_here()?.0,
            head,
            config: self.config,
            runner,
            workspace: self.workspace,
            accepted: self.snapshot.map(list_tests).unwrap_or_default(),
            known: Default::default(),
        })
    }

    /// Checks the proof of done slices if HEAD moved. Uses kept results; runs gates only if `runs`, which is set where
    /// gates run at HEAD before judges are asked.
    pub(crate) fn standing(
        &self,
        seen: &str,
        asked: &BTreeSet<AnchorQuestion>,
        runs: bool,
    ) -> Result<BTreeMap<String, AnchorAnswer>> {
        let head = self.repo.head()?;
        if asked.is_empty() || head.commit.as_deref() == Some(seen) {
            return Ok(BTreeMap::new());
        }
        let runner = if runs { Some(self.runner()?) } else { None };
        let sources = self.sources(&head, runner.as_ref())?;
        let answers = asked.iter().map(|question| {
            let answer = sources.judge(question, &self.list_gates(&question.slice_id))?;
            Ok((question.key(), answer))
        });
        answers.collect()
    }

    /// Judges the brief's anchors by kept results: no gate is run for them.
    pub(super) fn brief(&self, question: &BriefQuestion) -> Result<BriefFacts> {
        let head = self.repo.head()?;
        let sources = self.sources(&head, None)?;
        let gates = self.every_gate();
        let mut facts = BriefFacts::default();
        for entry in &question.entries {
            let line = &entry.line;
            let Some((basis, _)) = line.proof else {
                if !is_users(&entry.by)
                    && let Some(standing) = judge_source(&sources, line, &gates)?
                {
                    facts.standings.insert(entry.id.clone(), standing);
                }
                continue;
            };
            let answer = sources.recheck(&line.tail, basis, entry.stamp.as_ref(), &gates)?;
            if answer.verdict == Verdict::Verified {
                continue;
            }
            if let Some(now) = answer
                .now
                .as_ref()
                .filter(|_| answer.verdict == Verdict::Moved)
            {
                let (_, stamp) = sources.stamp(now, basis, &gates)?;
                facts.followed.insert(entry.id.clone(), stamp);
            }
            facts.standings.insert(entry.id.clone(), standing(answer));
        }
        for (number, line) in question.lines.iter().enumerate() {
            let Some((basis, _)) = line.proof else {
                facts.stamps.push(None);
                if let Some(standing) = judge_source(&sources, line, &gates)? {
                    facts.unproved.insert(number, standing);
                }
                continue;
            };
            let (answer, stamp) = sources.stamp(&line.tail, basis, &gates)?;
            facts.stamps.push(Some(stamp));
            if answer.verdict != Verdict::Verified {
                facts.unproved.insert(number, standing(answer));
            }
        }
        let mut misquoted = BTreeSet::new();
        for (id, quote) in &question.messages {
            let answer = sources.judge_message(id, quote.as_deref())?;
            // A message that only a hook reported counts as nobody's word: it neither proves nor ends an entry.
            match answer.verdict {
                Verdict::Verified => facts.messages.insert(id.clone()),
                _ => misquoted.insert(id),
            };
        }
        facts.messages.retain(|id| !misquoted.contains(id));
        Ok(facts)
    }

    /// Runs the commands of the claims at a commit (full id), in a new clean room unless this process ran them there
    /// already, and returns the result for each claim. Only gates are run: a command is not run just because a claim
    /// names it.
    ///
    /// # Errors
    /// A repository that cannot be read, or an interruption.
    pub(crate) fn rerun(&self, commit: &str, claims: &[Claim]) -> Result<Vec<Reran>> {
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
        let runs = match self.run_trusted(commit, due) {
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

    /// The verdicts on anchors at a commit, by kept results: no gate is run for them. A claim whose basis is not in
    /// this clone has no answer.
    ///
    /// # Errors
    /// A repository or a receipt that cannot be read.
    pub(crate) fn look_up(
        &self,
        head: &Head,
        questions: &BTreeSet<AnchorQuestion>,
    ) -> Result<BTreeMap<String, AnchorAnswer>> {
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

    /// The gates that may prove a claim, according to the present settings.
    fn list_gates_for(&self, claim: &Claim) -> Vec<GateSpec> {
        let own: Vec<String> = self.slice_commands(Some(&claim.slice)).cloned().collect();
        let mut gates = merge_gates(self.config.gate_specs(), &own);
        gates.retain(|gate| gate.place == Place::CleanRoom);
        let named = claim.command.as_deref().and_then(|named| words(named).ok());
        if let Some(named) = named {
            gates.retain(|gate| words(&gate.run).is_ok_and(|words| words == named));
        }
        gates
    }
}

/// The basis of a claim that a command proves.
fn find_basis(question: &AnchorQuestion) -> Option<&str> {
    let is_command = || {
        let parsed = Anchor::parse(&question.anchor);
        matches!(parsed, Ok(Anchor::Command { .. } | Anchor::Receipt(_)))
    };
    match &question.required {
        Required::Claimed { basis, .. } if is_command() => Some(basis),
        _ => None,
    }
}

/// Why the source of a line does not support it: it misquotes a message of the user or, for a `forbid` line, none of
/// the places that it names exists. `None` if it supports the line.
fn judge_source(
    sources: &Sources,
    line: &BriefLine,
    gates: &[String],
) -> Result<Option<BriefStanding>> {
    if !matches!(line.slot, Slot::Forbid | Slot::Learned) {
        return Ok(None);
    }
    let source = &line.tail;
    for quoted in quotes(source) {
        for words in std::iter::once(None).chain(quoted.words.iter().map(Some)) {
            let answer = sources.judge_message(&quoted.id, words.map(String::as_str))?;
            if answer.verdict == Verdict::Missing {
                return Ok(Some(standing(answer)));
            }
        }
    }
    if line.slot != Slot::Forbid {
        return Ok(None);
    }
    let mut standing = BriefStanding {
        verdict: Verdict::Unverifiable,
        why: "it names no place and no message of the user's".to_owned(),
        now: None,
    };
    for named in mentions(source) {
        let Ok(anchor) = Anchor::parse(&named) else {
            continue;
        };
        let answer = sources.recheck(&named, anchor.basis(), None, gates)?;
        if answer.verdict == Verdict::Verified {
            return Ok(None);
        }
        standing = self::standing(answer);
    }
    Ok(Some(standing))
}

fn standing(answer: AnchorAnswer) -> BriefStanding {
    BriefStanding {
        verdict: answer.verdict,
        why: answer.why,
        now: answer.now,
    }
}

// The commands behind criteria, run again at one commit, and the verdicts by these runs alone.

/// A criterion that a command proves.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Its slice.
    pub slice: String,
    /// The anchor of its proof.
    pub anchor: String,
    /// The command that proved it; `None` for any gate of the slice that names it.
    pub command: Option<String>,
    /// The proof as it was accepted; `None` if it is not compared with that.
    pub kept: Option<KeptProof>,
}

/// The result of running a claim's command again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reran {
    /// The result is the same.
    Same,
    /// The result differs.
    Differs(String),
    /// The commands are green, but none shows the claim.
    Unsaid(String),
    /// It was not run, or its result is unknown.
    No(String),
}

fn answer(
    claim: &Claim,
    gates: &[GateSpec],
    refused: &BTreeMap<String, String>,
    runs: &[GateRun],
    sources: &Sources,
) -> Result<Reran> {
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
        // A command that was not run may show it.
        _ if !not_run.is_empty() => Reran::No(not_run.join("; ")),
        Verdict::Missing if found.receipt.is_none() => Reran::Unsaid(found.why),
        Verdict::Unverifiable if claim.kept.is_some() => Reran::No(found.why),
        _ => Reran::Differs(found.why),
    })
}
