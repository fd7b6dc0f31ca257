//! The artifact envelope, `pi-continue-artifacts/v4`: found in a model's answer, read field by field, and written;
//! and the anchors that its texts mention.

use super::entry::{Brief, FieldError, normalise};
use crate::diagnostic::{Failure, FailureKind, attributions};
use crate::model::{BriefOutcome, MAX_ENTRIES, fits};
use crate::prelude::*;
use crate::schema;
use crate::schema::{find_json, without_thoughts};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

// The artifact envelope: from a JSON value, field by field, and back.

/// The version that this build reads and writes.
pub const VERSION: &str = "pi-continue-artifacts/v4";

/// The proposal of an artifact for the agent guide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guide {
    /// The whole new text, without hidden characters; `None` leaves the guide as it is.
    pub content: Option<String>,
    /// The reason.
    pub reason: String,
}

/// A valid artifact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Artifact {
    /// The seven slots, normalised.
    pub brief: Brief,
    /// The proposed agent guide.
    pub guide: Guide,
    /// The outcomes of earlier entries.
    pub reconciliation: Vec<BriefOutcome>,
}

impl Artifact {
    /// Writes the envelope.
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

    /// Reads a value. The paths of unknown keys are added to `ignored`.
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

/// Reads a list of entries of one slot.
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

/// Reads one entry of one slot.
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

/// Requires that the evidence is an anchor, of a form that its basis allows.
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
        // Characters that a diff would not show must not be written either.
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

/// Reads a list of outcomes.
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
    require_room(list.len(), path).map(|()| list)
}

pub(super) fn require_room(entries: usize, path: &str) -> Result<(), FieldError> {
    if entries > MAX_ENTRIES {
        let rule = format!("has {entries} entries; a slot takes {MAX_ENTRIES}");
        return Err(FieldError::new(path, rule));
    }
    Ok(())
}

fn text<'a>(object: &'a Map<String, Value>, key: &str, path: &str) -> Result<&'a str, FieldError> {
    present(object, key, path)?
        .as_str()
        .ok_or_else(|| FieldError::new(below(path, key), "is not text"))
}

/// Reads a text field and normalises it.
fn field(object: &Map<String, Value>, key: &str, path: &str) -> Result<String, FieldError> {
    normalise(text(object, key, path)?)
        .map_err(|breach| FieldError::new(below(path, key), breach.rule))
}

/// Adds the paths of unknown keys to `ignored`.
fn unknown(object: &Map<String, Value>, known: &[&str], path: &str, ignored: &mut Vec<String>) {
    /// Maximum number of paths listed; a hostile artifact has thousands.
    const LISTED: usize = 20;
    for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
        if ignored.len() < LISTED {
            let key: String = key.chars().take(60).collect();
            ignored.push(below(path, &key));
        }
    }
}

// Finding an artifact in a model's answer: alone, in a fence, after its reasoning, within prose. Nothing is
// repaired by inventing content.

/// Maximum size of an artifact with the text around it, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// A valid artifact, and the warnings about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The artifact.
    pub artifact: Artifact,
    /// `artifact_key_unknown` for each key that is unknown here.
    pub warnings: Vec<Finding>,
}

