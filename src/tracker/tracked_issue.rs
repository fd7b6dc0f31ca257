//! Issues as cook sees them, whatever tracker they come from. Texts are one
//! clean line (a description and a comment keep their lines); ids are single words.

use crate::prelude::*;
use cook_protocol::machine::id_is_valid;

/// Longest line that is kept of a title or a name, in characters.
const MAX_LINE: usize = 300;
/// Longest text that is kept of a description or a comment, in characters.
const MAX_TEXT: usize = 64 * 1024;

/// Where an issue stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
#[allow(missing_docs)]
pub enum IssueStatus {
    Open,
    InProgress,
    Blocked,
    Closed,
    /// A state that only the tracker knows; neither in work nor closed.
    Other(String),
}

impl IssueStatus {
    /// Reads a tracker's word.
    pub fn read(word: &str) -> Self {
        match word {
            "open" => Self::Open,
            "in_progress" | "in-progress" => Self::InProgress,
            "blocked" => Self::Blocked,
            "closed" | "done" | "tombstone" => Self::Closed,
            other => Self::Other(line(other)),
        }
    }

    /// The word that is shown.
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

/// One issue.
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
    /// Owner of the issue.
    pub assignee: Option<String>,
    /// Time of the last change, as the tracker writes it.
    pub updated_at: Option<String>,
    /// Description of the issue.
    pub description: String,
}

/// What a line about another issue says of it.
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
    /// Known to be closed.
    pub fn is_closed(&self) -> bool {
        self.status == Some(IssueStatus::Closed)
    }
}

/// One dependency, seen from either end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Link {
    /// The dependency's type, as the tracker writes it. `blocks`, `conditional-blocks` and
    /// `waits-for` make an issue wait; `parent-child` makes a parent.
    #[serde(rename = "type")]
    pub kind: String,
    /// The issue at the other end.
    pub issue: Brief,
}

impl Link {
    /// Only these types make an issue wait; unknown ones do not.
    pub fn blocks(&self) -> bool {
        matches!(
            self.kind.as_str(),
            "blocks" | "conditional-blocks" | "waits-for"
        )
    }

    /// Only this type makes a parent.
    pub fn is_parent(&self) -> bool {
        self.kind == "parent-child"
    }
}

/// One comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Comment {
    /// Author, if the tracker gives it.
    pub author: String,
    /// Time, as the tracker writes it.
    pub created_at: Option<String>,
    /// Text of the comment.
    pub text: String,
}

/// An issue to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewIssue {
    /// Its title.
    pub title: String,
    /// `task` when none is given.
    pub kind: Option<String>,
    /// The tracker's number.
    pub priority: Option<u8>,
    /// What it is about.
    pub description: Option<String>,
    /// The issue in whose work it was found.
    pub discovered_from: Option<String>,
}

/// Whether a word may name an issue: it goes into argument vectors, file names
/// and prompts, so it follows the rule for slice ids.
pub fn is_id(word: &str) -> bool {
    id_is_valid(word)
}

/// One clean line, capped.
pub(super) fn line(text: &str) -> String {
    shorten(&clean(text, Lines::Fold), MAX_LINE)
}

/// Clean text with its lines, capped.
pub(super) fn text(text: &str) -> String {
    shorten(&clean(text, Lines::Keep), MAX_TEXT)
}

/// The mark that makes a comment one of a kind. Only at the very end of a comment
/// does it count, so that text from elsewhere cannot pass for one.
pub fn mark(key: &str) -> String {
    format!("[cook:{key}]")
}

/// A comment without its mark, and the key the mark holds.
pub fn split_mark(comment: &str) -> (&str, Option<&str>) {
    let whole = comment.trim_end();
    let marked = whole.strip_suffix(']').and_then(|rest| {
        let (text, key) = rest.rsplit_once("[cook:")?;
        is_id(key).then_some((text.trim_end(), Some(key)))
    });
    marked.unwrap_or((comment, None))
}

