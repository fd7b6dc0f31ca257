//! `cook ask`, `act`, `fanout`, `session`: answers and the refs to go on from.

use super::screen::refs_line;
use super::{Exit, Page, Show, Tone, count};
use cook_core::diagnostic::{Finding, PriorRefs};
use cook_store::session::{Grade, Ref, Reply};
use serde_json::{Value, json};

/// An answer of an agent.
#[derive(Debug)]
pub struct ReplyAnswer {
    /// What came back.
    pub reply: Reply,
    /// Whether something was ordered to be done.
    pub is_act: bool,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
    refs: Option<String>,
}

impl ReplyAnswer {
    /// An answer to show.
    pub fn of(reply: Reply, is_act: bool, findings: Vec<Finding>) -> Self {
        let episode = reply.episode.to_string();
        let series = reply.series.map(|name| name.to_string());
        Self {
            refs: refs_line(Some(&episode), series.as_deref()),
            reply,
            is_act,
            findings,
        }
    }
}

/// Dollars, where they are known.
fn dollars(micro_usd: Option<u64>) -> Value {
    micro_usd.map_or(Value::Null, |micro| json!(micro as f64 / 1_000_000.0))
}

fn refs(reply: &Reply) -> Value {
    json!({
        "exchange": reply.exchange,
        "episode": reply.episode,
        "series": reply.series,
    })
}

impl Show for ReplyAnswer {
    fn human(&self, page: &mut Page) {
        let reply = &self.reply;
        match &reply.data {
            Some(data) => page.json(data),
            None => page.line(&reply.output),
        }
        if self.is_act {
            for commit in &reply.commits {
                page.row("commit", commit);
            }
            for path in &reply.changed {
                page.row("changed", path);
            }
        }
    }

    fn json(&self) -> Value {
        let reply = &self.reply;
        let mut value = json!({
            "schema_version": 1,
            "output": reply.output,
            "data": reply.data,
            "refs": refs(reply),
            "hash": {
                "exchange": reply.exchange_hash,
                "episode": reply.episode_hash,
                "series": reply.series_hash,
            },
            "transport": reply.transport,
            "attempts": reply.attempts,
            "usage": reply.usage,
            "cost_usd": dollars(reply.cost_micro_usd),
            "recap": reply.recap,
            "findings": self.findings,
        });
        if self.is_act {
            value["act"] = json!({
                "head_before": reply.head_before,
                "head_after": reply.head_after,
                "commits": reply.commits,
                "changed": reply.changed,
            });
        }
        value
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn aside(&self) -> Option<&str> {
        self.refs.as_deref()
    }
}

/// One member of a fan-out.
#[derive(Debug)]
pub struct MemberRow {
    /// The agent.
    pub agent: String,
    /// Its answer, or why there is none that counts.
    pub outcome: Result<Reply, MemberFailure>,
}

/// Why the answer of a member does not count.
#[derive(Debug)]
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
#[derive(Debug)]
pub struct FanoutAnswer {
    /// In the order in which they were named.
    pub rows: Vec<MemberRow>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl FanoutAnswer {
    fn answered(&self) -> usize {
        self.rows.iter().filter(|row| row.outcome.is_ok()).count()
    }
}

impl Show for FanoutAnswer {
    fn human(&self, page: &mut Page) {
        for row in &self.rows {
            page.toned(Tone::Strong, &row.agent);
            match &row.outcome {
                Ok(reply) => {
                    let refs = refs_line(
                        Some(&reply.episode.to_string()),
                        reply.series.map(|name| name.to_string()).as_deref(),
                    );
                    page.toned(Tone::Dim, &format!("  {}", refs.unwrap_or_default()));
                    page.newline();
                    match &reply.data {
                        Some(data) => page.json_line(data),
                        None => page.line(&reply.output),
                    }
                }
                Err(failure) => {
                    page.toned(Tone::Bad, &format!("  {}", failure.code));
                    page.line(&format!(": {}", failure.message));
                    if let Some(hint) = &failure.hint {
                        page.toned(Tone::Dim, "  next: ");
                        page.line(hint);
                    }
                    let prior = &failure.prior;
                    let refs = refs_line(prior.episode.as_deref(), prior.series.as_deref());
                    refs.iter().for_each(|line| page.line(line));
                }
            }
        }
        let answered = self.answered();
        page.toned(
            Tone::Dim,
            &format!("{answered} of {} answered", self.rows.len()),
        );
        page.newline();
    }

