//! What anchors of criteria and of the brief are worth now.

use super::world::World;
use crate::anchor::{Anchor, Sources};
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, BriefFacts, BriefQuestion, FactSet, Facts};
use cook_core::model::{BriefLine, BriefStanding, Verdict};
use cook_store::receipt::words;
use std::collections::BTreeSet;

impl World<'_> {
    /// Judges anchors, after the trusted gates that they rest on have a receipt of
    /// HEAD's tree.
    pub(super) fn anchors(&self, wanted: &FactSet, facts: &mut Facts) -> Result<(), Failure> {
        let head = self.repo.head()?;
        let mut resting = BTreeSet::new();
        for question in &wanted.anchors {
            match Anchor::parse(&question.anchor) {
                Ok(Anchor::Test(_)) => {
                    let gates = self.gates_of(&question.slice_id);
                    resting.extend(gates.iter().filter_map(|gate| words(gate).ok()));
                }
                Ok(Anchor::Command { command, .. }) => {
                    let gates = self.gates_of(&question.slice_id);
                    let named = words(&command).ok();
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
            self.complete(&head, &resting)?;
        }
        let sources = Sources::new(self.repo, self.gates_here()?.0, &head, self.messages);
        for question in &wanted.anchors {
            let answer = sources.judge(question, &self.gates_of(&question.slice_id))?;
            facts.anchors.insert(question.key(), answer);
        }
        Ok(())
    }

    /// The brief's anchors, by what is kept: no gate is run for them.
    pub(super) fn brief(&self, question: &BriefQuestion) -> Result<BriefFacts, Failure> {
        let head = self.repo.head()?;
        let sources = Sources::new(self.repo, self.gates_here()?.0, &head, self.messages);
        let gates = self.every_gate();
        let mut facts = BriefFacts::default();
        for entry in &question.entries {
            let BriefLine::Established {
                evidence, basis, ..
            } = &entry.line
            else {
                continue;
            };
            let answer = sources.recheck(evidence, *basis, entry.stamp.as_ref(), &gates)?;
            if answer.verdict == Verdict::Verified {
                continue;
            }
            if let Some(now) = &answer.now {
                let (_, stamp) = sources.stamp(now, *basis, &gates)?;
                facts.followed.insert(entry.id.clone(), stamp);
            }
            facts.standings.insert(entry.id.clone(), standing(answer));
        }
        for (number, line) in question.lines.iter().enumerate() {
            let BriefLine::Established {
                evidence, basis, ..
            } = line
            else {
                facts.stamps.push(None);
                continue;
            };
            let (answer, stamp) = sources.stamp(evidence, *basis, &gates)?;
            facts.stamps.push(Some(stamp));
            if answer.verdict != Verdict::Verified {
                facts.unproved.insert(number, standing(answer));
            }
        }
        if !question.messages.is_empty() {
            let known = sources.messages()?;
            let asked = question.messages.iter();
            facts.messages = asked
                .filter(|id| known.contains_key(*id))
                .cloned()
                .collect();
        }
        Ok(facts)
    }
}

fn standing(answer: AnchorAnswer) -> BriefStanding {
    BriefStanding {
        verdict: answer.verdict,
        why: answer.why,
        now: answer.now,
    }
}
