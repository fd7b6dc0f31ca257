//! What `cook report` answers: the page, or where it was written.

use crate::view::{Page, Show, Tone};
use cook_core::diagnostic::count_noun;
use serde::Serialize;

/// Where the page was written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ReportAnswer {
    /// The file.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Whether the proof that it tells of passes, as `cook verify` says.
    pub proven: bool,
}

impl Show for ReportAnswer {
    fn human(&self, page: &mut Page) {
        page.line(&format!(
            "wrote {} ({})",
            self.file,
            count_noun(self.bytes, "byte")
        ));
        match self.proven {
            true => page.add_toned_line(Tone::Good, "it says: done and proven"),
            false => page.add_toned_line(
                Tone::Warn,
                "it does not say that the work is proven done; `cook verify` says why",
            ),
        }
    }
}

/// The page itself, for standard output.
#[derive(Debug, Serialize)]
pub(crate) struct PageAnswer(pub String);

impl Show for PageAnswer {
    fn human(&self, page: &mut Page) {
        // Each word of it is escaped already.
        page.verbatim(&self.0);
    }

    fn has_json(&self) -> bool {
        false
    }
}
