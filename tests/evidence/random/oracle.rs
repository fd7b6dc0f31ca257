//! Whether what proves a criterion holds, by the test's own knowledge of who wrote which line.

use super::world::{By, SLICES, Spot, Work, World, parse};
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// The work of a slice between two commits.
    pub fn work(&self, id: &str, basis: &str, head: &str) -> Work {
        let numbers = |commit: &str| -> BTreeSet<usize> {
            self.read_lines_at(commit)
                .iter()
                .map(|spot| spot.line)
                .collect()
        };
        let at_basis = numbers(basis);
        let is_own = |line: &usize| {
            self.lines[*line].by == By::Slice(id.to_owned()) && !at_basis.contains(line)
        };
        Work {
            own: numbers(head).into_iter().filter(is_own).collect(),
            at_basis,
            basis_files: self.list_files_at(basis),
            head_files: self.list_files_at(head),
        }
    }

    /// A line that is the slice's own, or that somebody wrote in the place of one.
    pub fn speaks_for(&self, id: &str, work: &Work, line: usize) -> bool {
        work.own.contains(&line) || self.stands_in(id, work, line)
    }

    fn stands_in(&self, id: &str, work: &Work, line: usize) -> bool {
        let known = &self.lines[line];
        let in_place = work
            .own
            .iter()
            .any(|own| self.lines[*own].slot == known.slot);
        let of_itself = known.by == By::Slice(id.to_owned());
        in_place && known.by != By::Base && !of_itself && !work.at_basis.contains(&line)
    }

    /// Why an anchor proves nothing at HEAD; none = it holds.
    pub fn wrong(
        &self,
        id: &str,
        work: &Work,
        anchor: &str,
        now: &[Spot],
        files: &BTreeMap<String, String>,
    ) -> Option<String> {
        if let Some(path) = anchor.strip_prefix("entry:") {
            let (was, is) = (work.basis_files.get(path), files.get(path));
            return match is {
                None => Some("the entry is not there".to_owned()),
                Some(_) if was == is => Some("the entry is as at the basis".to_owned()),
                Some(_) if work.head_files.get(path) == is => None,
                Some(blob) => match self.blobs.get(blob) {
                    Some(By::Foreign) => None,
                    by => Some(format!("the entry is of {by:?}")),
                },
            };
        }
        if let Some(place) = anchor.strip_prefix("gone:") {
            let Some((path, text)) = place.split_once('#') else {
                let stood = work.basis_files.contains_key(place);
                return match (stood, files.contains_key(place)) {
                    (_, true) => Some("the file is there".to_owned()),
                    (false, _) => Some("the file was not there at the basis".to_owned()),
                    _ => None,
                };
            };
            let line = parse(path, text).first().map(|spot| spot.line);
            let back = line.is_none_or(|line| now.iter().any(|spot| spot.line == line));
            return back.then(|| "the line is there".to_owned());
        }
        let Some((path, lines)) = anchor.rsplit_once(':') else {
            return Some("the anchor is none".to_owned());
        };
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else {
            return Some("the anchor names no lines".to_owned());
        };
        let here: Vec<&Spot> = now
            .iter()
            .filter(|spot| spot.path == path && spot.first <= last && first <= spot.last)
            .collect();
        match here.iter().any(|spot| self.speaks_for(id, work, spot.line)) {
            true => None,
            false => {
                let texts: Vec<&str> = here
                    .iter()
                    .map(|spot| &*self.lines[spot.line].text)
                    .collect();
                Some(format!("there stands {texts:?}"))
            }
        }
    }

    /// What the project would wrongly be done with at that commit.
    pub fn violations(&self, at: &str) -> Vec<String> {
        let (now, files) = (self.read_lines_at(at), self.list_files_at(at));
        let mut wrong = Vec::new();
        for id in SLICES {
            let Some(work) = self.accepted.get(id) else {
                wrong.push(format!("slice {id} is done and was never accepted"));
                continue;
            };
            for (criterion, _) in &self.criteria[id] {
                let found = match self.find_stored(id, criterion) {
                    None => Some("it has no proof".to_owned()),
                    Some(anchor) => self
                        .wrong(id, work, &anchor, &now, &files)
                        .map(|why| format!("{anchor}: {why}")),
                };
                wrong.extend(
                    found.map(|why| format!("done, and `{criterion}` does not hold: {why}")),
                );
            }
        }
        wrong
    }

    /// A control: where no slice was begun, the oracle calls every proof wrong.
    pub fn find_unnoticed(&self) -> Option<String> {
        let criteria: usize = self.criteria.values().map(Vec::len).sum();
        let found = self.violations(&self.base);
        (found.len() != criteria)
            .then(|| format!("of {criteria} proofs these alone are wrong at the base: {found:?}"))
    }
}
