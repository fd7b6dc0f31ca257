//! What an edit of a manifest does beside dependencies, versions and words about the project.

use super::runners::Ways;
use serde_json::{Map, Value};

/// Whether a value that was and is at a place decides what a gate runs.
type Decides<'a> = dyn Fn(&Place, Option<&Value>, Option<&Value>) -> bool + 'a;

/// What is said of a project and decides nothing.
const ABOUT: [&str; 28] = [
    "name",
    "version",
    "description",
    "keywords",
    "homepage",
    "bugs",
    "license",
    "licenses",
    "author",
    "authors",
    "contributors",
    "maintainers",
    "funding",
    "repository",
    "private",
    "documentation",
    "readme",
    "categories",
    "edition",
    "rust-version",
    "publish",
    "classifiers",
    "urls",
    "license-file",
    "license-files",
    "license_files",
    "requires-python",
    "$schema",
];
/// What others find in a package.
const GIVEN_OUT: [&str; 6] = ["main", "module", "types", "exports", "files", "bin"];
/// Scripts that npm runs by itself, or by a short name.
const BY_ITSELF: [&str; 12] = [
    "test",
    "start",
    "stop",
    "restart",
    "install",
    "preinstall",
    "postinstall",
    "prepare",
    "prepublish",
    "preprepare",
    "postprepare",
    "dependencies",
];

/// A place in a manifest.
type Place<'a> = [&'a str];

/// The first place that decides, of those that differ.
fn find<'a>(
    place: &mut Vec<&'a str>,
    was: Option<&'a Value>,
    is: Option<&'a Value>,
    decides: &Decides<'_>,
) -> Option<String> {
    if was == is || !decides(place, was, is) {
        return None;
    }
    let nothing = || -> &'a Map<String, Value> {
        static NOTHING: std::sync::OnceLock<Map<String, Value>> = std::sync::OnceLock::new();
        NOTHING.get_or_init(Map::new)
    };
    let table = |value: Option<&'a Value>| match value {
        None => Some(nothing()),
        Some(value) => value.as_object(),
    };
    let (Some(old), Some(new)) = (table(was), table(is)) else {
        let shown = is.map_or("gone".to_owned(), ToString::to_string);
        return Some(format!("{} = {shown}", place.join(".")));
    };
    let gone = old.keys().filter(|key| !new.contains_key(*key));
    for key in new.keys().chain(gone) {
        place.push(key);
        let found = find(place, old.get(key), new.get(key), decides);
        place.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

fn differ(was: Option<Value>, is: Option<Value>, decides: &Decides<'_>) -> Option<String> {
    match (was, is) {
        (Some(was), Some(is)) => find(&mut Vec::new(), Some(&was), Some(&is), decides),
        _ => Some("it cannot be read".to_owned()),
    }
}

/// A `package.json`: scripts that the gates reach, and everything else but what is listed here.
pub(super) fn find_in_package(
    before: &str,
    after: &str,
    path: &str,
    ways: &Ways,
) -> Option<String> {
    let read = |text: &str| match text.trim().is_empty() {
        true => Some(Value::Object(Map::new())),
        false => serde_json::from_str(text).ok(),
    };
    let scripts: String = [before, after]
        .iter()
        .filter_map(|text| read(text)?.get("scripts").map(ToString::to_string))
        .collect();
    let called = super::runners::split_words(&scripts_without_names(&scripts));
    let reaches = |name: &str| {
        let name = ["pre", "post"]
            .iter()
            .find_map(|begin| name.strip_prefix(begin))
            .unwrap_or(name);
        let is_called = |word: &str| called.contains(word) || ways.names(word, path);
        BY_ITSELF.contains(&name) || name.split(':').any(is_called)
    };
    differ(read(before), read(after), &|place, was, is| match place {
        [first, ..] if ABOUT.contains(first) || GIVEN_OUT.contains(first) => false,
        [first, _] if first.ends_with("ependencies") => !is.is_none_or(is_version),
        ["scripts", name] => reaches(name) && !runs_more(was, is),
        _ => true,
    })
}

/// What the scripts of two states run, without their own names.
fn scripts_without_names(scripts: &str) -> String {
    let mut said = String::new();
    for value in serde_json::Deserializer::from_str(scripts)
        .into_iter::<Map<String, Value>>()
        .flatten()
    {
        for text in value.values().filter_map(Value::as_str) {
            said.push_str(text);
            said.push('\n');
        }
    }
    said
}

/// `OLD && MORE`, of plain words.
fn runs_more(was: Option<&Value>, is: Option<&Value>) -> bool {
    let (Some(was), Some(is)) = (was.and_then(Value::as_str), is.and_then(Value::as_str)) else {
        return false;
    };
    let is_plain = |text: &str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || " _-./:=@".contains(c);
        text.replace("&&", "").chars().all(is_word)
    };
    is.strip_prefix(was)
        .is_some_and(|more| more.starts_with(" && ") && is_plain(more) && is_plain(was))
}

/// A `Cargo.toml`.
pub(super) fn find_in_cargo(before: &str, after: &str) -> Option<String> {
    let read = |text: &str| toml::from_str::<Value>(text).ok();
    differ(read(before), read(after), &|place, was, is| match place {
        ["package", key] | ["workspace", "package", key] => !ABOUT.contains(key),
        ["workspace", "members"] => !holds_all(was, is),
        [.., table, _] if table.ends_with("dependencies") => {
            !is.is_none_or(|is| is_version(is) || is_crate(is))
        }
        _ => true,
    })
}

/// A dependency that comes from the registry under its own name.
fn is_crate(value: &Value) -> bool {
    const PLAIN: [&str; 5] = [
        "version",
        "features",
        "default-features",
        "optional",
        "workspace",
    ];
    value
        .as_object()
        .is_some_and(|table| table.keys().all(|key| PLAIN.contains(&key.as_str())))
}

/// A `pyproject.toml`.
pub(super) fn find_in_pyproject(before: &str, after: &str) -> Option<String> {
    let read = |text: &str| toml::from_str::<Value>(text).ok();
    let is_list = |is: Option<&Value>| {
        let names = is.and_then(Value::as_array);
        is.is_none() || names.is_some_and(|names| names.iter().all(is_requirement))
    };
    differ(read(before), read(after), &|place, _, is| match place {
        ["project", key] if ABOUT.contains(key) => false,
        ["project", "dependencies"]
        | ["project", "optional-dependencies", _]
        | ["dependency-groups", _] => !is_list(is),
        ["tool", "poetry", key] if ABOUT.contains(key) => false,
        ["tool", "poetry", .., table, _] if table.ends_with("dependencies") => {
            !is.is_none_or(is_version)
        }
        _ => true,
    })
}

fn is_requirement(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| !text.contains(['@', '/', ':']))
}

/// A version of a package that comes from the registry under its own name.
fn is_version(value: &Value) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".^~<>=-+*| ,!".contains(c);
    value
        .as_str()
        .is_some_and(|text| !text.is_empty() && text.chars().all(is_part))
}

fn holds_all(was: Option<&Value>, is: Option<&Value>) -> bool {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
    let (was, Some(is)) = (list(was).unwrap_or_default(), list(is)) else {
        return false;
    };
    was.iter().all(|one| is.contains(one))
}