    fn json(&self) -> Value {
        let row = |row: &MemberRow| match &row.outcome {
            Ok(reply) => json!({
                "agent": row.agent,
                "output": reply.output,
                "data": reply.data,
                "refs": refs(reply),
                "transport": reply.transport,
                "usage": reply.usage,
                "cost_usd": dollars(reply.cost_micro_usd),
                "error": null,
            }),
            Err(failure) => json!({
                "agent": row.agent,
                "output": null,
                "data": null,
                "refs": null,
                "transport": null,
                "usage": null,
                "cost_usd": null,
                "error": {
                    "code": failure.code,
                    "message": failure.message,
                    "hint": failure.hint,
                    "prior": failure.prior,
                },
            }),
        };
        json!({
            "schema_version": 1,
            "answered": self.answered(),
            "members": self.rows.iter().map(row).collect::<Vec<_>>(),
            "findings": self.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn exit(&self) -> Exit {
        if self.answered() == 0 {
            Exit::Supplier
        } else {
            Exit::Ok
        }
    }
}

/// `cook agents`.
#[derive(Debug)]
pub struct AgentsAnswer {
    /// One for each agent, by name.
    pub agents: Vec<AgentRow>,
}

/// One agent.
#[derive(Debug)]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// The program.
    pub bin: String,
    /// Where it is; none = not installed.
    pub path: Option<String>,
    /// The program is the one that is meant.
    pub is_it: bool,
    /// As it says.
    pub version: Option<String>,
    /// Some version of it was seen to work.
    pub verified: bool,
    /// What can be done with it.
    pub capabilities: Vec<&'static str>,
    /// What is wrong.
    pub problem: Option<String>,
}

impl Show for AgentsAnswer {
    fn human(&self, page: &mut Page) {
        for row in &self.agents {
            let (tone, state) = match (&row.problem, &row.path, row.is_it) {
                (Some(_), _, _) => (Tone::Warn, "problem"),
                (None, None, _) => (Tone::Dim, "absent"),
                (None, Some(_), false) => (Tone::Warn, "another"),
                (None, Some(_), true) => (Tone::Good, "here"),
            };
            page.toned(Tone::Strong, &format!("{:<10}", row.name));
            page.toned(tone, &format!(" {state:<8}"));
            let version = row.version.as_deref().unwrap_or("-");
            let verified = if row.verified { "" } else { "  unverified" };
            page.line(&format!(
                " {version:<12} {}{verified}",
                row.capabilities.join(" ")
            ));
            if let Some(problem) = &row.problem {
                page.line(&format!("           {problem}"));
            }
            if row.path.is_some() && !row.is_it && row.problem.is_none() {
                page.line(&format!(
                    "           `{}` is another program of that name",
                    row.bin
                ));
            }
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "agents": self.agents.iter().map(|row| json!({
                "name": row.name,
                "bin": row.bin,
                "installed": row.path.is_some() && row.is_it,
                "path": row.path,
                "version": row.version,
                "verified": row.verified,
                "capabilities": row.capabilities,
                "problem": row.problem,
            })).collect::<Vec<_>>(),
        })
    }
}

/// `cook session log`, `tree`: calls.
#[derive(Debug)]
pub struct SessionLogAnswer {
    /// `log` or `tree`.
    pub what: &'static str,
    /// Depth and line of the record.
    pub calls: Vec<(usize, Value)>,
    /// How many calls there are, shown or not.
    pub of: usize,
}

impl Show for SessionLogAnswer {
    fn human(&self, page: &mut Page) {
        match (self.calls.len(), self.of) {
            (_, 0) => page.line("no calls yet"),
            (0, of) => page.line(&format!("none shown of {}", count(of, "call"))),
            _ => {}
        }
        let word = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        for (depth, line) in &self.calls {
            page.text(&"  ".repeat(*depth));
            page.toned(Tone::Dim, &word(line, "at"));
            if let Some(expired) = line["expired"].as_array() {
                page.line(&format!(" expired: {}", count(expired.len(), "ref")));
                continue;
            }
            page.text(&format!(
                " {:<10} {:<4}",
                word(line, "supplier"),
                word(line, "deed")
            ));
            match line["error"].as_str() {
                Some(code) => page.toned(Tone::Bad, &format!(" {code}")),
                None => page.text(&format!(" {}", word(line, "transport"))),
            }
            let refs = [word(line, "episode"), word(line, "series")];
            page.line(&format!(" {}", refs.join(" ").trim()));
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "what": self.what,
            "calls": self.calls.iter().map(|(depth, line)| json!({
                "depth": depth,
                "call": line,
            })).collect::<Vec<_>>(),
        })
    }
}

/// `cook session show`: what was said.
#[derive(Debug)]
pub struct SessionShowAnswer {
    /// The ref.
    pub name: Ref,
    /// The value: an exchange, an episode or a series.
    pub value: Value,
    /// What its ref file says.
    pub entry: Value,
    /// Who spoke: what is shown to people, window by window.
    pub windows: Vec<Vec<(String, String, String)>>,
    /// What was chosen, where several were meant.
    pub note: Option<String>,
}

impl Show for SessionShowAnswer {
    fn human(&self, page: &mut Page) {
        page.toned(Tone::Strong, &self.name.to_string());
        page.newline();
        page.row("hash", self.entry["hash"].as_str().unwrap_or_default());
        page.row("agent", self.entry["supplier"].as_str().unwrap_or_default());
        page.row("at", self.entry["at"].as_str().unwrap_or_default());
        for (number, window) in self.windows.iter().enumerate() {
            if self.name.grade() == Grade::Series {
                page.toned(Tone::Dim, &format!("-- episode {} --", number + 1));
                page.newline();
            }
            for (kind, input, output) in window {
                page.toned(Tone::Strong, &format!("{kind}: "));
                page.line(input);
                page.line(output);
            }
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "ref": self.name,
            "entry": self.entry,
            "value": self.value,
        })
    }

    fn aside(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
