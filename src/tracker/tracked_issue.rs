//! Issues in the form that cook uses for all trackers. Texts are one clean line, except for descriptions and comments;
//! ids are single words.

use crate::prelude::*;
use cook_protocol::machine::id_is_valid;

/// The maximum length of a title or a name in characters.
const MAX_LINE: usize = 300;
/// The maximum length of a description or a comment in characters.
const MAX_TEXT: usize = 64 * 1024;

/// The status of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
#[allow(missing_docs)]
pub enum IssueStatus {
    Open,
    InProgress,
    Blocked,
    Closed,
    /// A status that only the tracker knows; neither in work nor closed.
    Other(String),
}

impl IssueStatus {
    /// Parses a tracker's word for a status.
    pub fn read(word: &str) -> Self {
        match word {
            "open" => Self::Open,
            "in_progress" | "in-progress" => Self::InProgress,
            "blocked" => Self::Blocked,
            "closed" | "done" | "tombstone" => Self::Closed,
            other => Self::Other(line(other)),
        }
    }

    /// The word for the status.
    pub fn id(&self) -> &str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Closed => "closed",
            Self::Other(word) => word,
        }
    }
}

impl From<IssueStatus> for String {
    fn from(status: IssueStatus) -> Self {
        status.id().to_owned()
    }
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Issue {
    /// ID of the issue, one word.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    pub id: String,
    /// Title of the issue.
    pub title: String,
    /// Status: `open`, `in_progress`, `blocked`, `closed`, or one of the tracker's own.
    #[schemars(with = "String")]
    pub status: IssueStatus,
    /// Type: `task`, `bug`, `epic`, `slice`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Priority; the smallest number comes first.
    #[schemars(with = "Option<f64>")]
    pub priority: Option<serde_json::Number>,
    /// Owner of the issue; null if there is none.
    pub assignee: Option<String>,
    /// Time of the last change, as the tracker writes it; null if unknown.
    pub updated_at: Option<String>,
    /// Description of the issue.
    pub description: String,
}

/// A short description of another issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Brief {
    /// ID of the issue.
    pub id: String,
    /// Title of the issue; empty if the tracker does not give it.
    pub title: String,
    /// Status, if the tracker gives it.
    #[schemars(with = "Option<String>")]
    pub status: Option<IssueStatus>,
    /// Type, if the tracker gives it: `task`, `epic`, …
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl Brief {
    /// Whether the issue is known to be closed.
    pub fn is_closed(&self) -> bool {
        self.status == Some(IssueStatus::Closed)
    }
}

/// A dependency between two issues, as one of them lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Link {
    /// Type of the dependency, as the tracker writes it. `blocks`, `conditional-blocks` and `waits-for` make an issue
    /// wait; `parent-child` links an issue to its parent.
    #[serde(rename = "type")]
    pub kind: String,
    /// The issue at the other end.
    pub issue: Brief,
}

impl Link {
    /// Whether the issue must wait. Only these types block; unknown types do not.
    pub fn blocks(&self) -> bool {
        matches!(
            self.kind.as_str(),
            "blocks" | "conditional-blocks" | "waits-for"
        )
    }

    /// Whether the other issue is the parent.
    pub fn is_parent(&self) -> bool {
        self.kind == "parent-child"
    }
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Comment {
    /// Author, if the tracker gives it.
    pub author: String,
    /// Time, as the tracker writes it.
    pub created_at: Option<String>,
    /// Text of the comment.
    pub text: String,
}

/// An issue to be created.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewIssue {
    /// The title.
    pub title: String,
    /// The type; `task` if `None`.
    pub kind: Option<String>,
    /// The priority, as the tracker's number.
    pub priority: Option<u8>,
    /// The description.
    pub description: Option<String>,
    /// The issue during whose work it was found.
    pub discovered_from: Option<String>,
}

/// Whether a word may be an id. Ids become arguments, file names and parts of prompts, so the rule for slice ids
/// applies.
pub fn is_id(word: &str) -> bool {
    id_is_valid(word)
}

/// Cleans a text, joins its lines and shortens it.
pub(super) fn line(text: &str) -> String {
    shorten(&clean(text, Lines::Fold), MAX_LINE)
}

/// Cleans a text, keeps its lines and shortens it.
pub(super) fn text(text: &str) -> String {
    shorten(&clean(text, Lines::Keep), MAX_TEXT)
}

