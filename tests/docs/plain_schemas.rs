//! Schemas as they are published, made from the types: what a type says of itself, in the plain
//! form that keeps messages about a document short.

use cook::commands::published::describe;
use cook_protocol::model::{
    ActiveSlice, BriefDocument, BriefRecord, Handoff, Plan, Profile, Receipt, SliceRecord, State,
    StopRecord, VerificationEvidence,
};
use cook_protocol::schema::Document;
use serde_json::{Map, Value, json};

/// The schema of a document.
pub fn describe_document(document: Document) -> Value {
    let mut schema = match document {
        Document::Profile => describe::<Profile>(),
        Document::State => describe::<State>(),
        Document::Plan => describe::<Plan>(),
        Document::ActiveSlice => describe::<ActiveSlice>(),
        Document::SliceRecord => describe::<SliceRecord>(),
        Document::StopRecord => describe::<StopRecord>(),
        Document::VerificationEvidence => describe::<VerificationEvidence>(),
        Document::Receipt => describe::<Receipt>(),
        Document::BriefDocument => describe::<BriefDocument>(),
        Document::BriefRecord => describe::<BriefRecord>(),
    };
    if document == Document::ActiveSlice {
        require_handoff_unless_idle(&mut schema);
    }
    let mut schema = plain(schema);
    let file = document.file();
    let title = match document {
        Document::Receipt => "a receipt".to_owned(),
        _ if file.ends_with(".jsonl") => format!("a line of .agent/{file}"),
        _ => format!(".agent/{file}"),
    };
    label(&mut schema, document.id(), &title);
    schema
}

/// The schema of an answer: what may be left out is never null in it.
pub fn describe_answer(id: &str, title: &str, schema: Value) -> Value {
    let mut schema = plain(schema);
    drop_null(&mut schema);
    schema["properties"]["schema_version"] = json!({"const": 1});
    if let Some(required) = schema["required"].as_array_mut()
        && !required.contains(&json!("schema_version"))
    {
        required.insert(0, json!("schema_version"));
    }
    label(&mut schema, &format!("output-{id}"), title);
    schema
}

fn label(schema: &mut Value, id: &str, title: &str) {
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$id"] = json!(format!("urn:cook:schema:{id}:1"));
    schema["title"] = json!(title);
}

/// The plain form of a type's schema.
fn plain(mut schema: Value) -> Value {
    simplify(&mut schema);
    if let Some(keywords) = schema.as_object_mut() {
        keywords.remove("$schema");
        keywords.remove("title");
    }
    schema
}

/// Visits every schema inside this one, the innermost first.
fn visit_each(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(all)) => {
                all.values_mut().for_each(|inner| visit_each(inner, visit));
            }
            ("anyOf" | "oneOf", Value::Array(all)) => {
                all.iter_mut().for_each(|inner| visit_each(inner, visit));
            }
            ("items" | "additionalProperties", inner) => visit_each(inner, visit),
            _ => {}
        }
    }
    visit(keywords);
}

fn simplify(schema: &mut Value) {
    visit_each(schema, &mut |keywords| {
        keywords.remove("format");
        if let Some(Value::String(text)) = keywords.get_mut("description") {
            *text = text.replace('\n', " ");
        }
        join_words(keywords);
        join_types(keywords);
        if let Some([word]) = keywords
            .get("enum")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            let word = word.clone();
            keywords.insert("const".to_owned(), word);
            keywords.remove("enum");
        }
        if keywords.contains_key("enum") || keywords.contains_key("const") {
            keywords.remove("type");
        }
        allow_defaults(keywords);
        if keywords.get("additionalProperties") == Some(&json!(true)) {
            keywords.remove("additionalProperties");
        }
        if keywords.contains_key("properties") {
            keywords.insert("additionalProperties".to_owned(), json!(false));
        }
    });
}

/// Words that are described one by one are one list.
fn join_words(keywords: &mut Map<String, Value>) {
    let Some(all) = keywords.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let mut words = Vec::new();
    for one in all {
        match (one.get("const"), one.get("enum")) {
            (Some(word), None) => words.push(word.clone()),
            (None, Some(Value::Array(more))) => words.extend(more.iter().cloned()),
            _ => return,
        }
    }
    keywords.remove("oneOf");
    keywords.insert("enum".to_owned(), Value::Array(words));
}

/// A choice between types that share no keyword is one schema of several types.
fn join_types(keywords: &mut Map<String, Value>) {
    let Some(all) = keywords.get("anyOf").and_then(Value::as_array) else {
        return;
    };
    let (mut joined, mut types, mut words) = (Map::new(), Vec::new(), None);
    for one in all.iter().filter_map(Value::as_object) {
        match (one.get("type"), one.get("enum")) {
            (_, Some(Value::Array(all))) => words = Some(all.clone()),
            (Some(Value::Array(kinds)), None) => types.extend(kinds.iter().cloned()),
            (Some(kind), None) => types.push(kind.clone()),
            _ => return,
        }
        joined.extend(one.clone());
    }
    match words {
        // Beside words only null may stand.
        Some(words) if types == ["null"] => {
            joined.insert(
                "enum".to_owned(),
                [words, vec![Value::Null]].concat().into(),
            );
        }
        Some(_) => return,
        None => {
            joined.insert("type".to_owned(), types.into());
        }
    }
    keywords.remove("anyOf");
    for (keyword, value) in joined {
        keywords.entry(keyword).or_insert(value);
    }
}

/// A field with a default may be left out.
fn allow_defaults(keywords: &mut Map<String, Value>) {
    let mut optional = Vec::new();
    if let Some(Value::Object(fields)) = keywords.get_mut("properties") {
        for (name, field) in fields {
            if field
                .as_object_mut()
                .and_then(|field| field.remove("default"))
                .is_some()
            {
                optional.push(json!(name));
            }
        }
    }
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        required.retain(|name| !optional.contains(name));
    }
}

fn drop_null(schema: &mut Value) {
    visit_each(schema, &mut |keywords| {
        let required = keywords
            .get("required")
            .cloned()
            .unwrap_or_else(|| json!([]));
        let Some(Value::Object(fields)) = keywords.get_mut("properties") else {
            return;
        };
        for (name, field) in fields {
            if required
                .as_array()
                .is_some_and(|all| all.contains(&json!(name)))
            {
                continue;
            }
            if let Some(Value::Array(words)) = field.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if let Some(Value::Array(kinds)) = field.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = &kinds[..] {
                    field["type"] = kind.clone();
                }
            }
        }
    });
}

/// What an idle document may leave open or out is required in every other status.
fn require_handoff_unless_idle(schema: &mut Value) {
    let handoff = describe::<Handoff>();
    let named = handoff.get("required").and_then(Value::as_array);
    let names: Vec<Value> = ["slice_id", "goal"].map(Value::from).into_iter().collect();
    let names = [names, named.cloned().unwrap_or_default()].concat();
    let mut types = Map::new();
    for name in names.iter().filter_map(Value::as_str) {
        let Some(field) = schema
            .get_mut("properties")
            .and_then(|all| all.get_mut(name))
        else {
            continue;
        };
        let plain = match &field["type"] {
            Value::Array(kinds) => kinds[0].clone(),
            plain => plain.clone(),
        };
        field["type"] = json!([plain, "null"]);
        types.insert(name.to_owned(), json!({"type": plain}));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !names.contains(name));
    }
    schema["if"] = json!({"properties": {"status": {"const": "idle"}}});
    schema["else"] = json!({"required": names, "properties": types});
}