/// Reads an artifact.
///
/// # Errors
/// `artifact_unreadable` (too large, no UTF-8, no object that could be one, an
/// object that ends early), `artifact_ambiguous` (two different valid ones), or
/// `artifact_invalid` with the field's path and the rule it breaks.
pub fn read(bytes: &[u8]) -> Result<Reading, Failure> {
    let text = decode(bytes)?;
    let spoken = match without_thoughts(text) {
        // A tag that is never closed is prose.
        thoughts if thoughts.unended.is_some() => text.to_owned(),
        thoughts => thoughts.text,
    };
    let mut found = Vec::new();
    collect_artifacts(&spoken, MAX_DEPTH, &mut found);
    // Of an object that stands alone, the missing key is reported.
    let whole = spoken.trim();
    if found.is_empty() && whole.starts_with('{') && find_json(whole) == [whole] {
        found.push(whole);
    }
    let mut valid: Vec<Reading> = Vec::new();
    let mut breach = None;
    for slice in found {
        let mut ignored = Vec::new();
        let value =
            schema::value(slice.as_bytes()).map_err(|error| FieldError::new("", error.to_string()));
        match value.and_then(|value| Artifact::from_value(&value, &mut ignored)) {
            Ok(artifact) if valid.iter().any(|known| known.artifact == artifact) => {}
            Ok(artifact) => valid.push(Reading {
                artifact,
                warnings: ignored.into_iter().map(note_passed_over).collect(),
            }),
            // The last version is the one that the model means.
            Err(found) => breach = Some(found),
        }
    }
    match (valid.len(), breach) {
        (1, _) => Ok(valid.remove(0)),
        (0, Some(breach)) => Err(invalid(&breach)),
        (0, None) => Err(unreadable(
            match serde_json::from_str::<IgnoredAny>(whole) {
                Err(why) if spoken.contains("\"version\"") => {
                    format!("the JSON cannot be read: {why}")
                }
                _ => "none of its JSON objects is an artifact".to_owned(),
            },
        )),
        (number, _) => Err(Failure::new(
            FailureKind::Check,
            Code::ArtifactAmbiguous,
            format!("it holds {number} different valid artifacts"),
        )),
    }
}

/// Reads a reconciliation by itself: a list of causes, or an object that holds one
/// under `reconciliation`.
///
/// # Errors
/// As [`read`].
pub fn read_reconciliation(bytes: &[u8]) -> Result<Vec<BriefOutcome>, Failure> {
    let text = decode(bytes)?;
    let value = schema::value(text.trim().as_bytes())
        .map_err(|error| unreadable(format!("the JSON cannot be read: {error}")))?;
    let list = match &value {
        Value::Object(object) => object.get("reconciliation").unwrap_or(&Value::Null),
        other => other,
    };
    outcomes(list, "reconciliation", &mut Vec::new()).map_err(|breach| invalid(&breach))
}

fn decode(bytes: &[u8]) -> Result<&str, Failure> {
    if bytes.len() > MAX_BYTES {
        let what = format!(
            "it has {} bytes; cook reads {MAX_BYTES} of an artifact",
            bytes.len()
        );
        return Err(Failure::new(
            FailureKind::Check,
            Code::ArtifactUnreadable,
            what,
        ));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| unreadable(format!("it is not UTF-8 at byte {}", error.valid_up_to())))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn unreadable(what: String) -> Failure {
    Failure::new(FailureKind::Check, Code::ArtifactUnreadable, what)
}

/// The failure that a breach becomes.
fn invalid(breach: &FieldError) -> Failure {
    let message = match breach.path.is_empty() {
        true => format!("the artifact {}", breach.rule),
        false => breach.to_string(),
    };
    let finding = Finding::new(Code::ArtifactInvalid, message.clone()).at(breach.path.clone());
    let mut failure = Failure::new(FailureKind::Check, Code::ArtifactInvalid, message);
    failure.findings.push(finding);
    failure
}

impl From<FieldError> for Failure {
    fn from(breach: FieldError) -> Self {
        invalid(&breach)
    }
}

fn note_passed_over(path: String) -> Finding {
    finding!(
        Code::ArtifactKeyUnknown,
        "`{path}` is unknown here and was ignored"
    )
    .at(path)
}

/// Maximum depth to which lists and objects around an artifact are searched.
const MAX_DEPTH: usize = 4;

/// Adds the objects of a text that could be artifacts, outermost first.
fn collect_artifacts<'a>(text: &'a str, depth: usize, found: &mut Vec<&'a str>) {
    for value in find_json(text) {
        if is_artifact_like(value) {
            found.push(value);
        } else if depth > 0 {
            collect_artifacts(&value[1..], depth - 1, found);
        }
    }
}

