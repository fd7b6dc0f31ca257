//! `cook issue`: issues from the plan, `br` or `bd`.

use super::context::*;
use super::recorded::note_outage;
use crate::tracker::{
    Attempt, Bounds, Brief, Comment, Commented, Holder, Issue, Link, Memory, NewIssue, Outage,
    PlanTracker, ReadyIssue, ReadyList, Tracker, is_own_file, list_unblocked_by, may_claim,
    may_close, open,
};
use cook_protocol::diagnostic::list_with_verb;

#[derive(Debug, Subcommand)]
pub(super) enum IssueCommand {
    /// List the issues that can be worked on, and what each unblocks
    Ready,
    /// Show an issue with its dependencies and comments
    Show {
        /// ID of the issue
        id: String,
    },
    /// Claim an issue, unless someone else holds it
    Claim {
        /// ID of the issue
        id: String,
    },
    /// Close an issue, and check that it is closed
    Close {
        /// ID of the issue
        id: String,
        /// Record this reason for closing the issue
        #[arg(long, value_name = "TEXT", default_value = "done", allow_hyphen_values = true, value_parser = free_text)]
        reason: String,
    },
    /// Comment on an issue
    Comment {
        /// ID of the issue
        id: String,
        /// Text of the comment (`-` reads standard input)
        #[arg(allow_hyphen_values = true, value_parser = free_text)]
        text: String,
        /// Add the comment only once, even if the command is repeated with this key
        #[arg(long, value_name = "WORD")]
        key: Option<String>,
    },
    /// Create an issue
    Create(CreateIssueArgs),
    /// Show the tracker and the issues in work
    Status,
}

#[derive(Debug, Args)]
pub(super) struct CreateIssueArgs {
    /// Title of the issue
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub title: String,
    /// Set the type: `task`, `bug`, `feature`, … [default: task]
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Set the priority; 0 is the highest
    #[arg(long, value_name = "N")]
    pub priority: Option<u8>,
    /// Set the description
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
    pub description: Option<String>,
    /// Name the issue during whose work this one was found
    #[arg(long, value_name = "ID")]
    pub discovered_from: Option<String>,
}

/// How long the first rows of the ready list may be enriched.
const ENRICH: Duration = Duration::from_secs(5);

/// The command's worktree and its tracker.
struct Issues {
    workspace: Workspace,
    /// `None` before `cook init`.
    plan: Option<Plan>,
    tracker: Box<dyn Tracker>,
}

impl Issues {
    /// Opens the tracker. If it does not answer, the outage is noted, so that hooks do not ask it again before the next
    /// session start.
    fn open(context: &Context, bounds: Bounds) -> Result<Self> {
        let workspace = context.workspace()?;
        let snapshot = workspace.current()?.1;
        let kind = workspace.config()?.tracker();
        let tracker: Box<dyn Tracker> = match open(kind, workspace.repo.root(), bounds) {
            Ok(Some(beads)) => Box::new(beads),
            Ok(None) => match &snapshot {
                Some(snapshot) => Box::new(PlanTracker::new(
                    service::find_plan(&workspace, snapshot)?,
                    workspace.place(),
                    workspace.clock,
                )),
                None => {
                    let what = "there is neither a plan nor an issue tracker in this worktree";
                    return Err(Failure::state(Code::NotInitialised, what));
                }
            },
            Err(error) => {
                note_outage(&workspace, &error);
                return Err(error.into());
            }
        };
        Ok(Self {
            workspace,
            plan: snapshot.map(|snapshot| snapshot.plan),
            tracker,
        })
    }

    fn answer_change(&self, did: &'static str, issue: crate::tracker::Issue) -> IssueChangedAnswer {
        IssueChangedAnswer {
            tracker: self.tracker.name(),
            did,
            changed: true,
            issue,
            key: None,
            unblocked: Vec::new(),
            findings: Vec::new(),
        }
    }
}

pub(super) fn issue(context: &Context, command: &IssueCommand) -> Answer {
    let bounds = match command {
        IssueCommand::Ready | IssueCommand::Show { .. } | IssueCommand::Status => Bounds::reading(),
        _ => Bounds::command(),
    };
    let issues = Issues::open(context, bounds)?;
    match command {
        IssueCommand::Ready => ready(&issues),
        IssueCommand::Show { id } => show(&issues, id),
        IssueCommand::Claim { id } => claim(&issues, id),
        IssueCommand::Close { id, reason } => close(&issues, id, reason),
        IssueCommand::Comment { id, text, key } => comment(&issues, id, text, key.as_deref()),
        IssueCommand::Create(new) => create(&issues, new),
        IssueCommand::Status => status(&issues),
    }
}

fn ready(issues: &Issues) -> Answer {
    let list = issues.tracker.ready_list(Instant::now() + ENRICH)?;
    let findings = list.problems.iter();
    let findings = findings.map(|why| Finding::new(Code::ReadyIncomplete, why.clone()));
    answer(IssueReadyAnswer {
        tracker: issues.tracker.name(),
        findings: findings.collect(),
        list,
    })
}

