//! The prompt of the due role, assembled from the log and the repository, and the ticket that ties a report to the
//! state that the prompt was made from.

use super::brief_assembly::{DEFAULT_BYTES, put_together};
use super::due_role::{dispatch_now, find_head, find_state, find_uncommitted, tell_uncommitted};
use super::report_context::context_text;
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_agents::prompt_tokens;
use cook_protocol::machine::{Found, Selection, VERIFY_STOP};
use cook_protocol::model::Assurance;
use cook_protocol::prompt::{self, PromptInput};
use cook_protocol::report;

/// The ticket for the given state. Changes of the brief do not change it.
///
/// # Errors
/// A log that cannot be read.
pub fn ticket(
    workspace: &Workspace,
    current: Option<(&Tip, &Snapshot)>,
    head: &Head,
    role: Option<Role>,
) -> Result<Option<String>> {
    let Some((tip, snapshot)) = current else {
        return Ok(None);
    };
    let settled = workspace.find_settled(tip, snapshot)?;
    let status = match role.is_some_and(leaves_the_tree_alone) {
        true => Some(workspace.repo.recent_status()?.worktree.digest),
        false => None,
    };
    Ok(Some(machine::ticket(
        &settled.commit,
        head,
        status.as_deref(),
    )))
}

/// Whether a ticket was given for this state of log and HEAD. The part of it about the worktree is checked later, with
/// the report.
///
/// An implementer commits, so its ticket may have been given for an earlier HEAD of the same branch: the HEAD of the
/// last transition or a commit made since.
///
/// # Errors
/// A log or repository that cannot be read.
pub fn fits(
    workspace: &Workspace,
    role: Role,
    given: &str,
    current: Option<(&Tip, &Snapshot)>,
    head: &Head,
) -> Result<bool> {
    let Some((tip, snapshot)) = current else {
        return Ok(false);
    };
    let settled = workspace.find_settled(tip, snapshot)?;
    let state = given.split('-').next();
    let was_for = |head: &Head| Some(&*machine::ticket(&settled.commit, head, None)) == state;
    if was_for(head) {
        return Ok(true);
    }
    let Some(seen) = snapshot.ledger.head_seen.clone() else {
        return Ok(false);
    };
    if role != Role::Implementer {
        return Ok(false);
    }
    let range = workspace.repo.range(head, &seen, false)?;
    let since = range.commits.into_iter().map(|commit| commit.id);
    let mut begun_at = since.chain([seen]).map(|commit| Head {
        commit: Some(commit),
        ..head.clone()
    });
    Ok(range.ancestor && begun_at.any(|head| was_for(&head)))
}

/// Whether the role changes nothing, so that its report is void if the worktree changed meanwhile.
pub fn leaves_the_tree_alone(role: Role) -> bool {
    matches!(role, Role::Reviewer | Role::Auditor | Role::StopJudge)
}

/// The prompt of a role and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// The whole prompt.
    pub whole: String,
    /// The report format that the prompt asks for.
    pub format: String,
    /// For judges: the evidence, which is the same for all of a wave, and the prompt that follows it.
    pub beside_evidence: Option<(String, String)>,
}

/// The format of a role's report as its prompt asks for it; the complete format if the role is not due.
///
/// # Errors
/// Unreadable state.
pub fn report_format(workspace: &Workspace, role: Role) -> Result<String> {
    let (_, snapshot) = workspace.current()?;
    let Some(snapshot) = snapshot else {
        return Ok(report::format(role));
    };
    let (dispatch, facts) = dispatch_now(workspace, Some(&snapshot))?;
    if dispatch.role != Some(role) {
        return Ok(report::format(role));
    }
    let rule = dispatch.rule.id();
    let snapshot = &*machine::follow(&snapshot, &facts);
    Ok(match role {
        Role::Regrounder => {
            let found = find_state(workspace, snapshot, &dispatch, &facts)?;
            prompt::report_format(role, rule, &found.snapshot, &found.selection)
        }
        _ => prompt::report_format(role, rule, snapshot, &Selection::default()),
    })
}

/// Done slices whose proof is missing, as far as the dispatch does not name them.
fn not_told(found: &Found, dispatch: &Dispatch) -> Vec<Finding> {
    let is_told = |lost: &&Finding| {
        let mut told = dispatch.findings.iter();
        told.any(|told| (told.code, &told.place) == (lost.code, &lost.place))
    };
    let lost = found.findings.iter().filter(|lost| !is_told(lost));
    lost.cloned().collect()
}

