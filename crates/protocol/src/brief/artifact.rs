//! The artifact envelope, `pi-continue-artifacts/v4`: from a JSON value, field by
//! field, and back.

use super::field::{FieldError, normalise};
use super::render::Brief;
use crate::diagnostic::{Lines, clean};
use crate::model::{Anchor, Basis, BriefLine, BriefOutcome, MAX_ENTRIES, Slot, fits};
use serde_json::{Map, Value, json};

/// The version this build reads and writes.
pub const VERSION: &str = "pi-continue-artifacts/v4";

/// What an artifact proposes for the agent guide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guide {
    /// The whole new text, as it came; none = leave the guide alone.
    pub content: Option<String>,
    /// Why.
    pub reason: String,
}

/// A valid artifact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Artifact {
    /// The seven slots, normalised.
    pub brief: Brief,
    /// The proposed agent guide.
    pub guide: Guide,
    /// What becomes of earlier entries.
    pub reconciliation: Vec<BriefOutcome>,
}

impl Artifact {
    /// The envelope.
    pub fn to_json(&self) -> Value {
        let mut brief = Map::new();
        brief.insert("task".to_owned(), json!(self.brief.task));
        brief.insert("done_when".to_owned(), json!(self.brief.done_when));
        for slot in Slot::ALL {
            let lines = self.brief.of(slot).map(|line| {
                let fields = line.fields().into_iter();
                fields
                    .map(|(key, text)| (key.to_owned(), json!(text)))
                    .collect::<Map<String, Value>>()
            });
            let lines: Vec<Value> = lines.map(Value::Object).collect();
            brief.insert(slot.id().to_owned(), Value::Array(lines));
        }
        let mut envelope = json!({
            "version": VERSION,
            "brief": brief,
            "agentGuideUpdate": {"content": self.guide.content, "reason": self.guide.reason},
        });
        if !self.reconciliation.is_empty() {
            envelope["reconciliation"] = json!(self.reconciliation);
        }
        envelope
    }

    /// Reads a value; what is merely unknown goes into `ignored` as paths.
    pub(super) fn from_value(value: &Value, ignored: &mut Vec<String>) -> Result<Self, FieldError> {
        let envelope = object(value, "")?;
        unknown(
            envelope,
            &["version", "brief", "agentGuideUpdate", "reconciliation"],
            "",
            ignored,
        );
        let version = text(envelope, "version", "")?;
        if version != VERSION {
            return Err(FieldError::new("version", format!("is not `{VERSION}`")));
        }
        let slots = object(present(envelope, "brief", "")?, "brief")?;
        let known: Vec<&str> = ["task", "done_when"]
            .into_iter()
            .chain(Slot::ALL.map(Slot::id))
            .collect();
        unknown(slots, &known, "brief", ignored);
        let mut brief = Brief {
            task: field(slots, "task", "brief")?,
            done_when: field(slots, "done_when", "brief")?,
            lines: Vec::new(),
        };
        for slot in Slot::ALL {
            let path = format!("brief.{}", slot.id());
            let list = present(slots, slot.id(), "brief")?;
            brief
                .lines
                .extend(read_lines_from_value(slot, list, &path, ignored)?);
        }
        Ok(Self {
            brief,
            guide: guide(envelope, ignored)?,
            reconciliation: match envelope.get("reconciliation") {
                None => Vec::new(),
                Some(list) => outcomes(list, "reconciliation", ignored)?,
            },
        })
    }
}

/// A list of entries of one slot.
///
/// # Errors
/// The first field that breaks a rule, at its path below `path`.
pub fn read_lines_from_value(
    slot: Slot,
    value: &Value,
    path: &str,
    ignored: &mut Vec<String>,
) -> Result<Vec<BriefLine>, FieldError> {
    let list = array(value, path)?;
    list.iter()
        .enumerate()
        .map(|(number, entry)| {
            read_line_from_value(slot, entry, &format!("{path}[{number}]"), ignored)
        })
        .collect()
}

/// One entry of one slot.
///
/// # Errors
/// The first field that breaks a rule, at its path below `path`.
pub fn read_line_from_value(
    slot: Slot,
    value: &Value,
    path: &str,
    ignored: &mut Vec<String>,
) -> Result<BriefLine, FieldError> {
    let entry = object(value, path)?;
    unknown(entry, slot.fields(), path, ignored);
    let basis = |word: &str| {
        let rule = "is not one of observed, test, output, user, doc";
        Basis::parse(word).ok_or_else(|| FieldError::new(format!("{path}.basis"), rule))
    };
    let line = BriefLine::from_fields(slot, |key| field(entry, key, path), basis)?;
    if let Some((basis, _)) = line.proof {
        proves(&line.tail, basis, path)?;
    }
    Ok(line)
}

