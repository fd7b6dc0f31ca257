//! `cook record`: checks a role's report, measures what it claims, and records it.

use super::context::*;
use super::init;
use super::log::summarize_taken;
use super::recorded::{self, TransitionAnswer};
use crate::hooks;
use crate::service::{Applied, Foresight};
use crate::view::finding_line;
use cook_protocol::model::{StrengthRule, nearest};
use cook_protocol::report::{self, Checked, Parsed, Provenance, Report, Reported};

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// Role that reports: bootstrapper, regrounder, implementer, reviewer, auditor or stop-judge
    pub role: String,
    /// File of the report (`-` reads standard input) [default: -]
    pub file: Option<PathBuf>,
    /// Check the report without running or writing anything; outside a repository, check only its form
    #[arg(long, conflicts_with_all = ["dry_run", "repair_prompt"])]
    pub check: bool,
    /// Check the report and run its gates, but record nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print a prompt that asks the agent to correct the report
    #[arg(long, conflicts_with = "dry_run")]
    pub repair_prompt: bool,
    /// Use this ticket of `cook next --json`: refuse the report if the log or HEAD has moved since
    #[arg(long, value_name = "TICKET")]
    pub ticket: Option<String>,
    /// Record the ID of the session that wrote the report
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

pub(super) fn record(context: &Context, args: &RecordArgs) -> Answer {
    let Some(role) = Role::parse(&args.role) else {
        let known = Role::ALL.map(Role::short);
        let meant = nearest(&args.role, &known);
        let known = known.join(", ");
        let what = format!("unknown role `{}`; the roles are {known}{meant}", args.role);
        return Err(Failure::usage(what));
    };
    let text = input::read(args.file.as_deref())?;
    let parsed = report::parse(role, &text);
    if args.check {
        return check(context, role, &parsed);
    }
    if args.repair_prompt {
        return repair_prompt(context, role, parsed, &text);
    }
    context::refuse_other_role(role)?;
    let mut workspace = context.workspace()?;
    context::tell_progress(context.screen, &mut workspace);
    let config = workspace.config()?;
    if role == Role::Implementer && config.rules.strength != StrengthRule::Off {
        // Says what the caller waits for.
        let most = config.strength.mutants;
        let time = count_noun(config.strength.minutes, "minute");
        context.screen.note(&format!("once the gates are green, cook plants at most {most} defects in the change, for at most {time} (`[rules] strength`)"));
    }
    let mut findings = match args.dry_run {
        true => Vec::new(),
        false => recorded::take_in(&workspace),
    };
    // If the role is not due, correcting the form of its report is pointless.
    if !parsed.is_valid() {
        service::require_turn(&workspace, role)?;
    }
    let report = valid(role, parsed)?;
    match args.ticket.as_deref() {
        Some(given) => check_ticket(&workspace, role, given)?,
        None => check_head(&workspace, role)?,
    }
    let provenance = Provenance {
        session: args.session.clone(),
        ticket: args.ticket.clone(),
        began_at: None,
    };
    let event = match report::event(&report, provenance) {
        Reported::Event(event) => *event,
        Reported::Nothing => return init::repair(&workspace, args.dry_run),
    };
    let outcome = match args.dry_run {
        true => service::dry_run(&workspace, &event, Actor::Role),
        false => service::transition(&workspace, &event, Actor::Role),
    };
    let applied = match outcome {
        Ok(applied) => applied,
        Err(failure) if args.dry_run => return Err(failure),
        Err(failure) => {
            let request = service::Asked::Record {
                role: role.short().to_owned(),
                report: String::from_utf8_lossy(&text).into_owned(),
                ticket: args.ticket.clone(),
            };
            let left = recorded::or_leave(&workspace, failure, request)?;
            // As below: the report is waiting in the inbox.
            let _ = hooks::take_around(&workspace);
            return Ok(left);
        }
    };
    if !args.dry_run {
        // The session that hands in a report is the one that works. If it cannot be noted, the report still counts.
        let _ = hooks::take_around(&workspace);
    }
    findings.extend(applied.findings.clone());
    findings.extend(next_role_finding(&report, &applied));
    if applied.tip.is_some() {
        findings.extend(recorded::follow(&workspace, &applied.step.snapshot));
    }
    let mut lines = vec![tell_taken(&event, &applied)];
    let last = match applied.tip.is_some() {
        true => recorded::reground(&workspace, &mut lines, &mut findings).unwrap_or(applied),
        false => applied,
    };
    answer(TransitionAnswer::new(
        last,
        vec![lines.join("; ")],
        findings,
    ))
}

