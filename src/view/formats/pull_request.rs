//! The body of a pull request: what was to be done, whether it is proven, by whose votes, and what was
//! caught on the way.

use super::markdown::{code, cut, more, quote_lines, sign, table, tables};
use crate::view::results::{Results, Weight, plain};
use std::fmt::Write;

/// Bytes: GitHub takes 65,536 characters.
const LONGEST: usize = 60_000;
/// Lines of the mission.
const MISSION: usize = 20;

/// What a pull request tells.
#[derive(Debug)]
pub(crate) struct PullRequest {
    pub mission: String,
    results: Results,
    pub slices: Vec<SliceLine>,
    pub wave: u64,
    pub votes: Vec<VoteLine>,
    /// In the order of the log.
    pub caught: Vec<Caught>,
    /// Noes that changed nothing, in words.
    pub unheeded: Option<String>,
}

/// A slice of the plan.
#[derive(Debug)]
pub(crate) struct SliceLine {
    pub id: String,
    pub goal: String,
    pub status: &'static str,
    /// How often a commit was reported for it.
    pub attempts: usize,
    pub head: Option<String>,
}

/// A judge's vote.
#[derive(Debug)]
pub(crate) struct VoteLine {
    pub session: Option<String>,
    pub yes: bool,
    pub names: String,
}

/// A report that was refused, or a no that changed what was done after it.
#[derive(Debug)]
pub(crate) struct Caught {
    pub seq: u64,
    pub what: &'static str,
    pub names: String,
}

impl PullRequest {
    pub fn new(mission: String, results: Results) -> Self {
        Self {
            mission,
            results,
            slices: Vec::new(),
            wave: 0,
            votes: Vec::new(),
            caught: Vec::new(),
            unheeded: None,
        }
    }

    pub fn is_proven(&self) -> bool {
        self.results.passed
    }
}

/// The body.
pub fn body(request: &PullRequest) -> String {
    let mut text = String::from("## Mission\n\n");
    text.push_str(&quote_lines(&request.mission, MISSION));
    let results = &request.results;
    let _ = writeln!(
        text,
        "## Proof\n\n{} {}\n",
        sign(results.passed),
        code(&results.verdict)
    );
    tables(&mut text, results);
    text.push_str("## Slices\n\n");
    let rows = request.slices.iter().map(|slice| {
        [
            code(&plain(&slice.id)),
            code(&plain(&slice.goal)),
            slice.status.replace('_', " "),
            slice.attempts.to_string(),
            slice.head.as_deref().map_or("none".to_owned(), code),
        ]
    });
    let heads = ["slice", "goal", "status", "attempts", "commit"];
    table(&mut text, heads, rows);
    more(&mut text, request.slices.len(), "slice", "slices");
    if !request.votes.is_empty() {
        let _ = writeln!(text, "## Votes, wave {}\n", request.wave);
        let rows = request.votes.iter().map(|vote| {
            let session = vote.session.as_deref().map(plain);
            [
                session.map_or("not recorded".to_owned(), |it| code(&it)),
                if vote.yes { "✅ yes" } else { "❌ no" }.to_owned(),
                code(&plain(&vote.names)),
            ]
        });
        table(&mut text, ["judge", "vote", "names"], rows);
        more(&mut text, request.votes.len(), "vote", "votes");
    }
    if !request.caught.is_empty() {
        text.push_str("## What was caught\n\n");
        let rows = request.caught.iter().map(|caught: &Caught| {
            [
                caught.seq.to_string(),
                caught.what.to_owned(),
                code(&plain(&caught.names)),
            ]
        });
        table(&mut text, ["transition", "what", "names"], rows);
        more(&mut text, request.caught.len(), "catch", "catches");
    }
    if let Some(others) = &request.unheeded {
        let _ = writeln!(text, "{others}\n");
    }
    let open = results.found.iter().any(|it| it.weight == Weight::Fails);
    let how = match open {
        true => "What fails is in the tables above.",
        false => "Nothing above rests on an agent's word alone but what is `recorded`.",
    };
    let _ = writeln!(
        text,
        "{how} To make all of it again in a clone: `cook verify --from origin --rerun --trust-repo`"
    );
    cut(text, LONGEST)
}
