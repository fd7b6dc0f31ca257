//! `cook goal`: how far a goal is.

use super::checked::show_lines;
use super::{Exit, Page, Show, Tone};
use crate::check::Line;
use crate::service::GoalStanding;
use cook_core::diagnostic::{Lines, clean};
use cook_core::machine::short;
use cook_core::model::{CheckVerdict, GoalFound, Snapshot};
use serde::Serialize;

/// Where a goal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum GoalState {
    /// Every check is green at a commit of the branch, and the log says so.
    GoalReached,
    /// Something is red, or green in the worktree alone.
    NotReached,
    /// Something could not be asked.
    NotKnown,
    /// The user gave it up.
    Dropped,
}

/// One check.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct GoalRow {
    /// Its command; of a hidden one only that.
    check: String,
    /// It needs files that are not shown.
    hidden: bool,
    /// It was green before any work.
    green_at_base: bool,
    verdict: CheckVerdict,
    why: String,
    /// The command that shows more, or mends it; left out where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    next: String,
}

/// How far a goal is.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct GoalAnswer {
    state: GoalState,
    words: String,
    /// What names the goal and all that was frozen with it.
    digest: String,
    branch: Option<String>,
    /// The commit that it began at.
    base: String,
    /// The commit that was asked; null = none was. What stands in the worktree beside HEAD is one that no ref names.
    commit: Option<String>,
    /// That is HEAD, and not the worktree beside it.
    is_head: bool,
    checks: Vec<GoalRow>,
    /// What the tests of the base say of the work, undeclared.
    lines: Vec<Line>,
    /// The files that are laid over each commit.
    frozen: Vec<String>,
    /// Hidden files.
    hidden_files: usize,
}

impl GoalAnswer {
    /// Of one that was asked.
    pub fn of(standing: &GoalStanding) -> Self {
        let mut shown = Self::begin(&standing.snapshot);
        let verdict = standing.found.verdict();
        shown.state = match verdict {
            _ if standing.is_reached() => GoalState::GoalReached,
            CheckVerdict::NotKnown => GoalState::NotKnown,
            CheckVerdict::Green | CheckVerdict::Red => GoalState::NotReached,
        };
        shown.is_head = standing.is_head;
        shown.tell(&standing.found);
        shown
    }

    /// Of one that the user gave up.
    pub fn of_dropped(snapshot: &Snapshot) -> Self {
        let mut shown = Self::begin(snapshot);
        if let Some(found) = snapshot
            .ledger
            .goal
            .iter()
            .find_map(|goal| goal.found.as_ref())
        {
            shown.is_head = true;
            shown.tell(found);
        }
        shown
    }

    fn tell(&mut self, found: &GoalFound) {
        self.commit = Some(found.commit.clone());
        for (row, run) in self.checks.iter_mut().zip(&found.checks) {
            row.verdict = run.verdict;
            row.why.clone_from(&run.why);
            row.next.clone_from(&run.next);
        }
        self.lines = found.lines.iter().cloned().map(Line::from).collect();
    }

    fn begin(snapshot: &Snapshot) -> Self {
        let goal = snapshot.goal();
        let checks = goal.iter().flat_map(|goal| &goal.checks);
        Self {
            state: GoalState::Dropped,
            words: snapshot.mission.clone(),
            digest: goal.map_or(String::new(), |goal| goal.digest()),
            branch: snapshot.ledger.branch.clone(),
            base: goal.map_or(String::new(), |goal| goal.base.clone()),
            commit: None,
            is_head: false,
            checks: checks
                .map(|check| GoalRow {
                    // Whoever works is told no place of a file that is not shown.
                    check: match check.hidden {
                        true => "a hidden check".to_owned(),
                        false => check.run.clone(),
                    },
                    hidden: check.hidden,
                    green_at_base: check.green_at_base,
                    verdict: CheckVerdict::NotKnown,
                    why: "it was not asked".to_owned(),
                    next: String::new(),
                })
                .collect(),
            lines: Vec::new(),
            frozen: goal.map_or_else(Vec::new, |goal| goal.frozen.clone()),
            hidden_files: goal.map_or(0, |goal| goal.hidden.len()),
        }
    }

    fn is_green(&self) -> bool {
        let mut checks = self.checks.iter();
        self.lines.is_empty() && checks.all(|row| row.verdict == CheckVerdict::Green)
    }
}

impl Show for GoalAnswer {
    fn human(&self, page: &mut Page) {
        let fold = |text: &str| clean(text, Lines::Fold);
        let (tone, word) = match self.state {
            GoalState::GoalReached => (Tone::Good, "reached"),
            GoalState::NotReached => (Tone::Bad, "not reached"),
            GoalState::NotKnown => (Tone::Warn, "not known"),
            GoalState::Dropped => (Tone::Dim, "dropped"),
        };
        page.add_toned(tone, word);
        page.line(&format!("  {}", fold(&self.words)));
        if let Some(commit) = &self.commit {
            let place = match self.is_head {
                true => format!("at {}", short(commit)),
                false => "in the worktree, which holds what no commit has".to_owned(),
            };
            page.add_toned_line(Tone::Dim, &format!("  {place}"));
        }
        for row in &self.checks {
            let (tone, word) = match row.verdict {
                CheckVerdict::Green => (Tone::Good, "green"),
                CheckVerdict::Red => (Tone::Bad, "red"),
                CheckVerdict::NotKnown => (Tone::Warn, "open"),
            };
            page.text("  ");
            page.add_toned(tone, &format!("{word:<5}"));
            page.line(&format!(" {}", fold(&row.check)));
            if row.verdict != CheckVerdict::Green {
                page.line(&format!("        {}", fold(&row.why)));
            }
        }
        show_lines(page, &self.lines);
        if self.is_green() && !self.is_head {
            page.add_toned(Tone::Dim, "        next: ");
            page.line("commit it: a commit alone reaches the goal");
        }
    }

    fn exit(&self) -> Exit {
        match self.state {
            GoalState::GoalReached => Exit::Ok,
            GoalState::NotReached | GoalState::Dropped => Exit::CheckFailed,
            GoalState::NotKnown => Exit::State,
        }
    }
}
