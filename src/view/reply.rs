//! `cook ask`, `act`, `fanout`: answers and the refs to go on from.

use super::screen::refs_line;
use super::{Exit, Page, Show, Tone};
use cook_core::diagnostic::{Finding, PriorRefs};
use cook_store::session::{ContentHash, Ref, Reply, Transport};
use serde::Serialize;
#[cfg(feature = "schema")]
use serde_json::Map;
use serde_json::Value;

/// Names to go on from.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refs {
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = r"^ex_[0-9A-HJKMNP-TV-Z]{26}$"))
    )]
    exchange: Ref,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = r"^ep_[0-9A-HJKMNP-TV-Z]{26}$"))
    )]
    episode: Ref,
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "Option<String>",
            regex(pattern = r"^sr_[0-9A-HJKMNP-TV-Z]{26}$")
        )
    )]
    series: Option<Ref>,
}

impl Refs {
    fn line(&self) -> Option<String> {
        let series = self.series.map(|name| name.to_string());
        refs_line(Some(&self.episode.to_string()), series.as_deref())
    }
}

impl From<&Reply> for Refs {
    fn from(reply: &Reply) -> Self {
        Self {
            exchange: reply.exchange,
            episode: reply.episode,
            series: reply.series,
        }
    }
}

/// Fingerprints of what the refs name.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hashes {
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = "^sha256:[0-9a-f]{64}$"))
    )]
    exchange: ContentHash,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = "^sha256:[0-9a-f]{64}$"))
    )]
    episode: ContentHash,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<String>", regex(pattern = "^sha256:[0-9a-f]{64}$"))
    )]
    series: Option<ContentHash>,
}

/// What was done to the repository.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Act {
    head_before: Option<String>,
    head_after: Option<String>,
    commits: Vec<String>,
    changed: Vec<String>,
}

/// An answer of an agent, with the refs to go on from.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplyAnswer {
    /// The final text.
    output: String,
    /// The data, when a schema was given; null otherwise.
    data: Option<Value>,
    refs: Refs,
    hash: Hashes,
    /// How what came before reached the agent.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("enum" = TRANSPORTS)))]
    transport: Transport,
    /// Answers that were asked for until one fitted the schema.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    attempts: u32,
    /// Tokens as the agent counts them; null = unknown.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Map<String, Value>>"))]
    usage: Option<Value>,
    /// US dollars; null = unknown, which is not 0.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: Option<f64>,
    /// What the new episode begins with, when a compaction began one.
    recap: Option<String>,
    findings: Vec<Finding>,
    /// `cook act` only: what changed in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<Act>,
    #[serde(skip)]
    aside: Option<String>,
}

#[cfg(feature = "schema")]
const TRANSPORTS: [&str; 3] = ["fresh", "fork", "replay"];

impl ReplyAnswer {
    /// What came back; `is_act`: something was ordered to be done.
    pub fn of(reply: Reply, is_act: bool, findings: Vec<Finding>) -> Self {
        let (refs, answer) = (Refs::from(&reply), reply.answer);
        Self {
            output: answer.output,
            data: answer.data,
            refs,
            hash: Hashes {
                exchange: reply.exchange_hash,
                episode: reply.episode_hash,
                series: reply.series_hash,
            },
            transport: reply.transport,
            attempts: reply.attempts,
            usage: answer.usage,
            cost_usd: to_dollars(answer.cost_micro_usd),
            recap: reply.recap,
            findings,
            act: is_act.then_some(Act {
                head_before: answer.head_before,
                head_after: answer.head_after,
                commits: answer.commits,
                changed: answer.changed,
            }),
            aside: refs.line(),
        }
    }
}

/// Dollars, where they are known.
fn to_dollars(micro_usd: Option<u64>) -> Option<f64> {
    micro_usd.map(|micro| micro as f64 / 1e6)
}

impl Show for ReplyAnswer {
    fn human(&self, page: &mut Page) {
        match &self.data {
            Some(data) => page.json(data),
            None => page.lines(self.output.trim_end()),
        }
        if let Some(act) = &self.act {
            for commit in &act.commits {
                page.row("commit", commit);
            }
            for path in &act.changed {
                page.row("changed", path);
            }
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn aside(&self) -> Option<&str> {
        self.aside.as_deref()
    }
}

/// One member of a fan-out: its answer, or why there is none that counts.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberRow {
    agent: String,
    output: Option<String>,
    data: Option<Value>,
    refs: Option<Refs>,
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>", extend("enum" = [TRANSPORTS[0], TRANSPORTS[1], TRANSPORTS[2], null])))]
    transport: Option<Transport>,
    #[cfg_attr(feature = "schema", schemars(with = "Option<Map<String, Value>>"))]
    usage: Option<Value>,
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: Option<f64>,
    error: Option<MemberFailure>,
}

impl MemberRow {
    /// What came of asking an agent.
    pub fn of(agent: String, outcome: Result<Reply, MemberFailure>) -> Self {
        match outcome {
            Ok(reply) => Self {
                agent,
                refs: Some(Refs::from(&reply)),
                output: Some(reply.answer.output),
                data: reply.answer.data,
                transport: Some(reply.transport),
                usage: reply.answer.usage,
                cost_usd: to_dollars(reply.answer.cost_micro_usd),
                error: None,
            },
            Err(failure) => Self {
                agent,
                error: Some(failure),
                ..Self::default()
            },
        }
    }
}

/// Why the answer of a member does not count.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberFailure {
    /// Code of the catalogue.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The refs that are still good.
    pub prior: PriorRefs,
}

/// The same question to several agents.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FanoutAnswer {
    answered: usize,
    /// In the order in which they were named.
    members: Vec<MemberRow>,
    findings: Vec<Finding>,
}

impl FanoutAnswer {
    /// The members, and what was noticed on the way.
    pub fn of(members: Vec<MemberRow>, findings: Vec<Finding>) -> Self {
        Self {
            answered: members.iter().filter(|row| row.error.is_none()).count(),
            members,
            findings,
        }
    }
}

impl Show for FanoutAnswer {
    fn human(&self, page: &mut Page) {
        for row in &self.members {
            page.add_toned(Tone::Strong, &row.agent);
            if let Some(failure) = &row.error {
                page.add_toned(Tone::Bad, &format!("  {}", failure.code));
                page.line(&format!(": {}", failure.message));
                if let Some(hint) = &failure.hint {
                    page.add_toned(Tone::Dim, "  next: ");
                    page.line(hint);
                }
                let prior = &failure.prior;
                let refs = refs_line(prior.episode.as_deref(), prior.series.as_deref());
                refs.iter().for_each(|line| page.line(line));
                continue;
            }
            let refs = row.refs.as_ref().and_then(Refs::line);
            page.add_toned_line(Tone::Dim, &format!("  {}", refs.unwrap_or_default()));
            match (&row.data, &row.output) {
                (Some(data), _) => page.json_line(data),
                (None, output) => page.lines(output.as_deref().unwrap_or_default().trim_end()),
            }
        }
        page.add_toned_line(
            Tone::Dim,
            &format!("{} of {} answered", self.answered, self.members.len()),
        );
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn exit(&self) -> Exit {
        if self.answered == 0 {
            Exit::Supplier
        } else {
            Exit::Ok
        }
    }
}
