//! Answers that several commands share: the result of a verification, the next role, and the cost of agents.

use super::results::Weight;
use super::screen::finding_line;
use super::{Exit, Page, Results, Show, Tone};
use crate::prelude::*;
use crate::verify::{Answered, Criterion, Outcome, ProofVerdict};
use cook_agents::tokens;
use cook_protocol::machine::list_votes;
use cook_protocol::model::ActiveSlice;
use serde::Serializer;

/// The result of a verification.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Verified<'a> {
    #[schemars(extend(
        "enum" = ["control-plane", "stop", "all", "slice", "fsck", "doctor", "hooks", "session"]
    ))]
    scope: &'a str,
    strict: bool,
    passed: bool,
    #[serde(flatten)]
    question: Option<&'a Answered>,
    checked: &'a [String],
    findings: Vec<Judged<'a>>,
}

/// A finding and its severity.
#[derive(Serialize, schemars::JsonSchema)]
struct Judged<'a> {
    code: Code,
    severity: Severity,
    message: &'a str,
    place: Option<&'a str>,
    /// Next commands; empty if they depend on the case.
    hint: &'a str,
}

/// The result of a verification.
#[derive(Debug, Default)]
pub struct VerifyAnswer {
    /// `control-plane`, `stop`, `all`, `slice` or `fsck`.
    pub scope: &'static str,
    /// The question that `cook verify` answered.
    pub question: Option<Answered>,
    /// Whether findings that need a re-ground, and an unclean worktree, fail too.
    pub strict: bool,
    /// The completed checks, one line each.
    pub checked: Vec<String>,
    /// The findings, worst first.
    pub findings: Vec<Finding>,
}

impl VerifyAnswer {
    pub fn of(scope: &'static str, strict: bool, mut answered: Answered) -> Self {
        let Outcome { checked, findings } = std::mem::take(&mut answered.outcome);
        Self {
            question: Some(answered),
            strict,
            ..Self::new(scope, checked, findings)
        }
    }

    /// The result of a check that is not about a commit.
    pub fn new(scope: &'static str, checked: Vec<String>, findings: Vec<Finding>) -> Self {
        Self {
            scope,
            checked,
            findings,
            ..Self::default()
        }
    }

    /// Whether the verification passes; an unanswered question never does. Remarks that reviewers and judges saw do not
    /// fail it.
    pub fn has_passed(&self) -> bool {
        !self.findings.iter().any(|finding| self.fails(finding))
    }

    fn fails(&self, finding: &Finding) -> bool {
        match finding.severity() {
            Severity::Error => true,
            Severity::NeedsReground => self.strict || self.leaves_open(finding.code),
            Severity::Warning | Severity::Note => {
                let is_strict = [
                    Code::DirtyWorktree,
                    Code::ProofNotReproducible,
                    Code::NoCommandRan,
                ];
                self.strict && is_strict.contains(&finding.code)
            }
        }
    }

    /// The results from which every other format is made.
    pub(crate) fn as_results(&self) -> Results {
        let verdict = match &self.question {
            Some(question) => format!("{} {}", question.question, question.answer),
            None => format!("verify {}", self.scope),
        };
        let mut results = Results::new("cook verify", self.has_passed(), &verdict);
        let question = self.question.as_ref();
        let standing = question.and_then(|question| question.commit.as_ref());
        results.head = standing.and_then(|standing| standing.head.commit.clone());
        for criterion in question.into_iter().flat_map(|it| &it.criteria) {
            results.prove(criterion, self.strict);
        }
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|finding| !self.fails(finding));
        for finding in findings {
            let weight = Weight::of(finding, self.fails(finding));
            results.find(finding, weight, finding.code.hint());
        }
        results.note_looked_at(&self.checked);
        results
    }

    /// Whether a finding with this code, which needs a re-ground, means that the answer is no or unknown.
    fn leaves_open(&self, code: Code) -> bool {
        match self.scope {
            "all" => true,
            "slice" => matches!(code, Code::LogMissing | Code::EvidenceImported),
            "stop" => matches!(code, Code::LogMissing | Code::HeadMovedSinceDone),
            _ => code == Code::LogMissing && self.question.as_ref().is_some_and(|it| !it.has_log),
        }
    }
}

