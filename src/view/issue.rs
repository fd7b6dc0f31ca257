//! `cook issue`: what a tracker says, marked with whose it is and what hangs on it.

use super::{Page, Show, Tone};
use crate::tracker::{Brief, Comment, Holder, Issue, Link, Outage, Reach, ReadyIssue, ReadyList};
use cook_core::diagnostic::Finding;
use serde::Serialize;

/// Paths and names shown on one line.
const MAX_NAMES: usize = 8;
#[cfg(feature = "schema")]
const TRACKERS: [&str; 3] = ["none", "br", "bd"];

fn heading(page: &mut Page, issue: &Issue) {
    let priority = issue
        .priority
        .as_ref()
        .map_or(String::new(), |number| format!("[P{number}] "));
    page.text(&priority);
    page.add_toned(Tone::Strong, &issue.id);
    page.text(&format!(" ({}) {}", issue.kind, issue.title));
}

fn describe_brief(brief: &Brief) -> String {
    format!("{} {}", brief.id, brief.title).trim().to_owned()
}

fn describe_parent(parent: &Brief) -> String {
    match &parent.kind {
        Some(kind) => format!("{} ({kind}) {}", parent.id, parent.title),
        None => describe_brief(parent),
    }
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

/// What could be worked on, in order of work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssueReadyAnswer {
    /// `none`, `br` or `bd`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = TRACKERS)))]
    pub tracker: &'static str,
    /// The rows.
    #[serde(flatten)]
    pub list: ReadyList,
    /// What kept rows from being complete.
    pub findings: Vec<Finding>,
}

impl IssueReadyAnswer {
    fn row(page: &mut Page, row: &ReadyIssue) {
        heading(page, &row.issue);
        if let Holder::Other(name) = &row.holder {
            page.add_toned(Tone::Warn, &format!(" [held by {name}]"));
        }
        if row.issue.status.id() != "open" {
            let mine = if row.holder == Holder::Mine {
                ", yours"
            } else {
                ""
            };
            page.add_toned(Tone::Dim, &format!(" [{}{mine}]", row.issue.status.id()));
        }
        page.newline();
        let Some(reach) = &row.reach else { return };
        if let Some(parent) = &reach.parent {
            page.line(&format!("   parent: {}", describe_parent(parent)));
        }
        page.line(&format!("   unblocks: {}", list_briefs(&reach.unblocks)));
        page.line(&format!("   {}", numbers(reach)));
    }
}

fn numbers(reach: &Reach) -> String {
    let least = if reach.complete { "" } else { "at least " };
    format!(
        "{least}{} wait for it in all · longest chain {least}{}",
        reach.unblocks_all, reach.chain
    )
}

impl Show for IssueReadyAnswer {
    fn human(&self, page: &mut Page) {
        if self.list.rows.is_empty() {
            page.line("nothing is ready");
        }
        for row in &self.list.rows {
            Self::row(page, row);
        }
        for cycle in &self.list.cycles {
            page.add_toned(Tone::Warn, "in a circle");
            page.line(&format!("  {}", cycle.join(", ")));
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// One issue with its dependencies and comments.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssueShowAnswer {
    /// `none`, `br` or `bd`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = TRACKERS)))]
    pub tracker: &'static str,
    /// The issue.
    pub issue: Issue,
    /// What it depends on.
    pub dependencies: Vec<Link>,
    /// What depends on it.
    pub dependents: Vec<Link>,
    /// What was said about it, oldest first.
    pub comments: Vec<Comment>,
}

impl Show for IssueShowAnswer {
    fn human(&self, page: &mut Page) {
        heading(page, &self.issue);
        page.newline();
        page.row("status", self.issue.status.id());
        if let Some(name) = &self.issue.assignee {
            page.row("assignee", name);
        }
        for (label, links) in [
            ("needs", &self.dependencies),
            ("needed by", &self.dependents),
        ] {
            for link in links {
                let status = link.issue.status.as_ref().map_or("", |status| status.id());
                page.row(
                    label,
                    &format!("{}  {status}  ({})", describe_brief(&link.issue), link.kind),
                );
            }
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

/// What was done to an issue.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssueChangedAnswer {
    /// `none`, `br` or `bd`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = TRACKERS)))]
    pub tracker: &'static str,
    /// What was done.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["claimed", "closed", "commented", "created"])))]
    pub did: &'static str,
    /// False when it was so before.
    pub changed: bool,
    /// The issue now.
    pub issue: Issue,
    /// The key of a comment: its text ends with `[cook:KEY]`.
    pub key: Option<String>,
    /// What a close set free.
    pub unblocked: Vec<Brief>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for IssueChangedAnswer {
    fn human(&self, page: &mut Page) {
        page.add_toned(Tone::Good, self.did);
        page.text(if self.changed { "  " } else { " already  " });
        heading(page, &self.issue);
        page.newline();
        if self.did == "closed" {
            page.line(&format!("   unblocked: {}", list_briefs(&self.unblocked)));
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Which tracker there is and what is in work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssueStatusAnswer {
    /// `none`, `br` or `bd`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = TRACKERS)))]
    pub tracker: &'static str,
    /// Issues in work, this actor's first.
    pub current: Vec<Issue>,
    /// How many could be worked on.
    pub ready: usize,
    /// The outage that was noted last and is over now.
    pub outage: Option<Outage>,
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
