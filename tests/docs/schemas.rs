//! The schemas in `protocol/schema/` and the types in `crates/protocol/src/model/` give the same
//! verdict on every document, drawn from the schemas and mutated. Also: reading bad bytes, and
//! `protocol/codes.json`.

use cook_protocol::diagnostic::{CATALOGUE, Code, Finding};
use cook_protocol::model::*;
use cook_protocol::schema::{
    Document, Documented, MAX_DOCUMENT_BYTES, MAX_FINDINGS, read_document,
};
use jsonschema::Validator;
use serde::Serialize;
use serde_json::{Map, Number, Value, json};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The published schema of a document.
fn schema_of(document: Document) -> Value {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/protocol/schema");
    let file = format!("{directory}/{}.schema.json", document.id());
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Whether that schema accepts the value.
fn accepts(document: Document, value: &Value) -> bool {
    static COMPILED: [OnceLock<Validator>; 10] = [const { OnceLock::new() }; 10];
    let compile = || jsonschema::draft202012::new(&schema_of(document)).unwrap();
    COMPILED[document as usize]
        .get_or_init(compile)
        .is_valid(value)
}

/// SplitMix64: small, and the same everywhere.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn draws_one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn text(&mut self) -> String {
        const TEXTS: [&str; 10] = [
            "a",
            "slice-1",
            "null",
            "Ärger 世界",
            "a\nb",
            "\u{1b}[31m",
            "\"\\/",
            "idle",
            "0",
            "\u{202e}x",
        ];
        (*self.of(&TEXTS)).to_owned()
    }

    fn any_text(&mut self) -> String {
        if self.draws_one_in(4) {
            String::new()
        } else {
            self.text()
        }
    }

    fn number(&mut self) -> Number {
        let text = *self.of(&[
            "0",
            "-1",
            "1",
            "2.5",
            "1e300",
            "-0.0",
            "18446744073709551615",
            "3.0",
        ]);
        serde_json::from_str(text).unwrap()
    }
}

/// A value drawn from a schema: nearly always one that it accepts.
struct FromSchema<'a> {
    root: &'a Value,
}

impl FromSchema<'_> {
    fn value(&self, d: &mut Draw, schema: &Value) -> Value {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(&reference[1..]).expect("a known $ref");
            return self.value(d, target);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(options) = schema.get("oneOf") {
            let option = d.of(options.as_array().unwrap()).clone();
            return self.value(d, &option);
        }
        if let Some(options) = schema.get("enum") {
            return d.of(options.as_array().unwrap()).clone();
        }
        let kind = match &schema["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => d.of(kinds).as_str().unwrap().to_owned(),
            other => panic!("a schema without a type: {other}"),
        };
        match kind.as_str() {
            "null" => Value::Null,
            "boolean" => json!(d.draws_one_in(2)),
            "string" if schema.get("minLength").is_some() => json!(d.text()),
            "string" => json!(d.any_text()),
            "integer" => self.integer(d, schema),
            "number" => Value::Number(d.number()),
            "array" => (0..d.below(3))
                .map(|_| self.value(d, &schema["items"]))
                .collect(),
            "object" => self.object(d, schema),
            other => panic!("an unknown type {other}"),
        }
    }

    fn integer(&self, d: &mut Draw, schema: &Value) -> Value {
        let edges = [schema["minimum"].clone(), schema["maximum"].clone()];
        match d.below(4) {
            0 => d.of(&edges).clone(),
            1 => serde_json::from_str("3.0").unwrap(),
            2 => json!(7),
            _ => json!(d.below(1000) + 1),
        }
    }

    fn object(&self, d: &mut Draw, schema: &Value) -> Value {
        let mut object = Map::new();
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            for _ in 0..d.below(3) {
                let value = self.value(d, &schema["additionalProperties"]);
                object.insert(d.any_text(), value);
            }
            return Value::Object(object);
        };
        let full = schema.get("else").filter(|_| !d.draws_one_in(3));
        let required = |schema: &Value, name: &str| {
            schema["required"]
                .as_array()
                .is_some_and(|r| r.contains(&json!(name)))
        };
        for (name, property) in properties {
            let wanted = required(schema, name) || full.is_some_and(|full| required(full, name));
            if !wanted && d.draws_one_in(2) {
                continue;
            }
            let mut value = self.value(d, property);
            if full.is_some_and(|full| required(full, name)) {
                for _ in 0..64 {
                    if !value.is_null() {
                        break;
                    }
                    value = self.value(d, property);
                }
            }
            if full.is_none() && schema.get("else").is_some() && name == "status" {
                value = json!("idle");
            }
            object.insert(name.clone(), value);
        }
        Value::Object(object)
    }
}