/// The mark that identifies a comment. It counts only at the very end of a comment, so that text from elsewhere cannot
/// imitate it.
pub fn mark(key: &str) -> String {
    format!("[cook:{key}]")
}

/// Splits a comment into its text and the key in its mark.
pub fn split_mark(comment: &str) -> (&str, Option<&str>) {
    let whole = comment.trim_end();
    let marked = whole.strip_suffix(']').and_then(|rest| {
        let (text, key) = rest.rsplit_once("[cook:")?;
        is_id(key).then_some((text.trim_end(), Some(key)))
    });
    marked.unwrap_or((comment, None))
}

/// Whether a comment has the mark with this key.
pub fn carries(comment: &str, key: &str) -> bool {
    split_mark(comment).1 == Some(key)
}

/// Owner of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "is", content = "name")]
pub enum Holder {
    /// The issue has no owner.
    Nobody,
    /// The current actor owns the issue.
    Mine,
    /// Another actor, whose name follows, owns the issue.
    Other(String),
}

/// Issues that depend on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Reach {
    /// Parent of the issue.
    pub parent: Option<Brief>,
    /// Open issues that wait for the issue.
    pub unblocks: Vec<Brief>,
    /// Number of open issues that wait for the issue, directly or indirectly.
    pub unblocks_all: usize,
    /// Number of issues on the longest chain that starts with this issue, including it.
    pub chain: usize,
    /// Whether the numbers are complete; otherwise they are lower bounds.
    pub complete: bool,
}

/// An issue that can be worked on.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReadyIssue {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// Owner of the issue.
    pub holder: Holder,
    /// Issues that depend on the issue; null if unknown.
    pub reach: Option<Reach>,
}

/// Issues that can be worked on.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReadyList {
    /// Issues, in order of work.
    #[serde(rename = "ready")]
    pub rows: Vec<ReadyIssue>,
    /// Known cycles of issues that wait for one another.
    pub cycles: Vec<Vec<String>>,
    /// Reasons why rows are incomplete, each once.
    #[serde(skip)]
    pub problems: Vec<String>,
}

// The operations of an issue tracker, whatever its program.

/// Whether a comment may exist already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It was never sent.
    First,
    /// It may have arrived, so the issue's comments are first searched for its key.
    Again,
}

/// The result of adding a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commented {
    /// The comment was added.
    Added,
    /// The comment existed already.
    WasThere,
}

/// An issue tracker.
///
/// Methods fail with a [`TrackerError`]. After an error of a write for which [`TrackerError::is_outage`] holds, it is
/// unknown whether the write happened.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait Tracker: Sync {
    /// `none`, `br` or `bd`.
    fn name(&self) -> &'static str;

    /// Checks whether the tracker answers. `Absent`: there is none here, or its workspace is not initialised.
    /// `Unavailable`: it is locked, does not end, or access is denied; the next session start tries again.
    fn detect(&self) -> Result<()> {
        Ok(())
    }

    /// The issues in work: this actor's first, then the most recently updated.
    fn current(&self) -> Result<Vec<Issue>>;

    /// The ready issues, in the tracker's order of priority. May include issues in work and issues of others, but no
    /// blocked or closed ones.
    fn ready(&self) -> Result<Vec<Issue>>;

    /// Returns an issue.
    fn show(&self, id: &str) -> Result<Issue>;

    /// The comments of an issue, oldest first.
    fn comments(&self, id: &str) -> Result<Vec<Comment>>;

    /// The issues that depend on this one.
    fn dependents(&self, id: &str) -> Result<Vec<Link>>;

    /// The issues on which this one depends.
    fn dependencies(&self, id: &str) -> Result<Vec<Link>>;

    /// Assigns the issue to this actor and puts it in work. Refuses an issue of another actor without changing it.
    fn claim(&self, id: &str) -> Result<Issue>;

    /// Adds a comment that ends with `[cook:<key>]`.
    fn comment(&self, id: &str, key: &str, text: &str, attempt: Attempt) -> Result<Commented>;

    /// Closes an issue and reads it again to verify that. The second value says whether it was closed before.
    fn close(&self, id: &str, reason: &str) -> Result<(Issue, bool)>;

    /// Creates an issue.
    fn create(&self, new: &NewIssue) -> Result<Issue>;

    /// The ready issues, and what the first few of them unblock. The latter is looked up in parallel, and left out if
    /// it does not arrive before `end`.
    fn ready_list(&self, end: Instant) -> Result<ReadyList>;

    /// Whether a name is this actor's.
    fn is_mine(&self, _assignee: &str) -> bool {
        false
    }

    /// The same tracker with a deadline for all further calls.
    fn until(&self, end: Instant) -> Box<dyn Tracker + '_>;
}

