//! What criteria rest on, run again: at HEAD, and with `--history` at each slice's head and basis.

use super::criteria::{Case, Judge, Kind};
use super::criterion::ProofVerdict;
use crate::measure::{Claim, Reran};
use cook_core::diagnostic::Failure;
use cook_core::machine::short;
use std::collections::{BTreeMap, BTreeSet};

impl Judge<'_> {
    /// At HEAD: its own tests, and the accepted ones that are others now.
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
        Ok(())
    }

    /// At each slice's head too, and at its basis where commands alone prove the slice.
    pub(super) fn run_again(&self, cases: &mut [Case]) -> Result<(), Failure> {
        self.run_again_here(cases)?;
        let mut by_commit: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        let mut due = Vec::new();
        for (at, case) in cases.iter_mut().enumerate() {
            if !matches!(case.found, Some((ProofVerdict::Reproduced, ..))) {
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
            if let Some(claim) = &mut case.claim {
                claim.kept = None;
            }
        }
        for (at, basis) in self.list_bases(cases, &due)? {
            by_commit.entry(basis).or_default()[1].push(at);
        }
        let mut old = BTreeSet::new();
        for (commit, [those, before]) in &by_commit {
            let both: Vec<usize> = those.iter().chain(before).copied().collect();
            let mut reran = self.run_at(commit, cases, &both)?;
            let at_basis = reran.split_off(those.len());
            let is_old = |(at, reran): (usize, Reran)| (reran == Reran::Same).then_some(at);
            old.extend(at_basis.into_iter().filter_map(is_old));
            for (at, reran) in reran.into_iter().filter(|(_, reran)| *reran != Reran::Same) {
                cases[at].found = self.find_verdict(reran, commit);
            }
        }
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
