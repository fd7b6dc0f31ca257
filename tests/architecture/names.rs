//! Functions are named by what they do: a bare participle is no function's name (docs/style.md#names).

use super::source::{root, rust_files};

/// Words that end in `ed` and are no participles.
const OTHERS: [&str; 10] = [
    "embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed", "succeed",
];

/// Participles that end otherwise. Those that are verbs too (`read`, `set`, `put`, `cut`) are not among them.
const IRREGULAR: &str = "\
    beaten begun born bound broken brought built caught chosen done drawn driven fallen fed \
    felt forgotten found frozen given gone grown heard held hidden hung kept known laid left \
    lent lit lost made meant met paid said seen sent shown sold sought spent spoken stolen \
    stood stuck sunk sworn taken taught thrown told torn understood won worn written";

/// A function as its line tells it.
struct Function {
    name: String,
    line: usize,
    /// A test is named by a sentence.
    is_test: bool,
    /// The first line of its body.
    body: String,
}

fn list_functions(source: &str) -> Vec<Function> {
    const BEFORE: [&str; 8] = [
        "pub",
        "pub(super)",
        "pub(crate)",
        "const",
        "async",
        "unsafe",
        "default",
        "extern",
    ];
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((before, after)) = line.split_once("fn ") else {
            continue;
        };
        let is_definition = before
            .split_whitespace()
            .all(|word| BEFORE.contains(&word) || word.starts_with("pub(") || word == "\"C\"");
        let name: String = after
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if !is_definition || name.is_empty() {
            continue;
        }
        let above = lines[..at].iter().rev();
        let mut attributes =
            above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        let head = lines[at..].iter().position(|line| line.ends_with('{'));
        let body = head.and_then(|head| lines.get(at + head + 1)).copied();
        found.push(Function {
            name,
            line: at + 1,
            is_test: attributes.any(|line| line.contains("test]") || line.contains("rstest")),
            body: body.unwrap_or_default().to_owned(),
        });
    }
    found
}

/// A participle that is no getter of the field of its name.
fn is_participle(function: &Function) -> bool {
    let Function { name, body, .. } = function;
    let first = name.split('_').next().unwrap_or_default();
    let is_one = IRREGULAR.split(' ').any(|word| word == first)
        || first.ends_with("ed") && !OTHERS.contains(&first);
    let body = body.trim_start_matches('&').trim_start_matches("mut ");
    let field = body
        .strip_prefix("self.")
        .and_then(|rest| rest.strip_prefix(name.as_str()));
    let is_getter =
        field.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    is_one && !is_getter && !function.is_test
}

#[test]
fn no_function_is_named_by_a_bare_participle() {
    let mut wrong = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "fuzz"] {
        for file in rust_files(&root().join(folder)) {
            let source = std::fs::read_to_string(&file).unwrap();
            let functions = list_functions(&source).into_iter().filter(is_participle);
            wrong.extend(
                functions.map(|function| {
                    format!("{}:{} {}", file.display(), function.line, function.name)
                }),
            );
        }
    }
    assert!(wrong.is_empty(), "say what they do:\n{}", wrong.join("\n"));
}

#[test]
fn a_participle_is_told_from_a_verb_a_getter_and_a_test() {
    let is_wrong = |source: &str| list_functions(source).iter().any(is_participle);
    assert!(is_wrong(
        "pub(super) fn claimed_by(slice: &Slice) -> bool {\n    true\n}"
    ));
    assert!(is_wrong(
        "fn told<T>(\n    words: T,\n) -> T {\n    words\n}"
    ));
    assert!(!is_wrong("fn find_claimant() {\n    x()\n}"));
    assert!(!is_wrong("fn seed() {\n    x()\n}"));
    assert!(!is_wrong(
        "pub fn accepted(&self) -> &Own {\n    &self.accepted\n}"
    ));
    assert!(is_wrong(
        "pub fn accepted(&self) -> &Own {\n    &self.accepted_works\n}"
    ));
    assert!(!is_wrong(
        "#[test]\nfn closed_issues_stay_closed() {\n    x()\n}"
    ));
}