/// Why the re-ground is due. If the profile lets cook make re-grounds of this kind itself, also why it does not make
/// this one.
fn describe_reason_for_model(snapshot: &Snapshot, dispatch: &Dispatch, facts: &Facts) -> String {
    let is_of_kind = matches!(
        dispatch.rule,
        Rule::Select | Rule::Reconcile | Rule::Conclude
    );
    let head = facts.head.as_ref();
    let is_asked = is_of_kind && snapshot.ledger.regrounded && !snapshot.assurance().is_strict();
    let head = head.filter(|_| is_asked);
    let derived = head.map(|head| machine::derive(snapshot, dispatch, head));
    match derived {
        Some(Err(why)) if !dispatch.reason.contains(&why) => format!(
            "{}; cook does not re-ground here by itself: {why}",
            dispatch.reason
        ),
        _ => dispatch.reason.clone(),
    }
}

/// The prompt of the due role.
///
/// # Errors
/// `does_not_apply` if no role is due, or unreadable state.
pub fn role_prompts(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    dispatch: &Dispatch,
    facts: &Facts,
) -> Result<Prompts> {
    let Some(role) = dispatch.role else {
        return Err(Failure::from(Refusal::new(
            Code::DoesNotApply,
            format!("no role is due: the work is stopped ({})", dispatch.policy),
        )));
    };
    let Some(snapshot) = snapshot else {
        return Err(Failure::state(
            Code::NotInitialised,
            "no prompt before `cook init`",
        ));
    };
    let snapshot = &*machine::follow(snapshot, facts);
    if dispatch.waits_for_gates() {
        return Err(Refusal::new(Code::DoesNotApply, dispatch.reason.clone())
            .replace_hints([format!("run `{VERIFY_STOP}`")])
            .into());
    }
    let brief = put_together(workspace, snapshot, dispatch, facts)?;
    let logged = snapshot;
    let (found, slice);
    let (snapshot, lost, selection) = match role {
        // Their reports are about one slice or none, so done slices need not be checked.
        Role::Bootstrapper | Role::Reviewer => (snapshot, Vec::new(), Selection::default()),
        Role::Implementer => {
            slice = machine::find_slice(snapshot, facts, dispatch)?;
            (&slice, Vec::new(), Selection::default())
        }
        Role::Regrounder | Role::Auditor | Role::StopJudge => {
            found = find_state(workspace, snapshot, dispatch, facts)?;
            (
                &found.snapshot,
                not_told(&found, dispatch),
                found.selection.clone(),
            )
        }
    };
    let uncommitted = find_uncommitted(workspace, facts)?;
    let uncommitted = uncommitted.and_then(|it| tell_uncommitted(logged, dispatch, &it));
    let findings = dispatch.findings.iter().chain(&lost).chain(&uncommitted);
    let findings: Vec<Finding> = findings.cloned().collect();
    let reason = match role {
        Role::Regrounder => describe_reason_for_model(logged, dispatch, facts),
        _ => dispatch.reason.clone(),
    };
    let input = PromptInput {
        role,
        snapshot,
        rule: dispatch.rule.id(),
        action: &dispatch.action,
        reason: &reason,
        findings: &findings,
        selection: &selection,
        context: &context_text(workspace, (logged, snapshot), facts, role)?,
        brief: &brief.beside_prompt(role, &prompt::findings_shown(role, snapshot), DEFAULT_BYTES),
    };
    let beside = || {
        (
            prompt::evidence(&input),
            prompt::render_beside_evidence(&input),
        )
    };
    Ok(Prompts {
        whole: prompt::render(&input),
        format: prompt::report_format(role, input.rule, snapshot, input.selection),
        beside_evidence: (role == Role::StopJudge).then(beside),
    })
}

// Estimates of a run before it begins: sessions by role, tokens of their prompts, and the cost by that of earlier
// calls.

/// Approximate number of bytes of a prompt per token.
const BYTES_A_TOKEN: u64 = 4;

