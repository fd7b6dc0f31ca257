//! A repository whose every line is told from every other, and what the test knows of each line:
//! where it belongs and who wrote it. Nothing here asks cook.

use super::figures::Figures;
use crate::support::{Repo, Run, run_alone};
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Places of the library that events and slices write to; a line that nobody touches stands between.
pub const SLOTS: usize = 9;
/// The slices.
pub const SLICES: [&str; 3] = ["a", "b", "c"];

/// Numbers from a seed (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        let at = self.below(all.len());
        all.get(at).cloned()
    }
}

/// Who wrote something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    Base,
    Slice(String),
    Foreign,
}

/// A line, known by its number.
#[derive(Clone, Debug)]
pub struct Line {
    pub slot: String,
    pub by: By,
    pub text: String,
}

/// How a criterion is met.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A text at this place of the library.
    Lib(String),
    /// A text in a file of the slice's own.
    File(String),
    /// This file is gone.
    Gone(String),
    /// The line of this place is gone.
    GoneLine(String),
    /// A binary file.
    Entry(String),
}

/// What a slice was accepted with.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Lines of its own at its head.
    pub own: BTreeSet<usize>,
    pub at_basis: BTreeSet<usize>,
    /// Blobs by path.
    pub basis_files: BTreeMap<String, String>,
    pub head_files: BTreeMap<String, String>,
}

/// A line where it stands now: path, first and last line from 1.
#[derive(Clone, Debug)]
pub struct Spot {
    pub line: usize,
    pub path: String,
    pub first: usize,
    pub last: usize,
}

impl Spot {
    pub fn anchor(&self) -> String {
        match self.first == self.last {
            true => format!("{}:{}", self.path, self.first),
            false => format!("{}:{}-{}", self.path, self.first, self.last),
        }
    }
}

pub struct World {
    pub repo: Repo,
    pub rng: Rng,
    pub lines: Vec<Line>,
    pub blobs: BTreeMap<String, By>,
    pub criteria: BTreeMap<String, Vec<(String, Kind)>>,
    pub accepted: BTreeMap<String, Work>,
    /// The commit that no history goes behind.
    pub base: String,
    /// Events, reports and refusals.
    pub log: Vec<String>,
    /// A dishonest report that was taken, or what cook asks for and then refuses.
    pub odd: Vec<String>,
    /// Honest anchors that were refused for no known reason.
    pub unexplained: Vec<String>,
    pub rejected: bool,
    pub is_done: bool,
    /// What was reported last of each slice.
    pub reported: BTreeMap<String, String>,
    /// Lines that were somebody else's at a HEAD that a report was made at.
    pub reported_as_foreign: BTreeSet<usize>,
    /// Slices whose next attempt writes more text than their criteria ask for.
    pub owes_text: BTreeSet<String>,
    pub count: usize,
    /// What the last report was answered with, while nothing happened since.
    pub due: Option<Value>,
    /// Criteria whose own kind of anchor was refused: text proves them from then on.
    pub given_up: BTreeSet<(String, String)>,
    /// For the state that was looked at last.
    pub ticket: String,
    pub figures: Figures,
    /// git's objects, read in this process.
    pub store: OnceCell<git2::Repository>,
    /// Lines of trees that were read.
    pub seen: RefCell<BTreeMap<git2::Oid, Rc<Vec<Spot>>>>,
}

/// The lines of a text: each begins with its number and ends before the next.
pub fn parse(path: &str, text: &str) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for (at, here) in text.lines().enumerate() {
        let word = here.split_whitespace().next().unwrap_or_default();
        let number = word
            .strip_prefix('t')
            .and_then(|word| word.strip_suffix(':'));
        if let Some(line) = number.and_then(|number| number.parse().ok()) {
            spots.push(Spot {
                line,
                path: path.to_owned(),
                first: at + 1,
                last: at + 1,
            });
        } else if !here.trim().is_empty()
            && let Some(last) = spots.last_mut()
        {
            last.last = at + 1;
        }
    }
    spots
}

impl World {
    /// A text that stands nowhere yet.
    pub fn line(&mut self, slot: &str, by: By) -> String {
        let number = self.lines.len();
        let who = match &by {
            By::Base => "the library".to_owned(),
            By::Slice(id) => format!("slice {id}"),
            By::Foreign => "somebody".to_owned(),
        };
        let text = format!("t{number:04}: {who} wrote this at {slot}");
        self.lines.push(Line {
            slot: slot.to_owned(),
            by,
            text: text.clone(),
        });
        text
    }

    /// Before a report: what is somebody else's now was seen by cook.
    pub fn note_foreign(&mut self) {
        let now = self.lines_now();
        let lines = now.iter().map(|spot| spot.line);
        let foreign = lines.filter(|line| self.lines[*line].by == By::Foreign);
        self.reported_as_foreign.extend(foreign);
    }

    pub fn say(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }

    pub fn git(&self, words: &[&str]) -> String {
        self.repo.git(words)
    }

    /// git, which may fail.
    pub fn try_git(&self, words: &[&str]) -> Run {
        run_alone(self.repo.command("git").args(words))
    }

    /// Writes other lines in the place of those from `first` to `last`.
    pub fn put(&self, spot: &Spot, with: &[String]) {
        let text = self.read(&spot.path);
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        drop(lines.splice(spot.first - 1..spot.last, with.iter().cloned()));
        let text: String = lines.iter().map(|line| format!("{line}{end}")).collect();
        match text.is_empty() {
            true => std::fs::remove_file(self.repo.root.join(&spot.path)).unwrap(),
            false => self.repo.write(&spot.path, text),
        }
    }

    /// Commits what is in the worktree; the id.
    pub fn commit(&mut self, what: &str, slice: Option<&str>) -> String {
        self.count += 1;
        let mut message = format!("{what} ({})", self.count);
        if let Some(slice) = slice {
            message.push_str(&format!("\n\nCook-Slice: {slice}\n"));
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", &message]);
        self.head()
    }

    /// The slice in work.
    pub fn in_work(&self) -> Option<String> {
        let active = self.repo.document("active-slice.json");
        let status = active["status"].as_str()?.to_owned();
        let id = active["slice_id"].as_str()?.to_owned();
        matches!(&*status, "selected" | "in_progress" | "committed").then_some(id)
    }

    pub fn statuses(&self) -> BTreeMap<String, String> {
        let plan = self.repo.document("plan.json");
        let slices = plan["candidate_slices"].as_array().unwrap().clone();
        let pair = |slice: &Value| {
            let text = |key: &str| slice[key].as_str().unwrap().to_owned();
            (text("slice_id"), text("status"))
        };
        slices.iter().map(pair).collect()
    }

    /// The anchor that the plan has for a criterion.
    pub fn find_stored(&self, id: &str, criterion: &str) -> Option<String> {
        let plan = self.repo.document("plan.json");
        let slices = plan["candidate_slices"].as_array()?.clone();
        let slice = slices.into_iter().find(|slice| slice["slice_id"] == id)?;
        let record = slice["evidence"]
            .as_array()?
            .iter()
            .find(|one| one["criterion"] == criterion)?
            .clone();
        Some(record["anchor"].as_str()?.to_owned())
    }
}