/// Whether the object has the key of the slots or of the version.
fn is_artifact_like(object: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Keys {
        #[serde(default)]
        version: Option<IgnoredAny>,
        #[serde(default)]
        brief: Option<IgnoredAny>,
    }
    let keys = serde_json::from_str::<Keys>(object);
    // A duplicated key is reported when the object is read.
    let has_key = keys.map_or(true, |keys| keys.version.is_some() || keys.brief.is_some());
    object.starts_with('{') && has_key
}

// Anchors inside free text: sources, what a question verifies, outcomes.

/// The anchors that a free text mentions: the whole text if it is one, otherwise single words that can be nothing
/// else. `path:word` counts only as the whole text, because prose is full of colons.
pub fn mentions(text: &str) -> Vec<String> {
    let text = text.trim();
    if let Ok(anchor) = Anchor::parse(text)
        && is_certain(&anchor, text, true)
    {
        return vec![text.to_owned()];
    }
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| ".,;()[]{}\"'`".contains(c));
        let word = word.strip_suffix(':').unwrap_or(word);
        if let Ok(anchor) = Anchor::parse(word)
            && is_certain(&anchor, word, false)
            && !found.iter().any(|known| known == word)
        {
            found.push(word.to_owned());
        }
    }
    found
}

/// A message that a source names, with the text beside its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    /// The message's id.
    pub id: String,
    /// The words that the source thereby attributes to it; may be empty.
    pub words: Vec<String>,
}

/// The messages that a source names. Any text beside an id, in quotes or not, reads as the message's own words.
pub fn quotes(source: &str) -> Vec<Quoted> {
    let is_around = |c: char| c.is_whitespace() || ".,;:()[]{}<>\"'`“”„‘’‚«»‹›*_-–—…".contains(c);
    let words = |text: &str| text.trim_matches(is_around).to_owned();
    let named = attributions(source);
    let ends = named.iter().skip(1).map(|next| next.start);
    let ends = ends.chain([source.len()]);
    let mut begin = 0;
    let mut found = Vec::new();
    for (at, end) in named.iter().zip(ends) {
        let beside = [&source[begin..at.start], &source[at.id.end..end]];
        found.push(Quoted {
            id: source[at.id.clone()].to_owned(),
            words: beside
                .map(words)
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect(),
        });
        begin = end;
    }
    found
}

fn is_certain(anchor: &Anchor, text: &str, whole: bool) -> bool {
    let is_path = |path: &str| {
        !path.contains(char::is_whitespace) && !path.contains("://") && path.contains(['/', '.'])
    };
    match anchor {
        Anchor::User { .. } | Anchor::Receipt(_) | Anchor::Commit(_) => true,
        Anchor::Lines { path, .. } => is_path(path),
        Anchor::Symbol { path, symbol } => {
            whole && is_path(path) && !symbol.contains("//") && !text.contains("://")
        }
        Anchor::Gone { path, .. } | Anchor::Entry(path) => whole && is_path(path),
        Anchor::Test(_) | Anchor::Command { .. } | Anchor::Doc { .. } => whole,
    }
}

#[cfg(test)]
mod tests_of_read {
    use super::*;
    use serde_json::{Value, json};

    fn good(task: &str) -> Value {
        json!({
            "version": crate::brief::VERSION,
            "brief": {"task": task, "done_when": "d", "forbid": [], "established": [],
                "learned": [], "open": [], "next": []},
            "agentGuideUpdate": {"content": null, "reason": "none"},
        })
    }

    fn task(text: &str) -> Result<String, String> {
        read(text.as_bytes())
            .map(|reading| reading.artifact.brief.task)
            .map_err(|failure| format!("{}: {}", failure.code, failure.message))
    }