impl Serialize for VerifyAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let findings = self.findings.iter();
        Verified {
            scope: self.scope,
            strict: self.strict,
            passed: self.has_passed(),
            question: self.question.as_ref(),
            checked: &self.checked,
            findings: findings
                .map(|finding| Judged {
                    code: finding.code,
                    severity: finding.severity(),
                    message: &finding.message,
                    place: finding.place.as_deref(),
                    hint: finding.code.hint(),
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

impl Show for VerifyAnswer {
    fn human(&self, page: &mut Page) {
        if let Some(question) = &self.question {
            page.add_toned(Tone::Strong, &question.question);
            page.line(&format!(" {}", question.answer));
        }
        for line in &self.checked {
            page.add_toned(Tone::Dim, "checked  ");
            page.line(line);
        }
        for criterion in self.question.iter().flat_map(|it| &it.criteria) {
            criterion_lines(page, criterion);
        }
        let mut hinted: Vec<&str> = Vec::new();
        for (at, finding) in self.findings.iter().enumerate() {
            finding_line(page, finding);
            let next = self.findings.get(at + 1);
            let last_of_code = next.is_none_or(|next| next.code != finding.code);
            let hint = finding.code.hint();
            let wanted = finding.severity() >= Severity::NeedsReground && !hint.is_empty();
            if last_of_code && wanted && !hinted.contains(&hint) {
                page.add_toned(Tone::Dim, "      next: ");
                page.line(hint);
                hinted.push(hint);
            }
        }
        let scope = self.scope;
        if self.has_passed() {
            page.add_toned(Tone::Good, "passed");
        } else {
            page.add_toned(Tone::Bad, "failed");
        }
        let strict = if self.strict { ", strict" } else { "" };
        let word = match scope {
            "fsck" | "doctor" | "hooks" | "session" => scope.to_owned(),
            scope => format!("verify {scope}{strict}"),
        };
        page.line(&format!(
            "  {word}: {}",
            count_noun(self.findings.len(), "finding")
        ));
    }

    fn results(&self) -> Option<Results> {
        Some(self.as_results())
    }

    fn exit(&self) -> Exit {
        let mut failing = self.findings.iter().filter(|finding| self.fails(finding));
        if self.has_passed() {
            Exit::Ok
        } else if failing.all(|it| matches!(it.code, Code::ContractAlone | Code::ContractChanged)) {
            Exit::Paused
        } else {
            Exit::CheckFailed
        }
    }
}

/// Shows the status of a criterion's proof, and the reason if it is not obvious.
fn criterion_lines(page: &mut Page, criterion: &Criterion) {
    let (tone, says_why) = match criterion.verdict {
        ProofVerdict::Reproduced | ProofVerdict::Holds => (Tone::Good, false),
        ProofVerdict::Recorded => (Tone::Warn, true),
        // The finding gives the reason.
        ProofVerdict::NotReproducible => (Tone::Warn, false),
        ProofVerdict::Differs | ProofVerdict::Lost => (Tone::Bad, false),
    };
    let word = criterion.verdict.id().replace('_', " ");
    page.add_toned(tone, &format!("{word:<10}"));
    let anchor = criterion.anchor.as_deref().unwrap_or("nothing");
    let at = match (&criterion.at, criterion.verdict) {
        (Some(at), ProofVerdict::Reproduced) => format!(", at {}", &at[..at.len().min(12)]),
        _ => String::new(),
    };
    let (slice, text) = (&criterion.slice, &criterion.text);
    page.line(&format!("  {slice}: {text} ({anchor}{at})"));
    if says_why {
        page.line(&format!("            {}", criterion.why));
    }
}

// The next role, as part of every answer of a command that moves state.

/// Number of votes that count at the current HEAD, and number that is required.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Judgments {
    pub have: usize,
    pub need: u64,
}

impl Judgments {
    pub(crate) fn of(snapshot: Option<&Snapshot>, head: &Head) -> Self {
        Self {
            have: snapshot.map_or(0, |snapshot| list_votes(snapshot, head).count()),
            need: snapshot.map_or(0, |snapshot| snapshot.count_required_judges()),
        }
    }
}

/// The role that is due, with its task, reason and data.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Dispatched {
    schema_version: SchemaVersion,
    #[serde(flatten)]
    pub dispatch: Dispatch,
    /// ID of the slice in work; null if there is none.
    pub slice_id: Option<String>,
    /// Number of the current stop wave; 0 before the first one.
    pub wave: u64,
    pub judgments: Judgments,
    /// Content of `active-slice.json` while a slice is in work, otherwise null.
    pub handoff: Option<ActiveSlice>,
    /// Ticket for `cook record --ticket`; null before `cook init`.
    pub ticket: Option<String>,
    #[serde(skip)]
    pub is_goal: bool,
}

impl Dispatched {
    /// Makes the part that `cook next --json` and every transition contain.
    pub fn of(
        dispatch: Dispatch,
        snapshot: Option<&Snapshot>,
        head: &Head,
        ticket: Option<String>,
    ) -> Self {
        let active = snapshot.map(|snapshot| &snapshot.active);
        let is_in_work = |active: &&ActiveSlice| {
            use ActiveStatus::{Committed, InProgress, Selected};
            matches!(active.status, Selected | InProgress | Committed)
        };
        let handoff = active.filter(is_in_work).cloned();
        Self {
            schema_version: SchemaVersion,
            dispatch,
            slice_id: handoff.as_ref().and_then(|active| active.slice_id.clone()),
            wave: snapshot.map_or(0, |snapshot| snapshot.state.current_stop_wave_id.0),
            judgments: Judgments::of(snapshot, head),
            handoff,
            ticket,
            is_goal: snapshot.is_some_and(|snapshot| snapshot.goal().is_some()),
        }
    }

    pub(crate) fn lines(&self, page: &mut Page) {
        dispatch_lines(page, &self.dispatch, self.is_goal);
    }
}

pub(crate) fn describe_policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Continue => "the work goes on",
        Policy::AwaitUserInput => "the work waits for you",
        Policy::Blocked => "the work is blocked",
        Policy::Paused => "the work is paused",
        Policy::Done => "the work is done",
    }
}