/// Lists errors in the report's form, and whatever would refuse it if it were recorded in this repository.
fn check(context: &Context, role: Role, parsed: &Parsed) -> Answer {
    let mut report = report::describe_check(role, parsed);
    let mut breaches = parsed.findings.clone();
    if let Some(foresight) = foresee(context, role, parsed)? {
        report.valid = foresight.refusals.is_empty();
        report.findings.clone_from(&foresight.refusals);
        report.assumed = foresight.assumed;
        (report.against, report.not_held) = match foresight.against {
            Ok(state) => (Some(state), None),
            Err(why) => (None, Some(why)),
        };
        breaches = foresight.refusals;
    }
    answer(CheckAnswer { report, breaches })
}

/// Returns a prompt that asks the agent to correct the report.
fn repair_prompt(context: &Context, role: Role, parsed: Parsed, sent: &[u8]) -> Answer {
    let breaches = match foresee(context, role, &parsed)? {
        Some(foresight) => foresight.refusals,
        None => parsed.findings,
    };
    if breaches.is_empty() {
        let short = role.short();
        let text = format!(
            "Nothing is wrong with this report as {role}: hand it in with `cook record {short}`.\n"
        );
        return answer(PromptAnswer(text));
    }
    // The report format for this role in this repository, or the general one outside a repository.
    let format = match context.workspace() {
        Ok(workspace) => service::report_format(&workspace, role)?,
        Err(failure) if failure.code == Code::NotARepository => report::format(role),
        Err(failure) => return Err(failure),
    };
    let sent = String::from_utf8_lossy(sent);
    let prompt = report::repair_prompt(role, &breaches, &sent, &format);
    answer(PromptAnswer(
        prompt.trim_end_matches('\n').to_owned() + "\n",
    ))
}