/// One change somewhere in the value.
fn mutate(d: &mut Draw, value: &mut Value) {
    let mut places = Vec::new();
    collect(value, String::new(), &mut places);
    let place = d.of(&places).clone();
    let node = value.pointer_mut(&place).unwrap();
    match d.below(10) {
        0 => drop_one(d, node),
        1 => add_one(d, node),
        2 => *node = Value::Null,
        3 => *node = json!(""),
        4 => *node = number(d),
        5 => *node = junk(d),
        6 => *node = json!([node.clone()]),
        7 => as_serde_might(node),
        8 => change_word(d, node),
        _ => *node = json!(d.draws_one_in(2)),
    }
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{place}/{index}"), places);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(item, format!("{place}/{key}"), places);
            }
        }
        _ => {}
    }
    places.push(place);
}

fn drop_one(d: &mut Draw, node: &mut Value) {
    match node {
        Value::Object(entries) if !entries.is_empty() => {
            let key = entries.keys().nth(d.below(entries.len())).unwrap().clone();
            entries.remove(&key);
        }
        Value::Array(items) => {
            items.pop();
        }
        _ => *node = json!({}),
    }
}

fn add_one(d: &mut Draw, node: &mut Value) {
    let value = junk(d);
    match node {
        Value::Object(entries) => {
            let key = if d.draws_one_in(2) {
                d.text()
            } else {
                "revision".to_owned()
            };
            entries.insert(key, value);
        }
        Value::Array(items) => items.push(value),
        other => *other = value,
    }
}

fn number(d: &mut Draw) -> Value {
    let numbers = [
        "-1",
        "-1.0",
        "0",
        "-0.0",
        "0.0",
        "1",
        "1.0",
        "3.0",
        "3.5",
        "1e3",
        "1e-3",
        "2147483647",
        "2147483648",
        "-2147483648",
        "-2147483648.0",
        "-2147483649",
        "9007199254740991",
        "9007199254740992",
        "9007199254740991.0",
        "9007199254740993.0",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "1e300",
        "-1e300",
        "5e-324",
    ];
    serde_json::from_str(numbers[d.below(numbers.len())]).unwrap()
}

fn junk(d: &mut Draw) -> Value {
    let junk = [
        json!({}),
        json!([]),
        json!([[]]),
        json!({"a": {"b": [1, null, "x"]}}),
        json!("x"),
        json!(["x"]),
        json!(["x", ""]),
        json!([1]),
        json!(true),
        json!(1),
        json!(null),
    ];
    d.of(&junk).clone()
}

/// The forms that serde's derived code would read beside the plain one: a
/// struct as the list of its values, an enum as an object.
fn as_serde_might(node: &mut Value) {
    match node {
        Value::Object(entries) => *node = entries.values().cloned().collect(),
        Value::String(word) => *node = json!({ word.clone(): null }),
        _ => *node = json!({ "1": node.clone() }),
    }
}

fn change_word(d: &mut Draw, node: &mut Value) {
    let words = [
        "idle",
        "done",
        "selected",
        "planned",
        "in_progress",
        "completion-reviewer",
        "reviewer",
        "null",
        "Done",
        "done ",
        "continue",
        "clear",
        "test",
        "passed",
        "judgment",
        "accepted",
        "completion",
        "unanimous-current-head-v1",
        "none",
    ];
    *node = json!(d.of(&words));
}