/// The result of a call to a tracker.
pub(super) type Result<T, E = TrackerError> = std::result::Result<T, E>;

/// All errors between cook and a tracker.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    /// There is no tracker here: the workspace or the program is missing, or it is not initialised.
    #[error("there is no `{0}` workspace here: {1}")]
    Absent(&'static str, String),
    /// It does not end, is locked, has disappeared, or access is denied. The effect of a write is unknown.
    #[error("`{0}` is unavailable: {1}")]
    Unavailable(&'static str, String),
    /// The time limit of all calls together has passed. The tracker itself may be fine.
    #[error("`{0}` took longer than cook waits")]
    Spent(&'static str),
    /// There is no such issue.
    #[error("unknown issue `{0}`")]
    Unknown(String),
    /// Another actor has the issue.
    #[error("issue `{0}` is held by {1}")]
    Held(String, String),
    /// The issue is not closed after a close.
    #[error("issue `{0}` is not closed: {1}")]
    NotClosed(String, String),
    /// The issue is not assigned after a claim.
    #[error("issue `{0}` was not claimed: {1}")]
    NotClaimed(String, String),
    /// The word cannot be an id.
    #[error("`{0}` is not an issue id")]
    BadId(String),
    /// No tracker accepts this text.
    #[error("the text {0}")]
    BadText(&'static str),
    /// The tracker refused the request.
    #[error("`{0}` refused ({1}): {2}")]
    Rejected(&'static str, String, String),
    /// The answer has an unknown form.
    #[error("the answer of `{0}` cannot be read: {1}")]
    Shape(String, String),
    /// The checkpoint trail cannot be read or written.
    #[error("the checkpoint trail: {}", .0.message)]
    Trail(Failure),
    /// Only reports change the plan.
    #[error("{0}")]
    Plan(String, &'static str),
}

impl TrackerError {
    /// Whether trying later can help; a write may have happened nevertheless.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Spent { .. })
    }

    /// Whether the tracker is unavailable for further calls too.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Absent { .. })
    }

    /// The error as a finding beside another answer.
    pub fn finding(&self) -> Finding {
        Finding::new(Code::TrackerBehind, self.to_string())
    }

    /// Converts an error of a child process that gave no answer.
    pub(super) fn of_process(tracker: &'static str, error: &ProcessError) -> Self {
        let why = match error {
            ProcessError::NotFound(_) => "its program is gone".to_owned(),
            ProcessError::NotExecutable(_) => "its program may not be executed".to_owned(),
            ProcessError::Deadline { after, .. } => format!(
                "no answer within {}; it was ended",
                humantime::format_duration(*after)
            ),
            other => other.to_string(),
        };
        Self::Unavailable(tracker, why)
    }
}

impl From<TrackerError> for Failure {
    fn from(error: TrackerError) -> Self {
        let message = error.to_string();
        let code = match error {
            TrackerError::Trail(error) => return error,
            TrackerError::BadId(_) | TrackerError::BadText(_) => return Self::usage(message),
            TrackerError::Absent(tracker, _) => {
                let hint = format!("run `{tracker} init`, or set `[tracker] kind`");
                return Self::state(Code::TrackerAbsent, message).replace_hints([hint]);
            }
            TrackerError::Unavailable(..) | TrackerError::Spent(_) => {
                return Self::state(Code::TrackerUnavailable, message);
            }
            TrackerError::Shape(..) => return Self::state(Code::TrackerUnreadable, message),
            TrackerError::Plan(_, hint) => {
                let refusal = Refusal::new(Code::IssueFollowsSlice, message);
                return refusal.replace_hints([hint]).into();
            }
            TrackerError::Unknown(_) => Code::IssueUnknown,
            TrackerError::Held(..) => Code::IssueHeld,
            TrackerError::NotClosed(..) => Code::IssueNotClosed,
            TrackerError::NotClaimed(..) | TrackerError::Rejected(..) => Code::TrackerRefused,
        };
        Refusal::new(code, message).into()
    }
}

// The ready list: the parent of each issue, and the issues that wait for it.
//
// The first few issues are looked up in parallel under one deadline. Answers that come too late are left out, and the
// row says that it is incomplete.

/// How many rows are looked up.
pub const ENRICHED: usize = 5;

/// How many issues are asked for dependents, beyond those of the rows.
const MAX_ASKED: usize = 200;

/// How many calls run at the same time.
const AT_ONCE: usize = 5;

/// The owner of an issue from the view of a tracker's actor.
pub(super) fn holder(tracker: &dyn Tracker, issue: &Issue) -> Holder {
    match &issue.assignee {
        None => Holder::Nobody,
        Some(name) if tracker.is_mine(name) => Holder::Mine,
        Some(name) => Holder::Other(name.clone()),
    }
}

/// Looks up the first rows.
pub(super) fn explore(
    tracker: &dyn Tracker,
    issues: Vec<Issue>,
    end: Instant,
) -> Result<ReadyList> {
    let tracker = &*tracker.until(end);
    let mut seen = Seen::default();
    let first: Vec<String> = issues.iter().take(ENRICHED).map(|i| i.id.clone()).collect();
    let parents = ask_side_by_side(&first, |id| {
        let links = tracker.dependencies(id)?;
        Ok(with_parents_type(tracker, links))
    });
    let parents: Vec<Option<Vec<Link>>> = parents.into_iter().map(|a| seen.note(a)).collect();
    seen.ask(tracker, &first);
    let rows = issues
        .into_iter()
        .enumerate()
        .map(|(at, issue)| {
            let down = parents.get(at).and_then(Option::as_ref);
            ReadyIssue {
                holder: holder(tracker, &issue),
                reach: (at < ENRICHED)
                    .then(|| seen.reach(&issue.id, down))
                    .flatten(),
                issue,
            }
        })
        .collect();
    Ok(ReadyList {
        rows,
        cycles: seen.cycles(),
        problems: seen.problems.into_iter().collect(),
    })
}

/// Adds the parent's type to the links of an issue, because some trackers only give it with the parent itself. It is
/// left out if the parent cannot be read.
pub(crate) fn with_parents_type(tracker: &dyn Tracker, mut links: Vec<Link>) -> Vec<Link> {
    let parent = links.iter_mut().find(|link| link.is_parent());
    if let Some(parent) = parent.filter(|link| link.issue.kind.is_none()) {
        let shown = tracker.show(&parent.issue.id).ok();
        parent.issue.kind = shown.map(|issue| issue.kind);
    }
    links
}

/// The open issues that waited for this one and have no other open dependency.
///
/// # Errors
/// The tracker cannot be asked.
pub fn list_unblocked_by(tracker: &dyn Tracker, id: &str) -> Result<Vec<Brief>> {
    let waiting: Vec<Brief> = list_waiting(&tracker.dependents(id)?);
    let ids: Vec<String> = waiting
        .iter()
        .map(|brief| brief.id.clone())
        .take(MAX_ASKED)
        .collect();
    let mut free = Vec::new();
    for (brief, needs) in waiting
        .into_iter()
        .zip(ask_side_by_side(&ids, |id| tracker.dependencies(id)))
    {
        let still = |link: &Link| link.blocks() && link.issue.id != id && !link.issue.is_closed();
        if !needs?.iter().any(still) {
            free.push(brief);
        }
    }
    Ok(free)
}

/// The open issues at the other end of blocking links.
fn list_waiting(links: &[Link]) -> Vec<Brief> {
    let mut waiting: Vec<Brief> = links
        .iter()
        .filter(|link| link.blocks() && !link.issue.is_closed())
        .map(|link| link.issue.clone())
        .collect();
    waiting.sort_by(|a, b| a.id.cmp(&b.id));
    waiting.dedup_by(|a, b| a.id == b.id);
    waiting
}

/// The known dependents of issues.
#[derive(Default)]
struct Seen {
    /// The issues that were asked about, each with its dependents.
    edges: BTreeMap<String, Vec<Brief>>,
    /// The issues that could not be asked about.
    unasked: BTreeSet<String>,
    problems: BTreeSet<String>,
}

impl Seen {
    fn note<T>(&mut self, answer: Result<T>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.problems.insert(error.to_string());
                None
            }
        }
    }

    /// Asks for the dependents of these issues, then for theirs, and so on.
    fn ask(&mut self, tracker: &dyn Tracker, first: &[String]) {
        let mut due = first.to_vec();
        while !due.is_empty() {
            let room = (MAX_ASKED + first.len()).saturating_sub(self.edges.len());
            if due.len() > room {
                self.problems.insert(format!(
                    "more than {MAX_ASKED} issues wait; not all were looked at"
                ));
                self.unasked.extend(due.drain(room..));
            }
            let answers = ask_side_by_side(&due, |id| tracker.dependents(id));
            let mut next = BTreeSet::new();
            for (id, answer) in due.drain(..).zip(answers) {
                let Some(links) = self.note(answer) else {
                    self.unasked.insert(id);
                    continue;
                };
                let waiting = list_waiting(&links);
                next.extend(waiting.iter().map(|brief| brief.id.clone()));
                self.edges.insert(id, waiting);
            }
            next.retain(|id| !self.edges.contains_key(id) && !self.unasked.contains(id));
            due = next.into_iter().collect();
        }
    }

    fn list_waiting(&self, id: &str) -> impl Iterator<Item = &str> {
        let waiting = self.edges.get(id).into_iter().flatten();
        waiting.map(|brief| brief.id.as_str())
    }

    /// The issues that wait for this one, directly or indirectly. It includes itself if it is part of a cycle.
    fn list_reached(&self, id: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut due: Vec<&str> = self.list_waiting(id).collect();
        while let Some(next) = due.pop() {
            if reached.insert(next) {
                due.extend(self.list_waiting(next));
            }
        }
        reached
    }

    /// The number of issues on the longest chain from this one. Each length is computed once, and a cycle ends a chain.
    /// The recursion is at most as deep as the number of issues in `edges`.
    fn measure_chain<'s>(&'s self, id: &'s str, known: &mut BTreeMap<&'s str, usize>) -> usize {
        if let Some(length) = known.get(id) {
            return *length;
        }
        known.insert(id, 0);
        let rest = self
            .list_waiting(id)
            .map(|next| self.measure_chain(next, known));
        let length = rest.max().unwrap_or(0) + 1;
        known.insert(id, length);
        length
    }

    fn cycles(&self) -> Vec<Vec<String>> {
        let ids = self.edges.keys();
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            ids.map(|id| (id.as_str(), self.list_reached(id))).collect();
        let cycle = |id: &str| -> Vec<String> {
            let others = reached[id].iter();
            let back =
                others.filter(|other| reached.get(*other).is_some_and(|all| all.contains(id)));
            back.map(|other| (*other).to_owned()).collect()
        };
        let cycles: BTreeSet<Vec<String>> = reached.keys().map(|id| cycle(id)).collect();
        cycles
            .into_iter()
            .filter(|cycle| !cycle.is_empty())
            .collect()
    }

    /// `None` if not even the direct dependents are known.
    fn reach(&self, id: &str, down: Option<&Vec<Link>>) -> Option<Reach> {
        let unblocks = self.edges.get(id)?.clone();
        let mut reached = self.list_reached(id);
        reached.remove(id);
        Some(Reach {
            parent: down
                .and_then(|links| links.iter().find(|link| link.is_parent()))
                .map(|link| link.issue.clone()),
            unblocks,
            unblocks_all: reached.len(),
            chain: self.measure_chain(id, &mut BTreeMap::new()),
            complete: down.is_some() && !reached.iter().any(|id| self.unasked.contains(*id)),
        })
    }
}

/// Asks the same question about each id, some in parallel, and returns the answers in order.
fn ask_side_by_side<T: Send>(ids: &[String], ask: impl Fn(&str) -> T + Sync) -> Vec<T> {
    let mut answers = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let asked = thread::on_each(some, |id| ask(id)).into_iter();
        answers.extend(
            asked.map(|answer| answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_mark_counts() {
        for (comment, text, key) in [
            ("done [cook:K1]", "done", Some("K1")),
            ("done [cook:K1]\n", "done", Some("K1")),
            (
                "as [cook:K1] says [cook:K2]",
                "as [cook:K1] says",
                Some("K2"),
            ),
            ("as [cook:K1] says", "as [cook:K1] says", None),
            ("[cook:]", "[cook:]", None),
            ("[cook:a b]", "[cook:a b]", None),
            ("", "", None),
        ] {
            assert_eq!(split_mark(comment), (text, key), "{comment:?}");
        }
    }
}
