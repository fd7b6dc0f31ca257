//! The prompt of the role that is due, put together from the log and the repository, and the
//! ticket that ties a report to the state the prompt was made from.

use super::brief::{DEFAULT_BYTES, put_together};
use super::context::context_text;
use super::dispatch::dispatch_now;
use super::found::find_state;
use super::uncommitted::{find_uncommitted, tell_uncommitted};
use super::workspace::Workspace;
use cook_protocol::diagnostic::{Code, Failure, Finding, Refusal};
use cook_protocol::machine::{self, Dispatch, Facts, Found, Head, Rule, Selection, VERIFY_STOP};
use cook_protocol::model::{Role, Snapshot};
use cook_protocol::prompt::{self, PromptInput};
use cook_protocol::report;
use cook_repo::store::Tip;

/// The ticket for the state that was looked at; changes of the brief leave it as it was.
///
/// # Errors
/// An unreadable log.
pub fn ticket(
    workspace: &Workspace,
    current: Option<(&Tip, &Snapshot)>,
    head: &Head,
    role: Option<Role>,
) -> Result<Option<String>, Failure> {
    let Some((tip, snapshot)) = current else {
        return Ok(None);
    };
    let settled = workspace.find_settled(tip, snapshot)?;
    let status = match role.is_some_and(leaves_the_tree_alone) {
        true => Some(workspace.repo.status()?.worktree.digest),
        false => None,
    };
    Ok(Some(machine::ticket(
        &settled.commit,
        head,
        status.as_deref(),
    )))
}

/// Whether a ticket was given for this state of log and HEAD. What it says of the worktree is held
/// against the report that comes with it.
///
/// An implementer commits: the ticket that it began with was given for a commit that came since the
/// last transition, or for that of the transition itself, below a HEAD on the same branch.
///
/// # Errors
/// An unreadable log or repository.
pub fn fits(
    workspace: &Workspace,
    role: Role,
    given: &str,
    current: Option<(&Tip, &Snapshot)>,
    head: &Head,
) -> Result<bool, Failure> {
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

/// Its report says nothing of a worktree that changed while it was made.
pub fn leaves_the_tree_alone(role: Role) -> bool {
    matches!(role, Role::Reviewer | Role::Auditor | Role::StopJudge)
}

/// What a role is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// The whole prompt.
    pub whole: String,
    /// The format of the report that it asks for.
    pub format: String,
    /// For judges: the evidence, the same for all of a wave, and a prompt to stand behind it.
    pub beside_evidence: Option<(String, String)>,
}

/// The format of a role's report as its prompt asks for it; where the role is not due, the whole.
///
/// # Errors
/// Unreadable state.
pub fn report_format(workspace: &Workspace, role: Role) -> Result<String, Failure> {
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

/// What the log calls done and is not, where the reason does not say it.
fn not_told(found: &Found, dispatch: &Dispatch) -> Vec<Finding> {
    let is_told = |lost: &&Finding| {
        let mut told = dispatch.findings.iter();
        told.any(|told| (told.code, &told.place) == (lost.code, &lost.place))
    };
    let lost = found.findings.iter().filter(|lost| !is_told(lost));
    lost.cloned().collect()
}

/// Why the re-ground is due; where cook makes one of its kind itself under this profile, also why not
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

/// What the role that is due is given.
///
/// # Errors
/// `does_not_apply` when none is, or unreadable state.
pub fn role_prompts(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    dispatch: &Dispatch,
    facts: &Facts,
) -> Result<Prompts, Failure> {
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
        // Their report is of the one slice.
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
