//! `cook session`: the calls and what was said in them.

use super::{Page, Show, Tone};
use cook_core::diagnostic::count_noun;
use cook_store::session::{CallRecord, Entry, Exchange, Ref, RefKind, without_nulls};
use serde::Serialize;
#[cfg(feature = "schema")]
use serde_json::Map;
use serde_json::{Value, json};

/// Calls as the record has them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionLogAnswer {
    /// `log` or `tree`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["log", "tree"])))]
    pub what: &'static str,
    /// The calls.
    pub calls: Vec<CallRow>,
    /// How many calls there are, shown or not.
    #[serde(skip)]
    pub of: usize,
}

/// One call.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallRow {
    /// `cook session tree`: how many calls it went on from.
    pub depth: usize,
    /// The line of the record of calls.
    #[serde(serialize_with = "without_nulls")]
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub call: CallRecord,
}

impl Show for SessionLogAnswer {
    fn human(&self, page: &mut Page) {
        match (self.calls.len(), self.of) {
            (_, 0) => page.line("no calls yet"),
            (0, of) => page.line(&format!("none shown of {}", count_noun(of as u64, "call"))),
            _ => {}
        }
        for CallRow { depth, call: line } in &self.calls {
            page.text(&"  ".repeat(*depth));
            page.add_toned(Tone::Dim, &line.at);
            if let Some(expired) = &line.expired {
                page.line(&format!(
                    " expired: {}",
                    count_noun(expired.len() as u64, "ref")
                ));
                continue;
            }
            let supplier = line.supplier.as_deref().unwrap_or_default();
            page.text(&format!(" {supplier:<10} {:<4}", word(line.action)));
            match &line.error {
                Some(code) => page.add_toned(Tone::Bad, &format!(" {code}")),
                None => page.text(&format!(" {}", word(line.transport))),
            }
            let refs = [word(line.episode), word(line.series)];
            page.text(&format!(" {}", refs.join(" ").trim()));
            let said = line.said.as_deref().unwrap_or_default();
            page.add_toned_line(Tone::Dim, &format!(" {said}"));
        }
    }
}

/// A value of one word as it is written.
fn word(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// What was said.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionShowAnswer {
    /// The ref.
    #[serde(rename = "ref")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "String",
            regex(pattern = r"^(ex|ep|sr)_[0-9A-HJKMNP-TV-Z]{26}$")
        )
    )]
    pub name: Ref,
    /// The exchange, episode or series, which checks its own hash.
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub value: Value,
    /// What its ref says.
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub entry: Entry,
    /// What is shown to people, window by window.
    #[serde(skip)]
    pub windows: Vec<Vec<Exchange>>,
    /// What was chosen, where several were meant.
    #[serde(skip)]
    pub note: Option<String>,
}

impl Show for SessionShowAnswer {
    fn human(&self, page: &mut Page) {
        page.add_toned(Tone::Strong, &self.name.to_string());
        page.newline();
        page.row("hash", self.entry.hash.as_str());
        page.row("agent", &self.entry.supplier);
        page.row("at", &self.entry.at);
        for (number, window) in self.windows.iter().enumerate() {
            if self.name.kind() == RefKind::Series {
                page.add_toned(Tone::Dim, &format!("-- episode {} --", number + 1));
                page.newline();
            }
            for exchange in window {
                page.add_toned(Tone::Strong, &format!("{}: ", word(exchange.kind())));
                page.lines(exchange.input());
                page.lines(exchange.output());
            }
        }
    }

    fn aside(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