/// Predicts what would refuse a well-formed report; `None` outside a repository.
fn foresee(context: &Context, role: Role, parsed: &Parsed) -> Result<Option<Foresight>> {
    let report = parsed
        .report
        .as_ref()
        .filter(|_| parsed.findings.is_empty());
    let reported = report.map(|report| report::event(report, Provenance::default()));
    let Some(Reported::Event(event)) = reported else {
        return Ok(None);
    };
    match context.workspace() {
        Ok(workspace) => service::foresee(&workspace, role, &event).map(Some),
        Err(failure) if failure.code == Code::NotARepository => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Returns the report, or a refusal that lists all errors.
fn valid(role: Role, parsed: Parsed) -> Result<Report> {
    match parsed.report {
        Some(report) if parsed.findings.is_empty() => Ok(report),
        _ => {
            let breaches = count_noun(parsed.findings.len(), "rule");
            let what = format!("the {role} report breaks {breaches}; nothing was recorded");
            let hint = format!("run `cook record {} --repair-prompt FILE`", role.short());
            let mut failure = Failure::new(FailureKind::Refused, Code::ReportInvalid, what);
            failure.findings = parsed.findings;
            Err(failure.replace_hints([hint]))
        }
    }
}

/// Refuses a ticket that was given for another state of log and HEAD.
fn check_ticket(workspace: &Workspace, role: Role, given: &str) -> Result<()> {
    let (tip, snapshot) = workspace.current()?;
    let head = workspace.repo.head()?;
    let current = tip.as_ref().zip(snapshot.as_ref());
    if service::fits(workspace, role, given, current, &head)? {
        return Ok(());
    }
    let what = "the log or HEAD moved since that ticket was given";
    Err(Refusal::new(Code::StaleTicket, what).into())
}

/// Without a ticket, a role that may change nothing judges the HEAD of the last transition. A later commit has an
/// unknown author, possibly the role itself.
fn check_head(workspace: &Workspace, role: Role) -> Result<()> {
    if !matches!(role, Role::Reviewer | Role::Auditor | Role::StopJudge) {
        return Ok(());
    }
    let head = workspace.repo.head()?;
    let seen = match workspace.current()? {
        // If the work is stopped, the report is not due, and a ticket does not help.
        (_, Some(now)) if now.state.continuation_policy == Policy::Continue => now.ledger.head_seen,
        _ => None,
    };
    let Some(seen) = seen.filter(|seen| head.commit.as_ref() != Some(seen)) else {
        return Ok(());
    };
    // `cook next` gives tickets only for the role that is due.
    service::require_turn(workspace, role)?;
    let range = workspace.repo.range(&head, &seen, false)?;
    let newest = range.commits.iter().rev().take(5);
    let named: Vec<String> = newest.map(|commit| format!("{:.12}", commit.id)).collect();
    let what = match (range.ancestor, named.is_empty()) {
        (true, false) => format!(
            "{} came since the last transition: {}",
            count_noun(range.commits.len(), "commit"),
            named.join(", ")
        ),
        _ => "HEAD no longer holds the commit of the last transition".to_owned(),
    };
    Err(Refusal::new(Code::HeadMoved, what)
        .replace_hints([format!(
            "look at the new commits (`git log -p`): if the report also fits this HEAD, record it with the ticket that `cook next` prints, `cook record {} FILE --ticket TICKET`; otherwise start a new session of the role with `cook next --prompt`",
            role.short()
        )])
        .into())
}

/// Notes that the report names another next role than dispatch does.
fn next_role_finding(report: &Report, applied: &Applied) -> Option<Finding> {
    let named = report.field("next_role_to_invoke");
    let due = applied.step.next.role;
    if named.is_empty() || Role::ALL.iter().all(|role| !named.contains(role.short())) {
        return None;
    }
    let fits = due.is_some_and(|role| named.contains(role.short()));
    let due = due.map_or("none", Role::id);
    let what = format!("the report names another next role; dispatch says {due}");
    (!fits).then(|| Finding::new(Code::NextRoleDiffers, what))
}

/// Summarizes the event; for a commit, with the results of its gates.
pub(super) fn tell_taken(event: &Event, applied: &Applied) -> String {
    let next = &applied.step.snapshot;
    let Event::Implemented { slice_id, .. } = event else {
        return summarize_taken(event, &applied.step.records);
    };
    let how = match next.active.status {
        ActiveStatus::Committed => "committed, gates green",
        _ => "gates red, back to work",
    };
    format!("{slice_id}: {how} ({})", next.evidence.summary)
}

/// The result of `cook record --check`.
#[derive(Debug, Serialize)]
pub struct CheckAnswer {
    /// The report, as far as it could be parsed.
    #[serde(flatten)]
    pub report: Checked,
    /// The errors in the report, and what would refuse it.
    #[serde(skip)]
    pub breaches: Vec<Finding>,
}

impl Show for CheckAnswer {
    fn human(&self, page: &mut Page) {
        let role = self.report.role;
        let (tone, word, lead) = match self.breaches.is_empty() {
            true => (Tone::Good, "valid", ""),
            false => (Tone::Bad, "not valid", "as "),
        };
        page.add_toned(tone, word);
        page.line(&format!("  {lead}a {role} report"));
        for finding in &self.breaches {
            finding_line(page, finding);
        }
        if let Some(state) = &self.report.against {
            page.line(&format!("compared with {state}"));
        }
        if let Some(why) = &self.report.not_held {
            page.line(&format!("only its form was checked: {why}"));
        }
        if !self.report.assumed.is_empty() {
            let assumed = self.report.assumed.join(", ");
            page.line(&format!("not run, assumed green: {assumed}"));
        }
    }

    fn exit(&self) -> Exit {
        Exit::of_check(self.breaches.is_empty())
    }
}