fn show(issues: &Issues, id: &str) -> Answer {
    let issue = issues.tracker.show(id)?;
    answer(IssueShowAnswer {
        tracker: issues.tracker.name(),
        dependencies: issues.tracker.dependencies(id)?,
        dependents: issues.tracker.dependents(id)?,
        comments: issues.tracker.comments(id)?,
        issue,
    })
}

fn follows(id: &str, slice: &str, when: &str) -> Failure {
    let what = format!("issue `{id}` belongs to slice `{slice}`, which is not {when} yet");
    Refusal::new(Code::IssueFollowsSlice, what).into()
}

fn claim(issues: &Issues, id: &str) -> Answer {
    if let Some(plan) = &issues.plan {
        may_claim(plan, id).map_err(|slice| follows(id, slice, "selected"))?;
    }
    let was = issues.tracker.show(id)?;
    let issue = issues.tracker.claim(id)?;
    let mut changed = issues.answer_change("claimed", issue);
    changed.changed = was != changed.issue;
    answer(changed)
}

fn close(issues: &Issues, id: &str, reason: &str) -> Answer {
    if let Some(plan) = &issues.plan {
        may_close(plan, id).map_err(|slice| follows(id, slice, "accepted"))?;
    }
    // Closing an issue of the plan writes nothing, so uncommitted changes do not matter there.
    if issues.tracker.name() != "none" {
        clean(&issues.workspace)?;
    }
    let (issue, was_closed) = issues.tracker.close(id, reason)?;
    let mut changed = issues.answer_change("closed", issue);
    changed.changed = !was_closed;
    match list_unblocked_by(&*issues.tracker, id) {
        Ok(unblocked) => changed.unblocked = unblocked,
        Err(error) => {
            let finding = Finding::new(Code::ReadyIncomplete, error.to_string());
            changed.findings.push(finding);
        }
    }
    answer(changed)
}

/// Refuses if anything but the tracker's own files is uncommitted.
fn clean(workspace: &Workspace) -> Result<()> {
    let worktree = workspace.repo.status()?.worktree;
    let dirty = worktree.dirty.iter().filter(|path| !is_own_file(path));
    let dirty: Vec<&String> = dirty.collect();
    if dirty.is_empty() && worktree.more == 0 {
        return Ok(());
    }
    let named = &dirty[..dirty.len().min(5)];
    let more = match (dirty.len() - named.len()) as u64 + worktree.more {
        0 => String::new(),
        more => format!(" ({} more)", count_noun(more, "path")),
    };
    let what = format!("{} not committed{more}", list_with_verb(named));
    Err(Refusal::new(Code::IssueDirty, what).into())
}

fn comment(issues: &Issues, id: &str, text: &str, key: Option<&str>) -> Answer {
    let text = input::read_argument(text)?;
    let (key, attempt) = match key {
        Some(key) => (key.to_owned(), Attempt::Again),
        None => (ulid::Ulid::generate().to_string(), Attempt::First),
    };
    let issue = issues.tracker.show(id)?;
    let said = issues.tracker.comment(id, &key, &text, attempt)?;
    let mut changed = issues.answer_change("commented", issue);
    changed.changed = said == Commented::Added;
    changed.key = Some(key);
    answer(changed)
}

fn create(issues: &Issues, new: &CreateIssueArgs) -> Answer {
    let issue = issues.tracker.create(&NewIssue {
        title: new.title.clone(),
        kind: new.kind.clone(),
        priority: new.priority,
        description: new.description.clone(),
        discovered_from: new.discovered_from.clone(),
    })?;
    answer(issues.answer_change("created", issue))
}

fn status(issues: &Issues) -> Answer {
    let git_dir = issues.workspace.repo.git_dir();
    let outage = Memory::outage(git_dir)
        .map_err(|error| Failure::state(Code::InputUnreadable, error.to_string()))?;
    answer(IssueStatusAnswer {
        tracker: issues.tracker.name(),
        current: issues.tracker.current()?,
        ready: issues.tracker.ready()?.len(),
        outage,
    })
}

/// The number of paths and names on one line.
const MAX_NAMES: usize = 8;

const TRACKERS: [&str; 3] = ["none", "br", "bd"];

fn heading(page: &mut Page, issue: &Issue) {
    if let Some(number) = &issue.priority {
        page.text(&format!("[P{number}] "));
    }
    page.add_toned(Tone::Strong, &issue.id);
    page.text(&format!(" ({}) {}", issue.kind, issue.title));
}

fn describe_brief(brief: &Brief) -> String {
    format!("{} {}", brief.id, brief.title).trim().to_owned()
}

fn list_briefs(briefs: &[Brief]) -> String {
    if briefs.is_empty() {
        return "(none)".to_owned();
    }
    let mut names: Vec<String> = briefs.iter().take(MAX_NAMES).map(describe_brief).collect();
    if briefs.len() > MAX_NAMES {
        names.push(format!("{} more", briefs.len() - MAX_NAMES));
    }
    names.join(", ")
}

/// Issues that can be worked on, in order of work.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct IssueReadyAnswer {
    /// Tracker: `none`, `br` or `bd`.
    #[schemars(extend("enum" = TRACKERS))]
    tracker: &'static str,
    /// The issues.
    #[serde(flatten)]
    list: ReadyList,
    /// Reasons why rows are incomplete.
    findings: Vec<Finding>,
}