    #[test]
    fn it_is_found_wherever_it_stands() {
        let json = good("t").to_string();
        let pretty = serde_json::to_string_pretty(&good("t")).unwrap();
        let other = good("draft").to_string();
        for text in [
            json.clone(),
            format!("\u{feff}\n {pretty}\n"),
            format!("```json\n{pretty}\n```"),
            format!("~~~\n{json}\n~~~ and more"),
            format!("Don't say \"no: it's {{here}}\n```\n{pretty}\n```\nthe 5\" disk's"),
            format!("<think>{other} or {{\"version\": 1</think>\n{json}"),
            format!("I think {other}\n</think>\n{json}"),
            format!("<think>never closed {{\n{json}"),
            format!("<thinking>a<thinking>{other}</thinking>b {json}"),
            format!("{json}\nagain:\n{pretty}"),
            format!("{{\"result\": {json}}}"),
            format!("[{json}]"),
        ] {
            assert_eq!(task(&text).as_deref(), Ok("t"), "{text}");
        }
        let tagged = good("a <think> b </think> c");
        let text = format!("prose {{x}} {tagged}");
        assert_eq!(task(&text).as_deref(), Ok("a <think> b </think> c"));
    }

    #[test]
    fn what_is_not_there_is_not_invented() {
        let json = good("t").to_string();
        for (text, said) in [
            (String::new(), "artifact_unreadable"),
            ("{}".to_owned(), "artifact_invalid: `version`"),
            ("no JSON".to_owned(), "artifact_unreadable"),
            (
                json[..json.len() - 2].to_owned(),
                "artifact_unreadable: the JSON cannot be read: EOF",
            ),
            (format!("<think>{json}</think> done"), "artifact_unreadable"),
            (format!("{json} {}", good("u")), "artifact_ambiguous"),
            (
                json.replace("\"brief\"", "\"version\":1,\"brief\""),
                "artifact_invalid: the artifact",
            ),
            (" ".repeat(MAX_BYTES + 1), "artifact_unreadable"),
        ] {
            let found = task(&text).unwrap_err();
            assert!(
                found.starts_with(said),
                "{found} for {}",
                &text[..text.len().min(80)]
            );
        }
        assert!(read(b"\xff{}").is_err());
    }

    #[test]
    fn every_breach_is_at_its_field() {
        let established =
            json!([{"claim": "c", "evidence": "a.rs:1", "basis": "observed", "reopen": "r"}]);
        let cases: Vec<(&str, Value, &str)> = vec![
            ("/version", json!("v3"), "version"),
            ("/version", json!(4), "version"),
            ("/brief", Value::Null, "brief"),
            ("/brief/task", json!(" \n- \n"), "brief.task"),
            ("/brief/task", json!(["t"]), "brief.task"),
            ("/brief/forbid", Value::Null, "brief.forbid"),
            ("/brief/forbid", json!({}), "brief.forbid"),
            ("/brief/forbid", json!(["x"]), "brief.forbid[0]"),
            (
                "/brief/forbid",
                json!([{"rule": "r"}]),
                "brief.forbid[0].source",
            ),
            (
                "/brief/learned",
                json!([{"lesson": "l", "source": 5}]),
                "brief.learned[0].source",
            ),
            (
                "/brief/open",
                json!(vec![json!({"question": "q", "verifies": "v"}); 501]),
                "brief.open",
            ),
            (
                "/brief/next",
                json!([{"action": "\u{200b}", "outcome": "o"}]),
                "brief.next[0].action",
            ),
            (
                "/brief/established/0/basis",
                json!("guess"),
                "brief.established[0].basis",
            ),
            (
                "/brief/established/0/basis",
                json!("user"),
                "brief.established[0].basis",
            ),
            (
                "/brief/established/0/evidence",
                json!("a.rs"),
                "brief.established[0].evidence",
            ),
            (
                "/brief/established/0/evidence",
                json!("../a.rs:1"),
                "brief.established[0].evidence",
            ),
            (
                "/brief/established/0/reopen",
                Value::Null,
                "brief.established[0].reopen",
            ),
            ("/agentGuideUpdate", Value::Null, "agentGuideUpdate"),
            (
                "/agentGuideUpdate/content",
                json!(7),
                "agentGuideUpdate.content",
            ),
        ];
        for (pointer, value, path) in cases {
            let mut artifact = good("t");
            artifact["brief"]["established"] = established.clone();
            *artifact.pointer_mut(pointer).unwrap() = value;
            let failure = read(artifact.to_string().as_bytes()).unwrap_err();
            assert_eq!(failure.path(), Some(path), "{}", failure.message);
            assert_eq!(failure.code, Code::ArtifactInvalid);
        }
        for slot in [
            "task",
            "done_when",
            "forbid",
            "established",
            "learned",
            "open",
            "next",
        ] {
            let mut artifact = good("t");
            artifact["brief"].as_object_mut().unwrap().remove(slot);
            let failure = read(artifact.to_string().as_bytes()).unwrap_err();
            assert_eq!(failure.path(), Some(&*format!("brief.{slot}")));
        }
    }