trait Checked: Documented + Serialize + PartialEq + Debug {}

impl<T: Documented + Serialize + PartialEq + Debug> Checked for T {}

#[derive(Default, Debug)]
struct Tally {
    accepted: usize,
    rejected: usize,
}

/// Compares the verdicts on one document and, when it is read, writes it and reads it again.
fn compare<T: Checked>(value: &Value, tally: &mut Tally) {
    let text = serde_json::to_string(value).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let by_type = read_document::<T>(text.as_bytes(), MAX_DOCUMENT_BYTES);
    let by_schema = accepts(T::DOCUMENT, &value);
    assert_eq!(
        by_type.is_ok(),
        by_schema,
        "the type and the schema of {:?} disagree (type: {by_type:?}) on {text}",
        T::DOCUMENT
    );
    match by_type {
        Ok(read) => {
            tally.accepted += 1;
            let written = serde_json::to_value(&read).unwrap();
            assert!(
                accepts(T::DOCUMENT, &written),
                "written back, refused: {written}"
            );
            let again =
                read_document::<T>(written.to_string().as_bytes(), MAX_DOCUMENT_BYTES).unwrap();
            assert_eq!(again, read, "changed by writing and reading: {text}");
            assert_eq!(serde_json::to_value(&again).unwrap(), written);
        }
        Err(findings) => {
            tally.rejected += 1;
            assert!(!findings.is_empty() && findings.len() <= MAX_FINDINGS);
            assert!(
                findings
                    .iter()
                    .all(|f| f.code == Code::DocumentInvalid && f.place.is_some())
            );
        }
    }
}

fn agree<T: Checked>(seed: u64, rounds: usize) -> Tally {
    let mut d = Draw(seed);
    let mut tally = Tally::default();
    let schema: Value = schema_of(T::DOCUMENT);
    let from_schema = FromSchema { root: &schema };
    for _ in 0..rounds {
        let mut value = from_schema.value(&mut d, &schema);
        for _ in 0..d.below(4) {
            mutate(&mut d, &mut value);
        }
        compare::<T>(&value, &mut tally);
    }
    println!(
        "{:<22} accepted {:>6}, rejected {:>6}",
        T::DOCUMENT.id(),
        tally.accepted,
        tally.rejected
    );
    assert!(tally.accepted > rounds / 6, "too few accepted: {tally:?}");
    assert!(tally.rejected > rounds / 6, "too few rejected: {tally:?}");
    tally
}

#[test]
fn types_and_schemas_agree_on_drawn_and_mutated_documents() {
    let rounds = match std::env::var_os("COOK_LONG_TESTS") {
        Some(_) => 13_000,
        None => 1_300,
    };
    let start = Instant::now();
    let tallies = [
        agree::<Profile>(1, rounds),
        agree::<State>(2, rounds),
        agree::<Plan>(3, rounds),
        agree::<ActiveSlice>(4, rounds),
        agree::<SliceRecord>(5, rounds),
        agree::<StopRecord>(6, rounds),
        agree::<VerificationEvidence>(7, rounds),
        agree::<Receipt>(8, rounds),
        agree::<BriefDocument>(9, rounds),
        agree::<BriefRecord>(10, rounds),
    ];
    let accepted: usize = tallies.iter().map(|t| t.accepted).sum();
    let rejected: usize = tallies.iter().map(|t| t.rejected).sum();
    println!(
        "{accepted} accepted, {rejected} rejected, in {:.1?}",
        start.elapsed()
    );
    assert!(accepted + rejected >= 10 * rounds);
}

