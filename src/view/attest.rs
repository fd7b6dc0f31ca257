//! What `cook attest` wrote, and what somebody else's file says.

use super::{Page, Show, Tone};
use crate::attest::{Attested, Made};
use serde::Serialize;

/// Statements that were made.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct AttestAnswer {
    /// Where they are; null = in `lines` alone.
    pub file: Option<String>,
    /// The commit that they are about.
    pub commit: String,
    /// Its tree.
    pub tree: String,
    /// What passed.
    pub properties: Vec<String>,
    /// The log's newest transition, by its commit.
    pub log: String,
    /// Fingerprint of the key that signed; null = nobody signed.
    pub key: Option<String>,
    /// The lines of the file.
    pub lines: Vec<String>,
}

impl AttestAnswer {
    /// Of statements, in the form in which they are handed on.
    pub fn new(made: Made, lines: Vec<String>, key: Option<String>) -> Self {
        Self {
            file: None,
            commit: made.commit,
            tree: made.tree,
            properties: made.properties,
            log: made.log,
            key,
            lines,
        }
    }

    /// The file's bytes.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        lines.collect()
    }
}

impl Show for AttestAnswer {
    fn human(&self, page: &mut Page) {
        let Some(file) = &self.file else {
            // What would act on a terminal is escaped in it already.
            page.verbatim(&self.text());
            return;
        };
        page.add_toned(Tone::Good, "attested");
        page.line(&format!("  {file}"));
        page.row("commit", &self.commit);
        page.row("tree", &self.tree);
        page.row("properties", &self.properties.join(" "));
        page.row("log", &self.log);
        page.row("signed by", self.key.as_deref().unwrap_or("nobody"));
    }
}

/// What a file says about a commit, and who says so.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct AttestedAnswer {
    /// The commit that it is about.
    pub commit: String,
    /// Its tree; null = the commit is not here, so that it was not compared.
    pub tree: Option<String>,
    /// What the commit is called there; null = nothing.
    pub name: Option<String>,
    /// Who says so, as the list names them.
    pub signer: String,
    /// The fingerprint of their key.
    pub key: String,
    /// By which rules it was verified.
    pub verifier: String,
    /// When.
    pub time: String,
    /// What passed.
    pub properties: Vec<String>,
    /// The log's newest transition then, by its commit; null = not said.
    pub log: Option<String>,
    /// Gates that were green; null = the file holds no test result.
    pub gates: Option<Vec<String>>,
    /// Gates that were red and are not required.
    pub warned: Vec<String>,
    /// The same signature checked without cook, a command a line.
    pub by_hand: Vec<String>,
}

impl AttestedAnswer {
    /// Of a file that was read.
    pub fn new(
        attested: Attested,
        commit: String,
        tree: Option<String>,
        by_hand: Vec<String>,
    ) -> Self {
        Self {
            commit,
            tree,
            name: attested.name,
            signer: attested.signer,
            key: attested.key,
            verifier: attested.verifier,
            time: attested.time,
            properties: attested.properties,
            log: attested.log,
            gates: attested.gates,
            warned: attested.warned,
            by_hand,
        }
    }
}

impl Show for AttestedAnswer {
    fn human(&self, page: &mut Page) {
        page.add_toned(Tone::Good, "signed");
        page.line(&format!("  by {} with {}", self.signer, self.key));
        page.row("commit", &self.commit);
        match &self.tree {
            Some(tree) => page.row("tree", tree),
            None => page.row("tree", "not compared: the commit is not here"),
        }
        if let Some(name) = &self.name {
            page.row("name", name);
        }
        page.row("properties", &self.properties.join(" "));
        page.row("verified", &format!("{} by {}", self.time, self.verifier));
        if let Some(log) = &self.log {
            page.row("log", log);
        }
        match &self.gates {
            Some(gates) => page.row("green", &list_gates(gates)),
            None => page.row("green", "not said"),
        }
        if !self.warned.is_empty() {
            page.row(
                "red",
                &format!("{} (not required)", list_gates(&self.warned)),
            );
        }
        page.add_toned_line(
            Tone::Dim,
            "without cook (writes payload.json, signed and signature):",
        );
        for line in &self.by_hand {
            page.line(&format!("  {line}"));
        }
    }
}

fn list_gates(gates: &[String]) -> String {
    match gates.is_empty() {
        true => "no gate".to_owned(),
        false => gates.join(", "),
    }
}
