//! `cook next`: names the next role.

use super::context::*;
use crate::hooks;
use crate::view::{Judgments, dispatch_lines};
use cook_protocol::machine::Trace;

#[derive(Debug, Args)]
pub(super) struct NextArgs {
    /// Print the complete prompt of the role
    #[arg(long)]
    pub prompt: bool,
    /// Make the agent session that runs this command the owner of the workflow
    #[arg(long)]
    pub take: bool,
    /// Show the rules in order, with the inputs of each one
    #[arg(long, conflicts_with_all = ["prompt", "take"])]
    pub why: bool,
    /// Exit with 10, 11 or 12 if the work waits for the user, is blocked or is paused
    #[arg(long)]
    pub exit_code: bool,
}

pub(super) fn next(context: &Context, args: &NextArgs) -> Answer {
    if args.why {
        return explain(context);
    }
    let workspace = context.workspace()?;
    let (tip, snapshot) = workspace.current()?;
    let (mut dispatch, facts) = service::dispatch_now(&workspace, snapshot.as_ref())?;
    if args.prompt {
        let prompts = service::role_prompts(&workspace, snapshot.as_ref(), &dispatch, &facts)?;
        take(&workspace, args)?;
        return answer(RolePromptAnswer {
            bytes: prompts.whole.len(),
            prompt: prompts.whole,
        });
    }
    if let Some(snapshot) = &snapshot
        && let Some(by_cook) = service::explain_by_cook(snapshot, &dispatch, &facts)
    {
        let lowest = snapshot.assurance();
        dispatch.reason.push_str(&match by_cook {
            Ok(()) => format!(
                "; with the assurance `{lowest}`, `cook run` re-grounds here without a session unless something else prevents it"
            ),
            // A finding below says the same.
            Err(why) if dispatch.findings.iter().any(|it| it.message == why) => String::new(),
            Err(why) => format!("; `cook run` starts a session for it: {why}"),
        });
    }
    let head = service::find_head(&facts)?;
    let current = tip.as_ref().zip(snapshot.as_ref());
    let ticket = service::ticket(&workspace, current, &head, dispatch.role)?;
    let seen = snapshot
        .as_ref()
        .and_then(|it| it.ledger.head_seen.as_ref());
    let is_reader = dispatch.role.is_some_and(service::leaves_the_tree_alone);
    let mut is_moved = seen != head.commit.as_ref();
    if let Some(snapshot) = snapshot.as_ref().filter(|_| is_reader)
        && let Some(worktree) = service::find_uncommitted(&workspace, &facts)?
    {
        is_moved |= service::needs_ticket(snapshot, &worktree);
        let told = service::tell_uncommitted(snapshot, &dispatch, &worktree);
        dispatch.findings.extend(told);
    }
    take(&workspace, args)?;
    answer(NextAnswer {
        needs_ticket: is_reader && is_moved && !dispatch.waits_for_gates(),
        next: Dispatched::of(dispatch, snapshot.as_ref(), &head, ticket),
        exit_code: args.exit_code,
    })
}

/// Called last, so that a failed call does not change the owner.
fn take(workspace: &Workspace, args: &NextArgs) -> Result<()> {
    if args.take {
        hooks::take_around(workspace)?;
    }
    Ok(())
}

fn explain(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.current()?;
    let ((mut dispatch, traces), _) = service::explain_now(&workspace, snapshot.as_ref())?;
    let asked = |trace: Trace| Asked {
        question: trace.rule.question(),
        trace,
    };
    answer(WhyAnswer {
        rules: traces.into_iter().map(asked).collect(),
        rule: dispatch.rule,
        role: dispatch.role,
        findings: std::mem::take(&mut dispatch.findings),
        is_goal: snapshot.is_some_and(|snapshot| snapshot.goal().is_some()),
        dispatch,
    })
}

/// The answer of `cook next`.
#[derive(Debug, Serialize)]
struct NextAnswer {
    /// The role that is due.
    #[serde(flatten)]
    next: Dispatched,
    /// Whether `--exit-code` was given.
    #[serde(skip)]
    exit_code: bool,
    /// Whether HEAD or the worktree moved, so that the due role may not have seen it.
    #[serde(skip)]
    needs_ticket: bool,
}

/// The command that a person types to play the role.
fn find_command(dispatch: &Dispatch, is_goal: bool) -> Option<String> {
    match (dispatch.rule, dispatch.role) {
        (Rule::Implement, _) if is_goal => {
            Some("work on it and commit; `cook goal` runs its checks".to_owned())
        }
        (Rule::Stopped | Rule::Bootstrap, _) | (_, None) => None,
        // The prompt exists only after the gates have run.
        _ if dispatch.waits_for_gates() => None,
        (_, Some(Role::Bootstrapper)) => None,
        (_, Some(role)) => Some(format!(
            "cook next --prompt > .agent/tmp/prompt.txt, save an agent's answer, cook record {} .agent/tmp/report.txt",
            role.short()
        )),
    }
}

/// The prompt of the role that is due, as an agent receives it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct RolePromptAnswer {
    /// The complete prompt.
    prompt: String,
    /// Size of the prompt in bytes; a token has about four bytes.
    bytes: usize,
}

impl Show for RolePromptAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.prompt);
    }
}

/// The rules in order, with the inputs of each one.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct WhyAnswer {
    rules: Vec<Asked>,
    /// Dispatch rule that applies.
    rule: Rule,
    /// Role that must work next; null if none must.
    role: Option<Role>,
    findings: Vec<Finding>,
    #[serde(skip)]
    dispatch: Dispatch,
    #[serde(skip)]
    is_goal: bool,
}

/// One rule: its inputs, and whether it applied.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Asked {
    question: &'static str,
    #[serde(flatten)]
    trace: Trace,
}

impl Show for WhyAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        for Asked { question, trace } in &self.rules {
            let (tone, mark) = match trace.fired {
                Some(true) => (Tone::Good, "→"),
                Some(false) => (Tone::Dim, "·"),
                None => (Tone::Dim, " "),
            };
            page.add_toned_line(tone, &format!("{mark} {}  {question}", trace.rule));
            if trace.fired.is_some() {
                page.line(&format!("     {}", trace.saw));
            }
        }
        page.newline();
        dispatch_lines(page, &self.dispatch, self.is_goal);
    }
}

impl Show for NextAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.next.dispatch.findings);
        let next = &self.next;
        next.lines(page);
        if let Some(active) = &next.handoff {
            let id = active.slice_id.as_deref().unwrap_or_default();
            let goal = active.goal.as_deref().unwrap_or_default();
            page.row("slice", &format!("{id} — {goal}"));
        }
        if matches!(next.dispatch.rule, Rule::Judge | Rule::Conclude) {
            let Judgments { have, need } = next.judgments;
            page.row("votes", &format!("{have} of {need} in wave {}", next.wave));
        }
        if let Some(command) = find_command(&next.dispatch, next.is_goal) {
            // Without a ticket the report would be refused, because nothing ties it to this HEAD and worktree.
            let ticket = next.ticket.as_ref().filter(|_| self.needs_ticket);
            let ticket = ticket.map_or_else(String::new, |ticket| format!(" --ticket {ticket}"));
            page.row("how", &format!("{command}{ticket}"));
        }
    }

    fn exit(&self) -> Exit {
        match self.exit_code {
            true => Exit::of_policy(self.next.dispatch.policy),
            false => Exit::Ok,
        }
    }
}