/// Estimate for the sessions of one role.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct RoleEstimate {
    pub role: Role,
    pub sessions: u64,
    /// Number of input tokens of all these sessions.
    pub prompt_tokens: u64,
    /// Source of the estimate: `record` for earlier calls of the role, `size` for the size of its current prompt.
    #[schemars(extend("enum" = ["record", "size"]))]
    pub tokens_by: &'static str,
    /// Cost in US dollars; null if no call of this role has a known cost.
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
}

/// Estimate for a run.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct RunEstimate {
    /// Profile in force.
    pub assurance: Assurance,
    /// Number of open slices.
    pub slices: u64,
    /// Whether there is no plan yet; the estimate then counts one slice.
    pub planless: bool,
    /// Rows by role.
    pub rows: Vec<RoleEstimate>,
    pub sessions: u64,
    /// Number of input tokens of all sessions.
    pub prompt_tokens: u64,
    /// Cost in US dollars of the roles with a known cost; null if there are none.
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// Number of sessions of roles without a known cost.
    pub cost_unknown: u64,
}

/// Estimates a run from here to the end, assuming that every verdict is a yes.
///
/// # Errors
/// Unreadable state.
pub fn estimate_run(workspace: &Workspace, calls: &[CallRecord]) -> Result<RunEstimate> {
    let (_, snapshot) = workspace.require()?;
    let (due, facts) = dispatch_now(workspace, Some(&snapshot))?;
    let head = find_head(&facts)?;
    let estimate = machine::estimate(&snapshot, &due, &head, facts.config.as_ref());
    let mut rows = Vec::new();
    for (role, sessions) in estimate.sessions {
        let known = Known::of(calls, role);
        let each = match known.tokens {
            Some(tokens) => tokens,
            None => prompt_size(workspace, &snapshot, &facts, role)? / BYTES_A_TOKEN,
        };
        rows.push(RoleEstimate {
            role,
            sessions,
            prompt_tokens: each.saturating_mul(sessions),
            tokens_by: if known.tokens.is_some() {
                "record"
            } else {
                "size"
            },
            cost_usd: known
                .micro_usd
                .map(|micro| micro.saturating_mul(sessions) as f64 / 1e6),
        });
    }
    let costs = rows.iter().filter_map(|row| row.cost_usd);
    let unknown = rows.iter().filter(|row| row.cost_usd.is_none());
    Ok(RunEstimate {
        assurance: snapshot.assurance(),
        slices: estimate.slices,
        planless: estimate.is_planless,
        sessions: rows.iter().map(|row| row.sessions).sum(),
        prompt_tokens: rows.iter().map(|row| row.prompt_tokens).sum(),
        cost_usd: costs
            .reduce(|one, two| one + two)
            .map(|sum| (sum * 1e6).round() / 1e6),
        cost_unknown: unknown.map(|row| row.sessions).sum(),
        rows,
    })
}

/// Average tokens and cost of a role's calls; `None` if no call has the value.
struct Known {
    tokens: Option<u64>,
    micro_usd: Option<u64>,
}

impl Known {
    fn of(calls: &[CallRecord], role: Role) -> Self {
        let is_of_role = |named: Option<&str>| named.and_then(Role::parse) == Some(role);
        let answers = calls.iter().filter_map(|call| call.answer.as_ref());
        let answers: Vec<_> = answers
            .filter(|answer| is_of_role(answer.role.as_deref()))
            .collect();
        let tokens = answers
            .iter()
            .filter_map(|answer| prompt_tokens(answer.usage.as_ref()?));
        let costs = answers.iter().filter_map(|answer| answer.cost_micro_usd);
        Self {
            tokens: mean(tokens.collect()),
            micro_usd: mean(costs.collect()),
        }
    }
}

fn mean(counts: Vec<u64>) -> Option<u64> {
    let sum = counts
        .iter()
        .fold(0_u64, |sum, count| sum.saturating_add(*count));
    sum.checked_div(counts.len() as u64)
}

/// Size in bytes of the prompt that the role would be given now.
fn prompt_size(
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    role: Role,
) -> Result<u64> {
    let rule = Rule::ALL.into_iter().find(|rule| rule.role() == Some(role));
    let context = context_text(workspace, (snapshot, snapshot), facts, role)?;
    let prompt = prompt::render(&PromptInput {
        role,
        snapshot,
        rule: rule.map_or("", Rule::id),
        action: "",
        reason: "",
        findings: &[],
        selection: &Selection::default(),
        context: &context,
        brief: "",
    });
    Ok(prompt.len() as u64)
}
