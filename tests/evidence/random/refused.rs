//! What it says of cook when an honest claim is refused.

use super::world::{Spot, Work, World, parse};
use std::collections::BTreeMap;

impl World {
    /// Why an anchor in the work of the slice that is to be accepted may be refused; none = it must be taken.
    pub fn doubt(&self, id: &str, work: &Work, anchor: &str) -> Option<&'static str> {
        let active = self.repo.document("active-slice.json");
        let basis = active["basis_commit"].as_str()?.to_owned();
        let head = self.reported.get(id)?.clone();
        if self.resolve(&basis).is_none() || self.resolve(&head).is_none() {
            return Some("pruned");
        }
        if self.has_merge(&basis) {
            return Some("after a merge");
        }
        if self
            .since(&basis)
            .iter()
            .any(|commit| self.has_binary_text(&commit.id().to_string()))
        {
            return Some("through what was no text");
        }
        if !self.is_brought_by(id, &basis, anchor) {
            return Some("in a commit without its trailer");
        }
        let now = self.lines_now();
        let here: Vec<&Spot> = now.iter().filter(|spot| spot.anchor() == anchor).collect();
        let [spot] = here[..] else { return None };
        // Cook saw it before the slice's trailer came to it (`protocol/completion.md`).
        if self.reported_as_foreign.contains(&spot.line) {
            return Some("somebody's line, committed anew with its trailer");
        }
        let copies = now.iter().filter(|other| other.line == spot.line).count();
        let then = self.read_lines_at(&head);
        let was = then.iter().position(|other| other.line == spot.line)?;
        if copies > 1 {
            return Some("several places");
        }
        let run: Vec<usize> = run_at(&then, was, work).collect();
        let stands: Vec<usize> = now.iter().map(|spot| spot.line).collect();
        if !stands.windows(run.len()).any(|lines| *lines == run[..]) {
            return Some("beside a rewritten line");
        }
        let was = &then[was];
        let renamed = || self.renames(&head, "HEAD").get(&was.path) == Some(&spot.path);
        let is_there = was.path == spot.path || renamed();
        let old = self.read_text_at(&head, &was.path).unwrap_or_default();
        let is_same = block(&old, was) == block(&self.read(&spot.path), spot);
        (!is_there && !is_same).then_some("moved and reshaped")
    }

    fn has_binary_text(&self, commit: &str) -> bool {
        let files = self.list_files_at(commit);
        let mut texts = files.keys().filter(|path| path.ends_with(".txt"));
        texts.any(|path| {
            self.read_text_at(commit, path)
                .is_some_and(|text| text.contains('\0'))
        })
    }

    /// What the anchor shows came about by a commit that bears the slice's trailer.
    fn is_brought_by(&self, id: &str, basis: &str, anchor: &str) -> bool {
        let line = |text: &str| parse("", text).first().map(|spot| spot.line);
        let has_line = |commit: &str, wanted: Option<usize>| {
            let lines = self.read_lines_at(commit);
            lines.iter().any(|spot| Some(spot.line) == wanted)
        };
        let here = self.lines_now();
        let here = here.iter().find(|spot| spot.anchor() == anchor);
        let holds = |commit: &str| match (anchor.split_once(':'), anchor.split_once('#')) {
            (Some(("gone", _)), Some((_, text))) => !has_line(commit, line(text)),
            (Some(("gone", path)), None) => !self.list_files_at(commit).contains_key(path),
            (Some(("entry", path)), _) => {
                self.list_files_at(commit).get(path) == self.list_files_at("HEAD").get(path)
            }
            _ => has_line(commit, here.map(|spot| spot.line)),
        };
        let since = self.since(basis);
        let newest = since.iter().find(|commit| {
            let parent = commit.parent_id(0).map(|parent| parent.to_string());
            holds(&commit.id().to_string()) && !parent.is_ok_and(|parent| holds(&parent))
        });
        let trailer = format!("Cook-Slice: {id}");
        newest.is_some_and(|commit| commit.message().is_ok_and(|text| text.contains(&trailer)))
    }

    fn has_merge(&self, basis: &str) -> bool {
        self.since(basis)
            .iter()
            .any(|commit| commit.parent_count() > 1)
    }

    /// A claim that the oracle calls right was refused.
    pub fn note_refusal(&mut self, id: &str, criterion: &str, anchor: &str, refusal: &str) {
        let doubt = match refusal.contains("evidence_shared") {
            true => Some("an anchor that was another criterion's"),
            false => self.doubt(id, &self.work_now(id), anchor),
        };
        let told = format!(
            "honest anchor refused: {criterion} {anchor}: {}",
            super::draft::brief(refusal)
        );
        self.given_up.insert((id.to_owned(), criterion.to_owned()));
        match doubt {
            Some(why) => {
                self.say(format!("   ({why}) {told}"));
                self.count_doubt(why);
            }
            None => {
                self.say(format!("   (unexplained) {told}"));
                self.unexplained.push(told);
            }
        }
    }

    /// A line of the base that somebody formatted: of whom it is then the table does not say.
    pub fn is_reshaped(&self, anchor: &str, now: &[Spot]) -> bool {
        let Some(spot) = now.iter().find(|spot| spot.anchor() == anchor) else {
            return false;
        };
        block(&self.read(&spot.path), spot) != [self.lines[spot.line].text.clone()]
    }

    /// Counts what is refused though it is honest.
    pub fn count_doubt(&mut self, why: &'static str) {
        *self.figures.doubts.entry(why).or_default() += 1;
    }

    /// New names by old ones, as git sees them.
    pub fn renames(&self, from: &str, to: &str) -> BTreeMap<String, String> {
        let listed = self.git(&["diff", "-M", "--name-status", "--diff-filter=R", from, to]);
        let pair = |row: &str| {
            let mut words = row.split('\t').skip(1).map(str::to_owned);
            Some((words.next()?, words.next()?))
        };
        listed.lines().filter_map(pair).collect()
    }
}

/// The slice's own lines around one of them, with nothing between.
fn run_at<'a>(all: &'a [Spot], at: usize, work: &'a Work) -> impl Iterator<Item = usize> + use<'a> {
    let joins = |one: &Spot, next: &Spot| {
        one.path == next.path && one.last + 1 == next.first && work.own.contains(&next.line)
    };
    let back = |one: &Spot, next: &Spot| {
        one.path == next.path && one.last + 1 == next.first && work.own.contains(&one.line)
    };
    let mut start = at;
    while start > 0 && back(&all[start - 1], &all[start]) {
        start -= 1;
    }
    let mut end = at;
    while end + 1 < all.len() && joins(&all[end], &all[end + 1]) {
        end += 1;
    }
    all[start..=end].iter().map(|spot| spot.line)
}

fn block(text: &str, spot: &Spot) -> Vec<String> {
    let lines = text.lines().skip(spot.first - 1);
    let lines = lines.take(spot.last + 1 - spot.first);
    lines.map(str::to_owned).collect()
}
