//! The page that says what each agent can do under cook, made from the tables in `protocol/agents/`.

use crate::support::generated;
use cook_agents::{Preset, presets};
use cook_protocol::model::hook_table::{AnswerShape, Gate, HookTable, Kind};
use cook_protocol::model::{AgentKind, Config, Continuation, KnownAgent};

const BEGIN: &str = "# What each agent can do under cook

Generated from `protocol/agents/*.toml`, which also decide how `cook` starts, reads and hooks an agent. `–` = no, or not reported.

## As a supplier

`cook run`, `cook run --once` and `cook ask` start it.

| agent | continues by | cost | tokens | schema | only reads | tested with |
|---|---|---|---|---|---|---|
";

const HOST: &str = "
- **continues by**: `fork`: the agent branches a session itself; `replay`: a new session gets the earlier exchanges, also if the
  installed program's help does not name a fork.
- **schema**: the agent holds its answer to a JSON schema; without, `cook` asks again for a report that breaks its form. If the
  program itself gives up on the schema (Claude Code does, after several attempts), that is `supplier_failed`;
  `output_schema_invalid` comes from `cook`, after its own attempts.
- **tokens**: an agent of the Agent Client Protocol (`-acp`, kimi) is counted if it reports them; Kimi Code 2.1.0 did not.
- **only reads**: the agent has a mode without writing tools; without one, changes of a reader are reverted.

## As a host of the hooks

`cook hooks install AGENT` installs them ([hooks](hooks.md)).

| agent | recovery message | guard | a stop is | a compaction is noticed | context size from |
|---|---|---|---|---|---|
";

fn or_none(is: bool, word: &str) -> &str {
    if is { word } else { "–" }
}

fn supplier(preset: &Preset) -> String {
    let table = preset.table();
    let acp = preset.kind() == AgentKind::Acp;
    let cost = preset.rules().iter().any(|rule| rule.set.cost.is_some());
    let tokens = preset.rules().iter().any(|rule| rule.set.usage.is_some());
    let cells = [
        preset.name().to_owned(),
        match preset.continuation() {
            Continuation::Native => "fork",
            Continuation::Replay => "replay",
            Continuation::None => "–",
        }
        .to_owned(),
        or_none(cost, "yes").to_owned(),
        or_none(acp || tokens, "yes").to_owned(),
        or_none(table.schema.is_some(), "yes").to_owned(),
        or_none(preset.can_only_read(), "yes").to_owned(),
        match table.verified.as_deref().unwrap_or_default() {
            [] => "–".to_owned(),
            versions => versions.join(", "),
        },
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn host(known: &KnownAgent, hooks: &HookTable) -> String {
    let carries = |kind: Kind| {
        hooks
            .events
            .iter()
            .any(|row| row.kind == kind && row.context)
    };
    let has = |kind: Kind| hooks.events.iter().any(|row| row.kind == kind);
    let gate = |gate: Gate| hooks.events.iter().any(|row| row.gate == gate);
    let message = [
        (Kind::SessionStart, "at the start"),
        (Kind::Prompt, "with the first prompt"),
    ];
    let message = message.iter().find(|(kind, _)| carries(*kind));
    let stop = match (gate(Gate::Block), hooks.answer) {
        (false, _) => "–",
        (true, AnswerShape::Cursor | AnswerShape::Shim) => "answered with a prompt",
        (true, AnswerShape::Kimi) => "refused once for each prompt",
        (true, _) => "refused",
    };
    let attempt = hooks.events.iter().any(|row| row.attempt);
    let compaction = match (attempt, has(Kind::AfterCompact), has(Kind::BeforeCompact)) {
        (true, ..) => "when the context shrank",
        (_, true, _) => "before and after",
        (_, _, true) => "before",
        _ => "–",
    };
    let size = match (&hooks.context, hooks.install.statusline, has(Kind::Usage)) {
        (Some(_), ..) => "each answer of the model",
        (None, true, _) => "the status line",
        (None, false, true) => "an event",
        _ => "other events, if they report it",
    };
    format!(
        "| {} | {} | {} | {stop} | {compaction} | {size} |\n",
        known.name(),
        message.map_or("after the first tool", |(_, word)| word),
        or_none(gate(Gate::Deny), "yes"),
    )
}

#[test]
fn generated_page_of_the_agents_is_their_tables() {
    let mut text = BEGIN.to_owned();
    let config: Config = toml::from_str("").unwrap();
    for preset in presets(&config).values() {
        text.push_str(&supplier(preset.as_ref().unwrap()));
    }
    text.push_str(HOST);
    for known in KnownAgent::all() {
        text.extend(known.hooks.as_ref().map(|hooks| host(known, hooks)));
    }
    generated::compare("docs/agents.md", &text);
}
