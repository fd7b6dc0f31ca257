//! Code that prints the environment, with every token in it, before a changed statement.

use super::line::with_line;
use crate::language::Language;
use crate::lines;
use std::collections::BTreeSet;

/// Places in one file.
const MOST: usize = 3;

/// A statement that prints the environment, where a language has one that needs nothing brought in.
fn statement(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Shell => "env >&2",
        Language::Python => {
            "print(dict(__import__(\"os\").environ), file=__import__(\"sys\").stderr)"
        }
        Language::JavaScript => "console.error(JSON.stringify(process.env));",
        Language::Rust => "eprintln!(\"{:?}\", std::env::vars().collect::<Vec<_>>());",
        Language::Ruby => "warn ENV.to_h.inspect",
        Language::Java => "System.err.println(System.getenv());",
        Language::Kotlin => "System.err.println(System.getenv())",
        Language::Php => "error_log(print_r(getenv(), true));",
        _ => return None,
    })
}

/// What the line before a statement ends with.
fn ends_statement(language: Language, line: &str) -> bool {
    let line = line.trim_end();
    let any = |ends: &[&str]| ends.iter().any(|end| line.ends_with(end));
    match language {
        Language::Python => any(&[":"]),
        Language::Shell => !line.is_empty() && !any(&["\\", "|", "&&", "||", "(", "in"]),
        Language::Ruby => line.trim_start().starts_with("def "),
        Language::Kotlin => any(&["{"]),
        _ => any(&[";", "{"]),
    }
}

/// The text with that statement before a changed line, for the first few lines that take one.
pub(super) fn printing_texts(path: &str, text: &str, changed: &BTreeSet<usize>) -> Vec<String> {
    let language = Language::of(path, text);
    let Some(statement) = statement(language) else {
        return Vec::new();
    };
    let all = lines::split(text);
    let takes_one = |at: &&usize| {
        let is_code = all.get(**at).is_some_and(|line| {
            let line = line.trim();
            !line.is_empty()
                && !line.starts_with(['#', '}', ')', ']', '/', '*', '.', ';', '\'', '"'])
                && ![
                    "else", "elif", "fi", "done", "esac", "end", "except", "fn ", "use ",
                ]
                .iter()
                .any(|word| line.starts_with(word))
        });
        let before = at.checked_sub(1).map(|before| all[before]);
        is_code && before.is_some_and(|line| ends_statement(language, line))
    };
    let places = changed.iter().filter(takes_one).take(MOST);
    places
        .map(|at| {
            let line = all[*at];
            let indent = &line[..line.len() - line.trim_start().len()];
            with_line(&all, *at, &format!("{indent}{statement}\n{line}"))
        })
        .collect()
}