fn ready_row(page: &mut Page, row: &ReadyIssue) {
    heading(page, &row.issue);
    if let Holder::Other(name) = &row.holder {
        page.add_toned(Tone::Warn, &format!(" [held by {name}]"));
    }
    let status = row.issue.status.id();
    if status != "open" {
        let mine = if row.holder == Holder::Mine {
            ", yours"
        } else {
            ""
        };
        page.add_toned(Tone::Dim, &format!(" [{status}{mine}]"));
    }
    page.newline();
    let Some(reach) = &row.reach else { return };
    if let Some(parent) = &reach.parent {
        let kind = parent.kind.as_ref();
        let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
        page.line(&format!("   parent: {}{kind} {}", parent.id, parent.title));
    }
    page.line(&format!("   unblocks: {}", list_briefs(&reach.unblocks)));
    let least = if reach.complete { "" } else { "at least " };
    let (all, chain) = (reach.unblocks_all, reach.chain);
    page.line(&format!(
        "   {least}{all} wait for it in all · longest chain {least}{chain}"
    ));
}

impl Show for IssueReadyAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        if self.list.rows.is_empty() {
            page.line("nothing is ready");
        }
        self.list.rows.iter().for_each(|row| ready_row(page, row));
        for cycle in &self.list.cycles {
            page.add_toned(Tone::Warn, "in a circle");
            page.line(&format!("  {}", cycle.join(", ")));
        }
    }
}

/// One issue with its dependencies and comments.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct IssueShowAnswer {
    /// Tracker: `none`, `br` or `bd`.
    #[schemars(extend("enum" = TRACKERS))]
    tracker: &'static str,
    /// The issue.
    issue: Issue,
    /// Issues that the issue depends on.
    dependencies: Vec<Link>,
    /// Issues that depend on the issue.
    dependents: Vec<Link>,
    /// Comments, oldest first.
    comments: Vec<Comment>,
}

impl Show for IssueShowAnswer {
    fn human(&self, page: &mut Page) {
        heading(page, &self.issue);
        page.newline();
        page.row("status", self.issue.status.id());
        page.row_of("assignee", self.issue.assignee.as_ref());
        let needs = self.dependencies.iter().map(|link| ("needs", link));
        let needed = self.dependents.iter().map(|link| ("needed by", link));
        for (label, link) in needs.chain(needed) {
            let status = link.issue.status.as_ref().map_or("", |status| status.id());
            let (issue, kind) = (describe_brief(&link.issue), &link.kind);
            page.row(label, &format!("{issue}  {status}  ({kind})"));
        }
        if !self.issue.description.is_empty() {
            page.newline();
            page.lines(&self.issue.description);
        }
        for comment in &self.comments {
            page.newline();
            let when = comment.created_at.as_deref().unwrap_or_default();
            page.add_toned_line(Tone::Dim, &format!("{} {when}", comment.author));
            page.lines(&comment.text);
        }
    }
}

/// A change of an issue.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct IssueChangedAnswer {
    /// Tracker: `none`, `br` or `bd`.
    #[schemars(extend("enum" = TRACKERS))]
    tracker: &'static str,
    /// Kind of the change.
    #[schemars(extend("enum" = ["claimed", "closed", "commented", "created"]))]
    did: &'static str,
    /// Whether the command changed the issue.
    changed: bool,
    /// The issue after the change.
    issue: Issue,
    /// Key of the comment, whose text ends with `[cook:KEY]`; null without a comment.
    key: Option<String>,
    /// Issues that closing the issue unblocked.
    unblocked: Vec<Brief>,
    /// Findings of the command.
    findings: Vec<Finding>,
}

impl Show for IssueChangedAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        page.add_toned(Tone::Good, self.did);
        page.text(if self.changed { "  " } else { " already  " });
        heading(page, &self.issue);
        page.newline();
        if self.did == "closed" {
            page.line(&format!("   unblocked: {}", list_briefs(&self.unblocked)));
        }
    }
}

/// The tracker, and the issues in work.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct IssueStatusAnswer {
    /// Tracker: `none`, `br` or `bd`.
    #[schemars(extend("enum" = TRACKERS))]
    tracker: &'static str,
    /// Issues in work, this actor's first.
    current: Vec<Issue>,
    /// Number of issues that can be worked on.
    ready: usize,
    /// Last recorded outage of the tracker, which is over; null if there is none.
    outage: Option<Outage>,
}

impl Show for IssueStatusAnswer {
    fn human(&self, page: &mut Page) {
        let tracker = match self.tracker {
            "none" => "none: the plan's slices are the issues",
            name => name,
        };
        page.row("tracker", tracker);
        page.row("ready", &self.ready.to_string());
        for issue in &self.current {
            let holder = issue.assignee.as_deref().unwrap_or_default();
            page.row("in work", &format!("{} {} {holder}", issue.id, issue.title));
        }
        if let Some(outage) = &self.outage {
            page.row("was away", &format!("{}: {}", outage.since, outage.why));
        }
    }
}