#[test]
fn every_field_of_a_schema_is_one_the_type_writes_or_reads() {
    fn full<T: Checked>() {
        let mut seen = BTreeSet::new();
        let mut d = Draw(9);
        let schema: Value = schema_of(T::DOCUMENT);
        for _ in 0..200 {
            let value = FromSchema { root: &schema }.value(&mut d, &schema);
            let read = read_document::<T>(value.to_string().as_bytes(), MAX_DOCUMENT_BYTES);
            let Ok(read) = read else { continue };
            let written = serde_json::to_value(read).unwrap();
            seen.extend(written.as_object().unwrap().keys().cloned());
        }
        let named: BTreeSet<String> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        assert_eq!(seen, named, "{:?}", T::DOCUMENT);
    }
    full::<Profile>();
    full::<State>();
    full::<Plan>();
    full::<ActiveSlice>();
    full::<SliceRecord>();
    full::<StopRecord>();
    full::<VerificationEvidence>();
    full::<Receipt>();
    full::<BriefDocument>();
    full::<BriefRecord>();
}

#[test]
fn schemas_are_valid_and_closed_and_a_receipt_has_one_shape() {
    for document in Document::ALL {
        let schema = schema_of(document);
        assert!(jsonschema::meta::is_valid(&schema), "{document:?}");
        assert_eq!(
            schema["$id"],
            format!("urn:cook:schema:{}:1", document.id())
        );
        assert_eq!(schema["additionalProperties"], false);
    }
    let receipt = schema_of(Document::Receipt);
    let evidence = schema_of(Document::VerificationEvidence);
    for key in ["required", "properties", "additionalProperties"] {
        assert_eq!(
            evidence["properties"]["runs"]["items"][key], receipt[key],
            "{key}"
        );
    }
}

fn state_text() -> String {
    let schema = schema_of(Document::State);
    let value = FromSchema { root: &schema }.value(&mut Draw(3), &schema);
    serde_json::to_string_pretty(&value).unwrap()
}

fn list_rejections(bytes: &[u8]) -> Vec<Finding> {
    read_document::<State>(bytes, MAX_DOCUMENT_BYTES).expect_err("must be rejected")
}

#[test]
fn bytes_that_are_no_json_are_unreadable() {
    let text = state_text();
    let mut nul = text.clone().into_bytes();
    nul[5] = 0;
    let mut cases: Vec<Vec<u8>> = vec![
        Vec::new(),
        b" \n\t".to_vec(),
        vec![0; 4096],
        nul,
        b"\xff\xfe{\x00}".to_vec(),
        b"{\"a\": \"\xc3\x28\"}".to_vec(),
        b"{} {}".to_vec(),
        b"not json".to_vec(),
        b"[".repeat(10_000),
    ];
    let cuts = (1..text.len())
        .step_by(7)
        .filter(|cut| text.is_char_boundary(*cut));
    cases.extend(cuts.map(|cut| text.as_bytes()[..cut].to_vec()));
    for case in cases {
        let findings = list_rejections(&case);
        assert_eq!(findings[0].code, Code::DocumentUnreadable, "{findings:?}");
        assert_eq!(findings[0].place.as_deref(), Some("state.json"));
    }
}