/// Whether a comment carries the mark.
pub fn carries(comment: &str, key: &str) -> bool {
    split_mark(comment).1 == Some(key)
}

/// Owner of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "is", content = "name")]
pub enum Holder {
    /// Nobody owns it.
    Nobody,
    /// This actor owns it.
    Mine,
    /// Someone else owns it.
    Other(String),
}

/// Issues that depend on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Reach {
    /// Parent of the issue.
    pub parent: Option<Brief>,
    /// Open issues that wait for it.
    pub unblocks: Vec<Brief>,
    /// Number of open issues that wait for it, directly or indirectly.
    pub unblocks_all: usize,
    /// Number of issues on the longest chain that starts here, including this one.
    pub chain: usize,
    /// Whether the numbers are complete; otherwise they are lower bounds.
    pub complete: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReadyIssue {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// Owner of the issue.
    pub holder: Holder,
    /// Issues that depend on it; null if unknown.
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

// What can be asked of an issue tracker, whatever program it is.

/// Whether a comment may be there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It was never sent.
    First,
    /// It may have arrived: the issue's comments are searched for its key first.
    Again,
}

/// What became of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commented {
    /// It was added now.
    Added,
    /// It was there.
    WasThere,
}

/// A list of issues and what can be done with one.
///
/// Every method that fails has a [`TrackerError`]; after an error of a write
/// for which [`TrackerError::is_outage`] holds it is not known whether it happened.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait Tracker: Sync {
    /// `none`, `br` or `bd`.
    fn name(&self) -> &'static str;

    /// Asks whether it answers. `Absent`: there is none here, its workspace is not initialised.
    /// `Unavailable`: it is locked, hangs or is denied; worth another try at the next session start.
    fn detect(&self) -> Result<()> {
        Ok(())
    }

    /// Issues in work: this actor's first, then the most recently updated.
    fn current(&self) -> Result<Vec<Issue>>;

    /// What could be worked on, in the tracker's order of priority. May name issues in
    /// work and other people's; never blocked or closed ones.
    fn ready(&self) -> Result<Vec<Issue>>;

    /// One issue.
    fn show(&self, id: &str) -> Result<Issue>;

    /// Its comments, oldest first.
    fn comments(&self, id: &str) -> Result<Vec<Comment>>;

    /// Who depends on it.
    fn dependents(&self, id: &str) -> Result<Vec<Link>>;

    /// What it depends on.
    fn dependencies(&self, id: &str) -> Result<Vec<Link>>;

    /// Makes it this actor's, in work. One that another actor holds is refused and
    /// not changed.
    fn claim(&self, id: &str) -> Result<Issue>;

    /// Adds a comment that ends with `[cook:<key>]`.
    fn comment(&self, id: &str, key: &str, text: &str, attempt: Attempt) -> Result<Commented>;

    /// Closes it, and reads it again to see that it is closed; the second: it was already.
    fn close(&self, id: &str, reason: &str) -> Result<(Issue, bool)>;

    /// Makes an issue.
    fn create(&self, new: &NewIssue) -> Result<Issue>;

    /// What could be worked on, and what each of the first few brings: asked for
    /// side by side, and left out where it does not come before `end`.
    fn ready_list(&self, end: Instant) -> Result<ReadyList>;

    /// Whether a name is this actor's.
    fn is_mine(&self, _assignee: &str) -> bool {
        false
    }

    /// The same tracker, with a deadline over everything it still does.
    fn until(&self, end: Instant) -> Box<dyn Tracker + '_>;
}

/// What fails where a tracker is asked.
pub(super) type Result<T, E = TrackerError> = std::result::Result<T, E>;

