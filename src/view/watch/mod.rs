//! `cook watch`: what a run is at, in a terminal or line by line.
//!
//! Invariant: every text in a [`Watched`] was cleaned when it was put there, so that nothing of it acts
//! on a terminal; what is drawn follows from it and the size alone.

mod frame;
mod line;
mod terminal;

pub(crate) use line::make_line;
pub(crate) use terminal::{Key, WatchTerminal};

use crate::view::results::{plain, shorten};

/// Characters of a text.
const LONGEST: usize = 300;

/// Somebody's words, harmless.
pub(crate) fn show_words(text: &str) -> String {
    shorten(&plain(text), LONGEST)
}

/// What is seen of the work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Watched {
    pub mission: String,
    /// Policy, phase and how far the log is.
    pub standing: String,
    /// What agents have cost.
    pub cost: String,
    pub waits: Option<WatchedWait>,
    /// A question can be answered.
    pub asks: bool,
    pub slices: Vec<WatchedSlice>,
    /// What the driver is at, or that there is none; a word of warning first where one was killed.
    pub run: Run,
    pub sessions: Vec<WatchedSession>,
    /// Newest last.
    pub moments: Vec<String>,
    pub pane: Pane,
    /// What the last key came to.
    pub note: Option<String>,
}

/// What the work waits for, and the command that leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchedWait {
    pub what: String,
    pub exit: String,
}

/// Who drives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Run {
    /// Nobody.
    #[default]
    None,
    /// A process, and what it is at where no session is held.
    Driven(String),
    /// A process that is gone left a session unfinished.
    Killed(String),
}

/// A slice and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchedSlice {
    pub id: String,
    pub goal: String,
    pub status: &'static str,
    pub proven: usize,
    pub criteria: usize,
}

/// A session that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchedSession {
    /// Role, agent, process, how long.
    pub what: String,
    /// Its last words, newest last.
    pub lines: Vec<String>,
}

/// What is open below the slices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Pane {
    #[default]
    Work,
    /// A report, from that line on.
    Report {
        title: String,
        lines: Vec<String>,
        from: usize,
    },
    /// The user writes an answer.
    Answer { question: String, text: String },
}

#[cfg(test)]
mod tests;