/// The evidence is an anchor, and of a form that its basis may have.
fn proves(evidence: &str, basis: Basis, path: &str) -> Result<(), FieldError> {
    let anchor = Anchor::parse(evidence)
        .map_err(|why| FieldError::new(format!("{path}.evidence"), why.to_string()))?;
    if fits(basis, &anchor) {
        return Ok(());
    }
    let rule = format!("`{}` does not go with that form of evidence", basis.id());
    Err(FieldError::new(format!("{path}.basis"), rule))
}

fn guide(envelope: &Map<String, Value>, ignored: &mut Vec<String>) -> Result<Guide, FieldError> {
    let path = "agentGuideUpdate";
    let update = object(present(envelope, path, "")?, path)?;
    unknown(update, &["content", "reason"], path, ignored);
    let content = match update.get("content") {
        None => return Err(FieldError::new(format!("{path}.content"), "is missing")),
        Some(Value::Null) => None,
        Some(Value::String(text)) if text.trim().is_empty() => {
            return Err(FieldError::new(format!("{path}.content"), "holds no text"));
        }
        // What a diff would not show must not be written either.
        Some(Value::String(text)) => Some(clean(text, Lines::Keep)),
        Some(_) => {
            let rule = "is neither text nor null";
            return Err(FieldError::new(format!("{path}.content"), rule));
        }
    };
    let reason = text(update, "reason", path)?;
    Ok(Guide {
        content,
        reason: normalise(reason).unwrap_or_default(),
    })
}

/// A list of causes.
pub(super) fn outcomes(
    value: &Value,
    path: &str,
    ignored: &mut Vec<String>,
) -> Result<Vec<BriefOutcome>, FieldError> {
    let mut outcomes = Vec::new();
    for (number, entry) in array(value, path)?.iter().enumerate() {
        let path = format!("{path}[{number}]");
        let entry = object(entry, &path)?;
        unknown(entry, &["id", "verdict", "by", "why"], &path, ignored);
        let verdict = serde_json::from_value(json!(field(entry, "verdict", &path)?));
        let verdict = verdict.map_err(|_| {
            let rule = "is not one of superseded, demoted, retired";
            FieldError::new(format!("{path}.verdict"), rule)
        })?;
        outcomes.push(BriefOutcome {
            id: field(entry, "id", &path)?,
            verdict,
            by: match entry.get("by") {
                None | Some(Value::Null) => None,
                Some(_) => Some(field(entry, "by", &path)?),
            },
            why: field(entry, "why", &path)?,
        });
    }
    Ok(outcomes)
}

fn below(path: &str, key: &str) -> String {
    match path.is_empty() {
        true => key.to_owned(),
        false => format!("{path}.{key}"),
    }
}

fn present<'a>(
    object: &'a Map<String, Value>,
    key: &str,
    path: &str,
) -> Result<&'a Value, FieldError> {
    match object.get(key) {
        None => Err(FieldError::new(below(path, key), "is missing")),
        Some(Value::Null) => Err(FieldError::new(below(path, key), "is null")),
        Some(value) => Ok(value),
    }
}

fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, FieldError> {
    value
        .as_object()
        .ok_or_else(|| FieldError::new(path, "is not an object"))
}

fn array<'a>(value: &'a Value, path: &str) -> Result<&'a Vec<Value>, FieldError> {
    let list = value
        .as_array()
        .ok_or_else(|| FieldError::new(path, "is not a list"))?;
    if list.len() > MAX_ENTRIES {
        let rule = format!("has {} entries; a slot takes {MAX_ENTRIES}", list.len());
        return Err(FieldError::new(path, rule));
    }
    Ok(list)
}

fn text<'a>(object: &'a Map<String, Value>, key: &str, path: &str) -> Result<&'a str, FieldError> {
    present(object, key, path)?
        .as_str()
        .ok_or_else(|| FieldError::new(below(path, key), "is not text"))
}

/// A normalised text field.
fn field(object: &Map<String, Value>, key: &str, path: &str) -> Result<String, FieldError> {
    normalise(text(object, key, path)?)
        .map_err(|breach| FieldError::new(below(path, key), breach.rule))
}

/// Notes keys that mean nothing here.
fn unknown(object: &Map<String, Value>, known: &[&str], path: &str, ignored: &mut Vec<String>) {
    /// Names that are listed; a hostile artifact has thousands.
    const LISTED: usize = 20;
    for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
        if ignored.len() < LISTED {
            let key: String = key.chars().take(60).collect();
            ignored.push(below(path, &key));
        }
    }
}
