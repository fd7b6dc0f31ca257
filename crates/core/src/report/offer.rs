//! The block of an implementer, which it may leave out: what proves each criterion
//! (`docs/assurance.md`).

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

/// Reads it; none where the text is something else.
pub(super) fn read(text: &str) -> Option<Vec<Offer>> {
    let block: OfferBlock = serde_json::from_str(text).ok()?;
    Some(block.evidence)
}

/// As it is read.
pub(super) fn render(offered: &[Offer]) -> String {
    let block = serde_json::json!({ "evidence": offered });
    // What was read from JSON can be written as such.
    let block = serde_json::to_string_pretty(&block).unwrap_or_default();
    format!("\n```json\n{block}\n```\n")
}
