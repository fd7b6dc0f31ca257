//! The block of an implementer, which it may leave out: what proves each criterion
//! (`docs/assurance.md`).

use super::raw::show_held;
use crate::diagnostic::{Code, Finding, Lines, clean};
use crate::model::Offer;
use serde::Deserialize;

/// The block as it is shown.
pub const OFFER_FORMAT: &str = r#"```json
{
  "evidence": [
    {"criterion": "<word for word>", "anchor": "<test:NAME, cmd:COMMAND#LINE, path:line>"}
  ]
}
```
"#;

/// As it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfferBlock {
    pub evidence: Vec<Offer>,
}

/// Reads it.
pub(super) fn read(text: &str) -> Result<Vec<Offer>, Finding> {
    let block: Result<OfferBlock, serde_json::Error> = serde_json::from_str(text);
    block.map(|block| block.evidence).map_err(|error| {
        let shape = OFFER_FORMAT
            .trim_start_matches("```json")
            .trim_end_matches(['`', '\n']);
        Finding::new(
            Code::ReportBlockInvalid,
            format!(
                "{}; it holds {}; it must hold the evidence of each criterion; for example `{}`",
                clean(&error.to_string(), Lines::Fold),
                show_held(text),
                clean(shape, Lines::Fold)
            ),
        )
    })
}

/// As it is read.
pub(super) fn render(offered: &[Offer]) -> String {
    let block = serde_json::json!({ "evidence": offered });
    // What was read from JSON can be written as such.
    let block = serde_json::to_string_pretty(&block).unwrap_or_default();
    format!("\n```json\n{block}\n```\n")
}
