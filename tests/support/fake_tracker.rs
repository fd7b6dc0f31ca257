//! A tracker that is none: it answers as `br` or `bd` do, in the shape and with
//! the fault that files beside its issues name. Standard library only, compiled
//! by the tests themselves. Everything it keeps lies in `.beads/fake` of the
//! directory it is called in.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::time::Duration;

struct Call {
    words: Vec<String>,
    options: Vec<(String, String)>,
}

impl Call {
    fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Options each of which the real programs know.
const KNOWN: [&str; 13] = [
    "json",
    "actor",
    "lock-timeout",
    "no-auto-flush",
    "status",
    "limit",
    "sort",
    "direction",
    "claim",
    "reason",
    "type",
    "priority",
    "deps",
];

fn parse() -> Call {
    let mut words = Vec::new();
    let mut options = Vec::new();
    let mut free = false;
    for word in std::env::args().skip(1) {
        if free || !word.starts_with('-') {
            words.push(word);
        } else if word == "--" {
            free = true;
        } else {
            let bare = word.trim_start_matches('-');
            let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
            if !KNOWN.contains(&name) && name != "description" {
                eprintln!("error: unexpected argument '--{name}' found");
                exit(2);
            }
            options.push((name.to_owned(), value.to_owned()));
        }
    }
    Call { words, options }
}

fn base() -> PathBuf {
    PathBuf::from(".beads/fake")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn folder(id: &str) -> PathBuf {
    base().join("issues").join(id)
}

fn field(id: &str, name: &str) -> String {
    read(&folder(id).join(name))
        .trim_end_matches('\n')
        .to_owned()
}

fn set(id: &str, name: &str, value: &str) {
    fs::create_dir_all(folder(id)).unwrap();
    fs::write(folder(id).join(name), value).unwrap();
}

fn ids() -> Vec<String> {
    let mut ids: Vec<String> = fs::read_dir(base().join("issues"))
        .map(|entries| {
            entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect()
        })
        .unwrap_or_default();
    ids.sort();
    ids
}

/// `(type, id)` of what an issue depends on.
fn needs(id: &str) -> Vec<(String, String)> {
    field(id, "deps")
        .lines()
        .map(|line| {
            let (kind, other) = line.split_once(' ').unwrap();
            (kind.to_owned(), other.to_owned())
        })
        .collect()
}

fn is_blocked(id: &str) -> bool {
    needs(id).iter().any(|(kind, other)| {
        ["blocks", "conditional-blocks", "waits-for"].contains(&kind.as_str())
            && field(other, "status") != "closed"
    })
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// Keys of empty values are left out, as the programs do.
fn object(members: &[(&str, String)]) -> String {
    let members: Vec<String> = members
        .iter()
        .filter(|(_, value)| value != "\"\"" && value != "[]")
        .map(|(name, value)| format!("{}: {value}", quote(name)))
        .collect();
    format!("{{{}}}", members.join(", "))
}

fn row(id: &str, more: &[(&str, String)]) -> String {
    let mut members = vec![
        ("id", quote(id)),
        ("title", quote(&field(id, "title"))),
        ("status", quote(&field(id, "status"))),
        ("issue_type", quote(&field(id, "type"))),
        ("assignee", quote(&field(id, "assignee"))),
        ("updated_at", quote(&field(id, "updated"))),
        ("description", quote(&field(id, "description"))),
    ];
    let priority = field(id, "priority");
    members.push((
        "priority",
        if priority.is_empty() {
            "2".to_owned()
        } else {
            priority
        },
    ));
    members.extend_from_slice(more);
    object(&members)
}

fn list(rows: &[String]) -> String {
    format!("[{}]", rows.join(",\n  "))
}

fn shape() -> String {
    read(&base().join("shape")).trim().to_owned()
}

/// A list that versions wrap in different ways.
fn wrap(rows: &[String]) -> String {
    match shape().as_str() {
        "paged" => format!(
            "{{\"issues\": {}, \"total\": {}, \"limit\": 0, \"offset\": 0, \"has_more\": false}}",
            list(rows),
            rows.len()
        ),
        _ => envelope(&list(rows)),
    }
}

fn envelope(data: &str) -> String {
    match shape().as_str() {
        "envelope" => format!("{{\"schema_version\": 1, \"data\": {data}}}"),
        _ => data.to_owned(),
    }
}

fn chatter() {
    eprintln!("2026-01-02T03:04:05Z  INFO storage: opened {{ path: .beads }}");
    eprintln!("2026-01-02T03:04:05Z DEBUG {{\"error\": {{\"code\": \"NOT_THIS\"}}}}");
}

fn fail(code: &str, message: &str, status: i32) -> ! {
    chatter();
    if shape() == "envelope" {
        eprintln!(
            "{{\n  \"error\": {},\n  \"code\": {}\n}}",
            quote(message),
            quote(code)
        );
    } else {
        eprintln!(
            "{{\n  \"error\": {{\n    \"code\": {},\n    \"message\": {},\n    \"retryable\": false\n  }}\n}}",
            quote(code),
            quote(message)
        );
    }
    eprintln!("2026-01-02T03:04:05Z  INFO bye");
    exit(status)
}

fn find_known(id: &str) -> String {
    if !folder(id).is_dir() {
        fail("ISSUE_NOT_FOUND", &format!("Issue not found: {id}"), 3);
    }
    id.to_owned()
}

fn hang() -> ! {
    // A child that holds the pipes and would outlive its parent.
    let mut child = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    fs::write(base().join("child"), child.id().to_string()).unwrap();
    // A test that kills cook leaves nobody to end this: it goes with its repository.
    while base().is_dir() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    exit(9)
}

fn dependency(id: &str, other: &str, kind: &str, from: &str, to: &str) -> String {
    if shape() == "envelope" {
        return row(other, &[("dependency_type", quote(kind))]);
    }
    let _ = id;
    object(&[
        ("issue_id", quote(from)),
        ("depends_on_id", quote(to)),
        ("type", quote(kind)),
        ("title", quote(&field(other, "title"))),
        ("status", quote(&field(other, "status"))),
        ("priority", "2".to_owned()),
    ])
}

fn dependencies(call: &Call) -> String {
    let id = find_known(&call.words[2]);
    let mut rows = Vec::new();
    match call.option("direction") {
        Some("down") => {
            for (kind, other) in needs(&id) {
                rows.push(dependency(&id, &other, &kind, &id, &other));
            }
        }
        Some("up") => {
            for from in ids() {
                for (kind, other) in needs(&from) {
                    if other == id {
                        rows.push(dependency(&id, &from, &kind, &from, &id));
                    }
                }
            }
        }
        other => panic!("direction {other:?}"),
    }
    envelope(&list(&rows))
}

fn comments(call: &Call) -> String {
    let br = std::env::args().next().unwrap().ends_with("br");
    let id = if br {
        assert_eq!(call.words[1], "list");
        find_known(&call.words[2])
    } else {
        find_known(&call.words[1])
    };
    let mut rows = Vec::new();
    for number in 0.. {
        let path = folder(&id).join(format!("comment-{number:04}"));
        let Ok(text) = fs::read_to_string(path) else {
            break;
        };
        rows.push(object(&[
            ("id", (number + 1).to_string()),
            ("issue_id", quote(&id)),
            ("author", quote("fake")),
            ("text", quote(&text)),
            ("created_at", quote("2026-01-02T03:04:05Z")),
        ]));
    }
    envelope(&list(&rows))
}

fn add_comment(call: &Call) -> String {
    let id = find_known(&call.words[2]);
    for number in 0.. {
        let path = folder(&id).join(format!("comment-{number:04}"));
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path);
        if let Ok(mut file) = file {
            file.write_all(call.words[3].as_bytes()).unwrap();
            break;
        }
    }
    envelope(&object(&[
        ("id", "1".to_owned()),
        ("text", quote(&call.words[3])),
    ]))
}

fn update(call: &Call, fault: &str) -> String {
    let id = find_known(&call.words[1]);
    assert!(call.option("claim").is_some());
    let actor = call.option("actor").unwrap();
    if fault.starts_with("stolen") {
        set(&id, "assignee", "rival");
        set(&id, "status", "in_progress");
    }
    let holder = field(&id, "assignee");
    if !holder.is_empty() && holder != actor {
        if fault == "stolen-silently" {
            return envelope("[]");
        }
        fail(
            "ALREADY_CLAIMED",
            &format!("{id} is assigned to {holder}"),
            4,
        );
    }
    if fault != "claims-nothing" {
        set(&id, "assignee", actor);
        set(&id, "status", "in_progress");
    }
    envelope(&list(&[row(&id, &[])]))
}

fn close(call: &Call, fault: &str) -> String {
    let id = find_known(&call.words[1]);
    if is_blocked(&id) || field(&id, "status") == "closed" || fault == "closes-nothing" {
        return envelope("[]");
    }
    set(&id, "status", "closed");
    set(&id, "reason", call.option("reason").unwrap());
    envelope(&list(&[row(&id, &[])]))
}

fn create(call: &Call) -> String {
    let id = format!("new-{}", ids().len() + 1);
    set(&id, "title", &call.words[1]);
    set(&id, "status", "open");
    set(&id, "type", call.option("type").unwrap());
    set(&id, "priority", call.option("priority").unwrap_or("2"));
    set(&id, "description", call.option("description").unwrap_or(""));
    if let Some((kind, other)) = call.option("deps").and_then(|deps| deps.split_once(':')) {
        set(&id, "deps", &format!("{kind} {other}\n"));
    }
    envelope(&row(&id, &[]))
}

fn act(call: &Call, name: &str, fault: &str) -> String {
    match name {
        "info" => envelope("{\"database_path\": \".beads/fake\", \"mode\": \"direct\"}"),
        "list" => {
            assert_eq!(call.option("limit"), Some("0"));
            let wanted = call.option("status").unwrap();
            let found = ids().into_iter().filter(|id| field(id, "status") == wanted);
            wrap(&found.map(|id| row(&id, &[])).collect::<Vec<_>>())
        }
        "ready" => {
            assert_eq!(call.option("limit"), Some("0"));
            let mut found: Vec<String> = ids()
                .into_iter()
                .filter(|id| field(id, "status") != "closed" && !is_blocked(id))
                .collect();
            found.sort_by_key(|id| field(id, "priority"));
            wrap(&found.iter().map(|id| row(id, &[])).collect::<Vec<_>>())
        }
        "show" => envelope(&list(&[row(&find_known(&call.words[1]), &[])])),
        "comments" => comments(call),
        "comments-add" => add_comment(call),
        "dep" => dependencies(call),
        "update" => update(call, fault),
        "close" => close(call, fault),
        "create" => create(call),
        other => panic!("no command {other}"),
    }
}

fn main() {
    let call = parse();
    let name = match call.words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["comments", "add", ..] => "comments-add".to_owned(),
        [first, ..] => first.to_owned(),
        [] => exit(2),
    };
    fs::create_dir_all(base()).unwrap();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(base().join("log"))
        .unwrap();
    log.write_all(format!("{}\n", words.join("\u{1f}")).as_bytes())
        .unwrap();

    let place = base().join("faults").join(&name);
    let fault = read(&place).trim().to_owned();
    let fault = match (fault.strip_prefix("once "), fault.strip_prefix("then ")) {
        (Some(fault), _) => {
            fs::remove_file(&place).unwrap();
            fault.to_owned()
        }
        (None, Some(later)) => {
            fs::write(&place, later).unwrap();
            String::new()
        }
        (None, None) => fault,
    };
    let timeout = call.option("lock-timeout").unwrap_or_default();
    match fault.as_str() {
        "hang" => hang(),
        "old" if !timeout.is_empty() => {
            eprintln!("error: unexpected argument '--lock-timeout' found");
            exit(2)
        }
        "locked" => fail("DATABASE_LOCKED", "database is locked", 5),
        "denied" => fail("PERMISSION_DENIED", "may not open the database", 1),
        "uninitialised" => fail("NOT_INITIALIZED", "run init first", 2),
        "quiet-error" => fail("VALIDATION_FAILED", "no good", 0),
        "wordless" => {
            eprintln!("Error: database is locked by process 7");
            exit(1)
        }
        "strange" => exit(9),
        "silent" => return,
        "flood" => loop {
            print!("[{}", " ".repeat(65_536));
        },
        "logs" => chatter(),
        _ => {}
    }
    let answer = act(&call, &name, &fault);
    match fault.as_str() {
        "hang-after" => {
            print!("{}", &answer[..answer.len() / 2]);
            std::io::stdout().flush().unwrap();
            hang()
        }
        "truncate" => print!("{}", &answer[..answer.len() / 2]),
        "partial" => {
            print!("{}", &answer[..answer.len() / 2]);
            exit(101)
        }
        "fail-after" => exit(1),
        "drift" => println!("{{\"result\": {{\"rows\": {answer}}}}}"),
        _ => println!("{answer}"),
    }
}
