//! `cook session`: the calls and what was said in them.

use super::{Page, Show, Tone};
use cook_core::diagnostic::counted;
use cook_store::session::{Ref, RefKind};
use serde::Serialize;
#[cfg(feature = "schema")]
use serde_json::Map;
use serde_json::Value;

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
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub call: Value,
}

impl Show for SessionLogAnswer {
    fn human(&self, page: &mut Page) {
        match (self.calls.len(), self.of) {
            (_, 0) => page.line("no calls yet"),
            (0, of) => page.line(&format!("none shown of {}", counted(of as u64, "call"))),
            _ => {}
        }
        let word = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        for CallRow { depth, call: line } in &self.calls {
            page.text(&"  ".repeat(*depth));
            page.toned(Tone::Dim, &word(line, "at"));
            if let Some(expired) = line["expired"].as_array() {
                page.line(&format!(
                    " expired: {}",
                    counted(expired.len() as u64, "ref")
                ));
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
    pub entry: Value,
    /// Who spoke: what is shown to people, window by window.
    #[serde(skip)]
    pub windows: Vec<Vec<(String, String, String)>>,
    /// What was chosen, where several were meant.
    #[serde(skip)]
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
            if self.name.kind() == RefKind::Series {
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

    fn aside(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
