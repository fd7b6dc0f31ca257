//! What anchors of criteria and of the brief are worth now.

use super::world::World;
use crate::anchor::{Anchor, Sources, find_basis};
use cook_core::brief::{is_users, mentions, quotes};
use cook_core::diagnostic::Failure;
use cook_core::machine::{
    AnchorAnswer, BriefFacts, BriefQuestion, CommitFacts, CommitQuestion, FactSet, Facts, Head,
    OwnQuestion, Range, claims,
};
use cook_core::model::{BriefLine, BriefStanding, Caches, Rest, Slot, Survival, Verdict};
use cook_store::receipt::words;
use std::borrow::Cow;
use std::collections::BTreeSet;

impl World<'_> {
    /// Judges anchors, after the trusted gates that they rest on have a receipt of
    /// HEAD's tree.
    pub(super) fn anchors(&self, wanted: &FactSet, facts: &mut Facts) -> Result<(), Failure> {
        let head = self.repo.head()?;
        let mut resting = BTreeSet::new();
        let (receipts, _) = self.gates_here()?;
        let ends = wanted.stop_verifier == Some(Caches::Empty);
        for question in &wanted.anchors {
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
                    // What an anchor names is never run because the anchor names it.
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
        if !wanted.existing_receipts_only {
            // What a cache of an earlier commit holds does not end a project.
            let caches = match wanted.stop_verifier {
                Some(Caches::Empty) => Caches::Empty,
                _ => self.caches,
            };
            self.complete(&head, &resting, caches)?;
            // What held at the basis already is no news.
            let bases: BTreeSet<&str> = wanted.anchors.iter().filter_map(find_basis).collect();
            for basis in bases {
                if let Some(commit) = self.repo.resolve(basis)? {
                    let tree = Some(self.repo.find_tree(&commit)?);
                    let then = Head {
                        tree,
                        commit: Some(commit),
                        branch: None,
                    };
                    self.complete(&then, &resting, self.caches)?;
                }
            }
        }
        let sources = self.sources(&head)?;
        for question in &wanted.anchors {
            let mut answer = sources.judge(question, &self.list_gates(&question.slice_id))?;
            let rests_on = match &answer.receipt {
                Some(id) if ends => receipts.get(id)?,
                _ => None,
            };
            let is_kept = rests_on.is_some_and(|receipt| receipt.caches != Caches::Empty);
            if is_kept && matches!(answer.verdict, Verdict::Verified | Verdict::Moved) {
                answer.verdict = Verdict::Stale;
                answer.why = "nobody could run it again without what earlier runs left".to_owned();
            }
            facts.anchors.insert(question.key(), answer);
        }
        Ok(())
    }

    pub(super) fn sources<'s>(&'s self, head: &'s Head) -> Result<Sources<'s>, Failure> {
        let (receipts, _) = self.gates_here()?;
        let (messages, works) = (self.messages, self.works);
        Ok(Sources::new(
            self.repo, receipts, head, messages, works, self.trees,
        ))
    }

    /// The work of the slice that is to be accepted, and what became of that of done ones.
    pub(super) fn works(&self, wanted: &FactSet, facts: &mut Facts) -> Result<(), Failure> {
        if let Some(question) = &wanted.own {
            let head = self.repo.head()?;
            let own = self.sources(&head)?.find_claimed_work(question, None)?;
            facts.own = (!own.head.is_empty()).then_some(own);
        }
        if let Some(question) = &wanted.committed {
            facts.committed = self.lacking(question, &self.repo.head()?)?;
        }
        if wanted.survivals.is_empty() {
            return Ok(());
        }
        let head = self.repo.head()?;
        let sources = self.sources(&head)?;
        for (slice, accepted) in &wanted.survivals {
            let survival = sources.survival(accepted.seq.0, &accepted.head)?;
            // A record that says nothing of the work: the proof alone speaks for it.
            let survival = survival.unwrap_or(Survival {
                rest: Rest::Whole,
                on_head: true,
                lost: Vec::new(),
                rewritten: Vec::new(),
            });
            facts.survivals.insert(slice.clone(), survival);
        }
        Ok(())
    }

    /// What is asked of done slices where HEAD moved: no gate is run for it.
    pub(super) fn with_standing<'f>(
        &self,
        wanted: &'f FactSet,
    ) -> Result<Cow<'f, FactSet>, Failure> {
        let Some(standing) = &wanted.standing else {
            return Ok(Cow::Borrowed(wanted));
        };
        if self.repo.head()?.commit.as_ref() == Some(&standing.seen) {
            return Ok(Cow::Borrowed(wanted));
        }
        let mut wanted = wanted.clone();
        wanted.existing_receipts_only |= wanted.anchors.is_empty();
        wanted.anchors.extend(standing.anchors.iter().cloned());
        wanted.survivals.extend(standing.survivals.clone());
        Ok(Cow::Owned(wanted))
    }

    /// What HEAD lacks of a slice's work; none = nothing.
    fn lacking(&self, question: &OwnQuestion, head: &Head) -> Result<Option<Survival>, Failure> {
        if head.commit.as_ref() == Some(&question.head) {
            return Ok(None);
        }
        let found = self.sources(head)?.find_claimed_survival(question)?;
        Ok(found.filter(|found| found.rest != Rest::Whole))
    }

    /// The same of a commit that is reported, with all that its report claims.
    pub(super) fn measure_lacking(
        &self,
        asked: &CommitQuestion,
        commit: &CommitFacts,
        head: &Head,
        range: Option<&Range>,
    ) -> Result<Option<Survival>, Failure> {
        let Some(id) = commit
            .id
            .as_ref()
            .filter(|_| commit.on_head && commit.after_basis)
        else {
            return Ok(None);
        };
        let Some(range) = range else { return Ok(None) };
        let claimed = claims(&asked.slice_id, id, commit, range, |_| false);
        let question = OwnQuestion {
            slice_id: asked.slice_id.clone(),
            basis: asked.basis.clone(),
            head: id.clone(),
            claimed: asked.claimed.iter().cloned().chain(claimed).collect(),
            earlier_bases: asked.earlier_bases.clone(),
            arrivals: asked.arrivals.clone(),
            earlier: asked.earlier,
        };
        self.lacking(&question, head)
    }

    /// The brief's anchors, by what is kept: no gate is run for them.
    pub(super) fn brief(&self, question: &BriefQuestion) -> Result<BriefFacts, Failure> {
        let head = self.repo.head()?;
        let sources = self.sources(&head)?;
        let gates = self.every_gate();
        let mut facts = BriefFacts::default();
        for entry in &question.entries {
            let (evidence, basis) = match &entry.line {
                BriefLine::Established {
                    evidence, basis, ..
                } => (evidence, basis),
                other => {
                    if !is_users(&entry.by)
                        && let Some(standing) = judge_source(&sources, other, &gates)?
                    {
                        facts.standings.insert(entry.id.clone(), standing);
                    }
                    continue;
                }
            };
            let answer = sources.recheck(evidence, *basis, entry.stamp.as_ref(), &gates)?;
            if answer.verdict == Verdict::Verified {
                continue;
            }
            if let Some(now) = answer
                .now
                .as_ref()
                .filter(|_| answer.verdict == Verdict::Moved)
            {
                let (_, stamp) = sources.stamp(now, *basis, &gates)?;
                facts.followed.insert(entry.id.clone(), stamp);
            }
            facts.standings.insert(entry.id.clone(), standing(answer));
        }
        for (number, line) in question.lines.iter().enumerate() {
            let (evidence, basis) = match line {
                BriefLine::Established {
                    evidence, basis, ..
                } => (evidence, basis),
                other => {
                    facts.stamps.push(None);
                    if let Some(standing) = judge_source(&sources, other, &gates)? {
                        facts.unproved.insert(number, standing);
                    }
                    continue;
                }
            };
            let (answer, stamp) = sources.stamp(evidence, *basis, &gates)?;
            facts.stamps.push(Some(stamp));
            if answer.verdict != Verdict::Verified {
                facts.unproved.insert(number, standing(answer));
            }
        }
        let mut misquoted = BTreeSet::new();
        for (id, quote) in &question.messages {
            let answer = sources.judge_message(id, quote.as_deref())?;
            // What a hook reported is nobody's word, and ends nothing.
            match answer.verdict {
                Verdict::Verified => facts.messages.insert(id.clone()),
                _ => misquoted.insert(id),
            };
        }
        facts.messages.retain(|id| !misquoted.contains(id));
        Ok(facts)
    }
}

/// Why the source of a line is none: it has a message of the user's say what it does not, or it is a
/// forbid's and none of the places that it names is there.
fn judge_source(
    sources: &Sources,
    line: &BriefLine,
    gates: &[String],
) -> Result<Option<BriefStanding>, Failure> {
    let (BriefLine::Forbid { source, .. } | BriefLine::Learned { source, .. }) = line else {
        return Ok(None);
    };
    for quoted in quotes(source) {
        for words in std::iter::once(None).chain(quoted.words.iter().map(Some)) {
            let answer = sources.judge_message(&quoted.id, words.map(String::as_str))?;
            if answer.verdict == Verdict::Missing {
                return Ok(Some(standing(answer)));
            }
        }
    }
    if line.slot() != Slot::Forbid {
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