/// Shows the part that all answers about dispatch share.
pub(crate) fn dispatch_lines(page: &mut Page, dispatch: &Dispatch, is_goal: bool) {
    let (tone, who) = match (dispatch.role, dispatch.policy) {
        (Some(role), _) => (Tone::Strong, role.id().to_owned()),
        (None, Policy::Done) if is_goal => (Tone::Warn, "nobody (goal_reached)".to_owned()),
        // Nothing can continue, so there is no command to show.
        (None, Policy::Paused) if is_goal && dispatch.blocking_command.is_none() => {
            (Tone::Warn, "nobody (the goal was dropped)".to_owned())
        }
        (None, policy) => (Tone::Warn, format!("nobody ({})", describe_policy(policy))),
    };
    page.add_toned(Tone::Dim, &format!("{:<10} ", "next"));
    page.add_toned(tone, &who);
    page.line(&format!("  (rule {})", dispatch.rule));
    page.row("do", &dispatch.action);
    page.row("because", &dispatch.reason);
    if let Some(command) = &dispatch.blocking_command {
        page.command_row("first run", command);
    }
    if dispatch.role.is_none() && dispatch.policy == Policy::Done {
        page.row("then", if is_goal { AFTER_GOAL } else { AFTER_DONE });
    }
}

/// What a user can do after the work is done.
const AFTER_DONE: &str = "`cook verify --strict` proves it again, `cook push` lets anybody do so, `cook report --format pr` writes the \
     pull request; `cook plan refocus --mission TEXT` begins new work";

/// The same for a goal.
const AFTER_GOAL: &str = "`cook verify --rerun` asks its checks again, `cook push` lets anybody do so; `cook goal WORDS --check COMMAND` \
     sets another one";

// The answer of `cook status --cost`.