    #[test]
    fn unknown_keys_are_passed_over_and_said() {
        let mut artifact = good("t");
        artifact["extra"] = json!(1);
        artifact["brief"]["more"] = json!(1);
        let reading = read(artifact.to_string().as_bytes()).unwrap();
        let places: Vec<_> = reading
            .warnings
            .iter()
            .flat_map(|w| w.place.clone())
            .collect();
        assert_eq!(places, ["extra", "brief.more"]);
    }

    #[test]
    fn hostile_text_ends_soon() {
        let started = std::time::Instant::now();
        for text in [
            "{".repeat(MAX_BYTES),
            "{\"a\":".repeat(MAX_BYTES / 5),
            "{\"version\":[".repeat(MAX_BYTES / 12),
            "<think>".repeat(MAX_BYTES / 7),
            "<think></think>".repeat(MAX_BYTES / 15),
            format!("{{\"a\":[{}", "{\"b\":1},".repeat(100_000)),
        ] {
            let text = &text[..text.len().min(MAX_BYTES)];
            assert!(read(text.as_bytes()).is_err());
        }
        assert!(started.elapsed().as_secs() < 120);
    }
}

#[cfg(test)]
mod tests_of_mention {
    use super::*;

    #[test]
    fn whatever_stands_beside_an_id_is_a_quote() {
        let of = |source: &str| {
            let found = quotes(source);
            let pair = |quoted: Quoted| format!("{}={}", quoted.id, quoted.words.join("|"));
            found.into_iter().map(pair).collect::<Vec<_>>().join(" ")
        };
        for (source, expected) in [
            ("user@msg-1", "msg-1="),
            ("`user@msg-1`.", "msg-1="),
            ("user@msg-1: 'it's \"done\" now'", "msg-1=it's \"done\" now"),
            ("user@msg-1: other words", "msg-1=other words"),
            ("user@msg-1 «other words»", "msg-1=other words"),
            ("as User @ msg-1 says", "msg-1=as|says"),
            (
                "user@msg-1: 'a', user@answer-2: \"b\"",
                "msg-1=a answer-2=b",
            ),
            ("us\u{435}r@msg-1: a", "msg-1=a"),
            ("src/a.rs:1", ""),
            ("user@example.com says so", ""),
        ] {
            assert_eq!(of(source), expected, "{source}");
        }
    }

    #[test]
    fn anchors_are_told_from_prose() {
        for (text, expected) in [
            ("user@msg-1", vec!["user@msg-1"]),
            (
                "user@msg-1: 'use queues; they last'",
                vec!["user@msg-1: 'use queues; they last'"],
            ),
            (
                "cmd:pnpm test a.ts#first-line",
                vec!["cmd:pnpm test a.ts#first-line"],
            ),
            (
                "see src/a.rs:12, and commit:abcd12.",
                vec!["src/a.rs:12", "commit:abcd12"],
            ),
            ("src/a.rs:parse", vec!["src/a.rs:parse"]),
            ("session experience: round-trip seen", vec![]),
            ("note: run it at 10:30", vec![]),
            ("https://example.org/a:80 is up", vec![]),
            ("Run test: all green", vec![]),
        ] {
            assert_eq!(mentions(text), expected, "{text}");
        }
    }
}