#[test]
fn json_that_breaks_the_schema_names_every_place() {
    let mut value: Value = serde_json::from_str(&state_text()).unwrap();
    value["current_phase"] = json!("dancing");
    value["remaining_stop_judges"] = json!(-1);
    value["unsatisfied_contract_ids"] = json!(["a", ""]);
    value["\u{1b}[2Jextra"] = json!(1);
    value.as_object_mut().unwrap().remove("contract_status");
    let findings = list_rejections(value.to_string().as_bytes());
    let places: BTreeSet<&str> = findings.iter().filter_map(|f| f.place.as_deref()).collect();
    let wanted = [
        "state.json",
        "state.json#/current_phase",
        "state.json#/remaining_stop_judges",
        "state.json#/unsatisfied_contract_ids/1",
    ];
    assert_eq!(places, wanted.into_iter().collect());
    let said: String = findings
        .iter()
        .map(|f| f.message.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(said.contains("`contract_status` is missing"), "{said}");
    assert!(said.contains("unknown field `extra`"), "{said}");
    assert!(!said.contains('\u{1b}'));
}

#[test]
fn a_key_given_twice_is_refused_wherever_it_stands() {
    let text = state_text().replacen('{', "{\"project_done\": false,", 1);
    let findings = list_rejections(text.as_bytes());
    assert_eq!(findings[0].code, Code::DocumentInvalid);
    assert!(findings[0].message.contains("given twice"), "{findings:?}");
    let record = r#"{"schema_version":1,"type":"judgment","recorded_at":1,"head_sha":"h",
        "can_stop":true,"blocker_count":0,"high_value_gap_count":0,
        "report":{"role":"completion-stop-judge","fields":{"a":"1","a":"2"}}}"#;
    assert!(read_document::<StopRecord>(record.as_bytes(), 4096).is_err());
    let once = record.replace(r#""a":"1","#, "");
    assert!(read_document::<StopRecord>(once.as_bytes(), 4096).is_ok());
}

#[test]
fn hostile_sizes_and_depths_end_quickly() {
    let start = Instant::now();
    let deep = |open: &str, close: &str, n: usize| open.repeat(n) + "1" + &close.repeat(n);
    let state = state_text();
    let inside = |value: &str| state.replacen('{', &format!("{{\"x\": {value},"), 1);
    let empty_slices = |n: usize| format!("{{\"candidate_slices\":[{}{{}}]}}", "{},".repeat(n));
    let many_keys: String = (0..200_000).map(|n| format!("\"k{n}\":0,")).collect();
    let cases = [
        deep("[", "]", 10_000),
        deep("{\"a\":", "}", 10_000),
        inside(&deep("[", "]", 10_000)),
        state.replacen(
            "\"continuation_reason\":",
            &format!("\"continuation_reason\": {}, \"y\":", deep("[", "]", 1000)),
            1,
        ),
        state.replacen('{', &format!("{{{many_keys}"), 1),
        format!("[{}1]", "1,".repeat(2_000_000)),
        format!("\"{}\"", "x".repeat(8_000_000)),
        "9".repeat(1_000_000),
        empty_slices(500_000),
        empty_slices(20_000),
    ];
    for case in cases {
        let findings = list_rejections(case.as_bytes());
        assert!(!findings.is_empty() && findings.len() <= MAX_FINDINGS);
        for finding in &findings {
            assert!(
                finding.message.chars().count() <= 600,
                "{}",
                finding.message.len()
            );
            assert!(matches!(
                finding.code,
                Code::DocumentInvalid | Code::DocumentUnreadable
            ));
        }
        let plan = read_document::<Plan>(case.as_bytes(), MAX_DOCUMENT_BYTES).unwrap_err();
        assert!(plan.len() <= MAX_FINDINGS);
    }
    let big = vec![b' '; MAX_DOCUMENT_BYTES + 1];
    assert_eq!(list_rejections(&big)[0].code, Code::DocumentTooLarge);
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn generated_codes_json_is_the_catalogue() {
    let repo = crate::support::Repo::new();
    let all = repo.cook(&["explain", "--json"]).exits(0).json();
    let wanted = serde_json::to_string_pretty(&all).unwrap();
    crate::support::generated::compare("protocol/codes.json", &format!("{wanted}\n"));
    let one = repo.cook(&["explain", "goal_none", "--json"]).exits(0);
    assert_eq!(one.json()["codes"].as_array().unwrap().len(), 1);
}

#[test]
fn codes_are_unique_and_well_formed() {
    let ids: BTreeSet<&str> = CATALOGUE.iter().map(|code| code.id()).collect();
    assert_eq!(ids.len(), CATALOGUE.len());
    for code in CATALOGUE {
        let id = code.id();
        assert!(
            id.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{id}"
        );
        assert!(
            !code.meaning().is_empty() && !code.meaning().ends_with('.'),
            "{id}"
        );
        assert!(
            !code.hint().is_empty() && !code.hint().ends_with('.'),
            "{id} says nothing of what to do"
        );
        assert_eq!(serde_json::to_value(code).unwrap(), json!(id));
        assert_eq!(serde_json::from_value::<Code>(json!(id)).unwrap(), *code);
    }
}