/// Cost of one agent in one role.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct CostRow {
    /// Role; `-` outside the workflow.
    pub role: String,
    /// Name of the agent.
    pub agent: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls without an answer.
    pub failed: u64,
    /// Total time of all calls, in milliseconds.
    pub milliseconds: u64,
    /// Cost of the calls with a known cost, in US dollars.
    #[serde(rename = "cost_usd", serialize_with = "write_dollars")]
    #[schemars(with = "f64", range(min = 0))]
    pub micro_usd: u64,
    /// Number of calls without a known cost.
    #[serde(rename = "cost_unknown")]
    pub unknown: u64,
    /// Number of input tokens that were not cached, as far as agents report them.
    pub input_tokens: u64,
    /// Number of cached input tokens.
    pub cached_tokens: u64,
    /// Number of output tokens.
    pub output_tokens: u64,
}

impl CostRow {
    /// An empty row for a role and an agent.
    pub fn new(role: &str, agent: &str) -> Self {
        Self {
            role: role.to_owned(),
            agent: agent.to_owned(),
            ..Self::default()
        }
    }

    fn add(&mut self, answer: &cook_repo::session::Answer, failed: bool) {
        self.calls += 1;
        self.failed += u64::from(failed);
        self.milliseconds += answer.duration_ms;
        if let Some(tokens) = answer.usage.as_ref().and_then(tokens) {
            self.input_tokens += tokens.input;
            self.cached_tokens += tokens.cached;
            self.output_tokens += tokens.output;
        }
        match answer.cost_micro_usd {
            Some(micro) => self.micro_usd += micro,
            // An agent program that was never started cost nothing.
            None if answer.exit.is_none() && answer.duration_ms == 0 => {}
            None => self.unknown += 1,
        }
    }

    fn tokens(&self) -> String {
        let (new, cached, out) = (self.input_tokens, self.cached_tokens, self.output_tokens);
        match new + cached + out {
            0 => "tokens unknown".to_owned(),
            _ => format!("{new} + {cached} cached tokens in, {out} out"),
        }
    }

    pub fn cost(&self) -> String {
        let known = tell_dollars(self.micro_usd);
        match (self.unknown, self.calls) {
            (0, _) => known,
            (unknown, calls) if unknown == calls => "unknown".to_owned(),
            (unknown, _) => format!("{known}, {unknown} unknown"),
        }
    }
}

/// Formats an amount in millionths of a dollar.
pub(crate) fn tell_dollars(micro: u64) -> String {
    match micro {
        0 => "0 US dollars".to_owned(),
        micro => format!("{:.4} US dollars", micro as f64 / 1e6),
    }
}

/// The cost of agents.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct CostAnswer {
    /// Rows by role and agent.
    pub rows: Vec<CostRow>,
    pub total: CostRow,
}

/// Writes millionths of a dollar as dollars.
fn write_dollars<S: Serializer>(micro_usd: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*micro_usd as f64 / 1e6)
}

impl CostAnswer {
    /// Sums the cost of the calls by role and agent.
    pub fn sum(calls: &[CallRecord]) -> Self {
        let mut rows: BTreeMap<(String, String), CostRow> = BTreeMap::new();
        let mut total = CostRow::new("all", "");
        for call in calls {
            // Records of expired refs have no supplier.
            let Some(supplier) = call.supplier.as_deref() else {
                continue;
            };
            let answer = call.answer.clone().unwrap_or_default();
            let role = answer.role.as_deref().unwrap_or("-");
            let key = (role.to_owned(), supplier.to_owned());
            let row = rows.entry(key);
            let row = row.or_insert_with(|| CostRow::new(role, supplier));
            for row in [row, &mut total] {
                row.add(&answer, call.error.is_some());
            }
        }
        let rows = rows.into_values().collect();
        Self { rows, total }
    }
}

impl Show for CostAnswer {
    fn human(&self, page: &mut Page) {
        if self.rows.is_empty() {
            page.line("no agent was called yet");
            return;
        }
        for row in self.rows.iter().chain([&self.total]) {
            page.add_toned(Tone::Strong, &format!("{:<14}", row.role));
            // Shows the cost only if some cost is known.
            let money = match self.total.micro_usd {
                0 => String::new(),
                _ => format!(", {}", row.cost()),
            };
            page.line(&format!(
                "{:<10} {:>4} calls, {} failed, {:>12}, {}{money}",
                row.agent,
                row.calls,
                row.failed,
                humantime::format_duration(Duration::from_secs(row.milliseconds / 1_000))
                    .to_string(),
                row.tokens(),
            ));
        }
    }
}