/// Everything that can go wrong between cook and a tracker.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    /// There is no tracker here: no workspace, no program, or not initialised.
    #[error("there is no `{0}` workspace here: {1}")]
    Absent(&'static str, String),
    /// It hangs, is locked, vanished, or may not be used. What a write did is not known.
    #[error("`{0}` is unavailable: {1}")]
    Unavailable(&'static str, String),
    /// The time that it and its other calls have together was over. It may be well.
    #[error("`{0}` took longer than cook waits")]
    Spent(&'static str),
    /// No such issue.
    #[error("unknown issue `{0}`")]
    Unknown(String),
    /// Somebody else has it.
    #[error("issue `{0}` is held by {1}")]
    Held(String, String),
    /// It was asked to close and is not closed.
    #[error("issue `{0}` is not closed: {1}")]
    NotClosed(String, String),
    /// It was asked to go to somebody and did not.
    #[error("issue `{0}` was not claimed: {1}")]
    NotClaimed(String, String),
    /// A word that can name no issue.
    #[error("`{0}` is not an issue id")]
    BadId(String),
    /// A text that no tracker takes.
    #[error("the text {0}")]
    BadText(&'static str),
    /// The tracker said no, for a reason of its own.
    #[error("`{0}` refused ({1}): {2}")]
    Rejected(&'static str, String, String),
    /// Its answer does not have a shape that cook knows.
    #[error("the answer of `{0}` cannot be read: {1}")]
    Shape(String, String),
    /// The checkpoint trail cannot be read or written.
    #[error("the checkpoint trail: {}", .0.message)]
    Trail(Failure),
    /// The plan is moved by reports alone.
    #[error("{0}")]
    Plan(String, &'static str),
}

impl TrackerError {
    /// Trying later can help, and a write may have happened all the same.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Spent { .. })
    }

    /// The tracker itself is out of reach, for the next caller too.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Absent { .. })
    }

    /// The same as something worth a word beside another answer.
    pub fn finding(&self) -> Finding {
        Finding::new(Code::TrackerBehind, self.to_string())
    }

    /// From a child process that gave no answer.
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

// The ready list: what each issue belongs to and what waits for it.
//
// The first few issues are looked into side by side under one deadline; what
// does not come in time is left out and the row says that it is not complete.

/// Rows that are looked into.
pub const ENRICHED: usize = 5;

/// Issues whose dependents are asked for, beyond those of the rows themselves.
const MAX_ASKED: usize = 200;

/// Questions under way at once.
const AT_ONCE: usize = 5;

/// Whose an issue is to a tracker's actor.
pub(super) fn holder(tracker: &dyn Tracker, issue: &Issue) -> Holder {
    match &issue.assignee {
        None => Holder::Nobody,
        Some(name) if tracker.is_mine(name) => Holder::Mine,
        Some(name) => Holder::Other(name.clone()),
    }
}

/// Looks into the first rows.
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

/// The links of an issue, that to its parent with the parent's type: some trackers say it only where
/// they show the parent itself. What cannot be asked for is left out.
pub(crate) fn with_parents_type(tracker: &dyn Tracker, mut links: Vec<Link>) -> Vec<Link> {
    let parent = links.iter_mut().find(|link| link.is_parent());
    if let Some(parent) = parent.filter(|link| link.issue.kind.is_none()) {
        let shown = tracker.show(&parent.issue.id).ok();
        parent.issue.kind = shown.map(|issue| issue.kind);
    }
    links
}

/// Open issues that waited for this one and wait for nothing that is still open.
///
/// # Errors
/// When the tracker does not say.
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

/// The open issues at the other end of links that block.
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

/// What was learnt of who waits for whom.
#[derive(Default)]
struct Seen {
    /// Each issue that was asked about, with who waits for it.
    edges: BTreeMap<String, Vec<Brief>>,
    /// Issues that could not be asked about.
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

    /// Asks who waits for these, then for those, and so on.
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

    /// Issues that wait for this one, directly or not; itself too where it stands in a circle.
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

    /// Issues on the longest chain from this one. Each one's length is computed once; a circle ends a
    /// chain. No deeper than the number of issues that were asked about.
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

    /// None when not even the issue's own dependents are known.
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

/// Asks the same of each id, a few at once, and gives the answers in the same order.
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
