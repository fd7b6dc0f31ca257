//! What criteria rest on, run again: at each slice's head, at its basis, and at HEAD.

use super::criteria::{Case, Judge, Kind};
use super::criterion::ProofVerdict;
use crate::measure::{Claim, Needs, Reran};
use cook_core::diagnostic::Failure;
use cook_core::machine::{Verdict, short};
use std::collections::{BTreeMap, BTreeSet};

impl Judge<'_> {
    /// At HEAD alone.
    pub(super) fn run_again_here(&self, cases: &mut [Case]) -> Result<(), Failure> {
        let Some(head) = &self.at.commit else {
            return Ok(());
        };
        let due: Vec<usize> = (0..cases.len())
            .filter(|at| cases[*at].claim.is_some() && cases[*at].found.is_none())
            .collect();
        for (at, reran) in self.run_at(head, cases, &due)? {
            cases[at].found = self.find_verdict(reran, head);
        }
        self.look_for_renamed(cases, &due, head)
    }

    /// At each slice's head, and then at HEAD, where what came out must still hold. What proves a slice by
    /// commands alone is run at its basis too.
    pub(super) fn run_again(&self, cases: &mut [Case]) -> Result<(), Failure> {
        let mut by_commit: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        let mut due = Vec::new();
        for (at, case) in cases.iter_mut().enumerate() {
            if case.claim.is_none() || case.found.is_some() {
                continue;
            }
            let of = self.find_head(&case.asked);
            match self.workspace.repo.resolve(&of)? {
                Some(commit) => {
                    by_commit.entry(commit).or_default()[0].push(at);
                    due.push(at);
                }
                None => {
                    let why = format!("the slice's head {} is not in this clone", short(&of));
                    let why = self.with_history(why);
                    case.found = Some((ProofVerdict::NotReproducible, why, Some(of)));
                }
            }
        }
        for (at, basis) in self.list_bases(cases, &due)? {
            by_commit.entry(basis).or_default()[1].push(at);
        }
        let mut old = BTreeSet::new();
        let mut elsewhere: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (commit, [those, before]) in &by_commit {
            let both: Vec<usize> = those.iter().chain(before).copied().collect();
            let mut reran = self.run_at(commit, cases, &both)?;
            let at_basis = reran.split_off(those.len());
            let is_old = |(at, reran): (usize, Reran)| (reran == Reran::Same).then_some(at);
            old.extend(at_basis.into_iter().filter_map(is_old));
            for (at, reran) in reran {
                // Anchored again later, it is to be found where it was.
                let stamped = match (&reran, &cases[at].asked.record) {
                    (Reran::Unsaid(_), Some(record)) => {
                        self.workspace.repo.resolve(&record.head_sha)?
                    }
                    _ => None,
                };
                if cases[at].found.is_some() {
                    continue;
                }
                match stamped.filter(|stamped| stamped != commit) {
                    Some(stamped) => elsewhere.entry(stamped).or_default().push(at),
                    None => cases[at].found = self.find_verdict(reran, commit),
                }
            }
        }
        for (commit, those) in &elsewhere {
            for (at, reran) in self.run_at(commit, cases, those)? {
                cases[at].found = self.find_verdict(reran, commit);
            }
        }
        let Some(head) = &self.at.commit else {
            return Ok(());
        };
        let tree = self.workspace.repo.find_tree(head)?;
        let mut now = Vec::new();
        for at in due {
            if let Some((ProofVerdict::Reproduced, _, Some(of))) = &cases[at].found
                && self.workspace.repo.find_tree(of)? != tree
            {
                now.push(at);
            }
        }
        let mut unsaid = Vec::new();
        for (at, reran) in self.run_at(head, cases, &now)? {
            match reran {
                Reran::Same => {}
                Reran::Unsaid(_) => unsaid.push(at),
                Reran::Differs(why) => {
                    let why = format!("it came out the same then, and at HEAD: {why}");
                    cases[at].found = Some((ProofVerdict::Differs, why, Some(head.clone())));
                }
                Reran::No(why) => {
                    let why = self.with_history(why);
                    let of = Some(head.clone());
                    cases[at].found = Some((ProofVerdict::NotReproducible, why, of));
                }
            }
        }
        for at in &unsaid {
            cases[*at].found = Some((
                ProofVerdict::Differs,
                "no gate's output at HEAD names it as passed".to_owned(),
                Some(head.clone()),
            ));
        }
        self.look_for_renamed(cases, &unsaid, head)?;
        self.refuse_old(cases, &old);
        Ok(())
    }

    /// Of slices that nothing but commands prove: where each began.
    fn list_bases(
        &self,
        cases: &mut [Case],
        due: &[usize],
    ) -> Result<Vec<(usize, String)>, Failure> {
        let by_more = cases.iter().filter(|case| case.kind != Kind::Command);
        let by_more: BTreeSet<String> = by_more.map(|case| case.asked.slice_id.clone()).collect();
        let mut bases = Vec::new();
        for at in due {
            let slice = &cases[*at].asked.slice_id;
            let ledger = self.snapshot.ledger.slices.get(slice);
            let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
            let Some(accepted) = accepted.filter(|_| !by_more.contains(slice)) else {
                continue;
            };
            match self.workspace.repo.resolve(&accepted.basis)? {
                Some(basis) => bases.push((*at, basis)),
                None => {
                    let of = &accepted.basis;
                    let why = format!(
                        "the slice's basis {} is not in this clone, so nobody can say that it is new",
                        short(of)
                    );
                    let why = self.with_history(why);
                    let of = Some(of.clone());
                    cases[*at].found = Some((ProofVerdict::NotReproducible, why, of));
                }
            }
        }
        Ok(bases)
    }

    /// Where all that proves a slice came out the same before it was begun, it proves nothing of it.
    fn refuse_old(&self, cases: &mut [Case], old: &BTreeSet<usize>) {
        let is_new =
            |(at, case): (usize, &Case)| (!old.contains(&at)).then(|| case.asked.slice_id.clone());
        let proven: BTreeSet<String> = cases.iter().enumerate().filter_map(is_new).collect();
        for at in old {
            let case = &mut cases[*at];
            if !proven.contains(&case.asked.slice_id) {
                let why = "it came out the same at the slice's basis already, as all that proves the slice";
                case.found = Some((
                    ProofVerdict::Differs,
                    why.to_owned(),
                    self.at.commit.clone(),
                ));
            }
        }
    }

    /// What no output names may be there under another name, by the body of its test.
    fn look_for_renamed(
        &self,
        cases: &mut [Case],
        those: &[usize],
        head: &str,
    ) -> Result<(), Failure> {
        let is_open = |at: &&usize| matches!(cases[**at].found, Some((ProofVerdict::Differs, ..)));
        let open: Vec<usize> = those.iter().filter(is_open).copied().collect();
        let questions = open.iter().map(|at| cases[*at].question.clone()).collect();
        let answers = self
            .workspace
            .look_up(self.snapshot, self.at, &questions, Needs::Nothing)?;
        for at in open {
            let answer = answers.get(&cases[at].question.key());
            if let Some(answer) = answer.filter(|answer| answer.verdict == Verdict::Moved) {
                let found = (ProofVerdict::Reproduced, answer.why.clone());
                cases[at].found = Some((found.0, found.1, Some(head.to_owned())));
            }
        }
        Ok(())
    }

    /// Runs what these cases rest on at a commit.
    fn run_at(
        &self,
        commit: &str,
        cases: &[Case],
        those: &[usize],
    ) -> Result<Vec<(usize, Reran)>, Failure> {
        let claims: Vec<Claim> = those
            .iter()
            .filter_map(|at| cases[*at].claim.clone())
            .collect();
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        let reran = self.workspace.rerun(self.snapshot, commit, &claims)?;
        Ok(those.iter().copied().zip(reran).collect())
    }

    fn find_verdict(
        &self,
        reran: Reran,
        commit: &str,
    ) -> Option<(ProofVerdict, String, Option<String>)> {
        let (verdict, why) = match reran {
            Reran::Same => {
                let why = "it came out the same in a new clean room".to_owned();
                (ProofVerdict::Reproduced, why)
            }
            Reran::Differs(why) | Reran::Unsaid(why) => (ProofVerdict::Differs, why),
            Reran::No(why) => (ProofVerdict::NotReproducible, self.with_history(why)),
        };
        Some((verdict, why, Some(commit.to_owned())))
    }
}
