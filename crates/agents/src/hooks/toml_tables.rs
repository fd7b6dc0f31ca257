//! Adds cook's tables to a TOML file with other content, and removes them again. Pure.
//!
//! Each of cook's tables contains its mark in its command, because agents rewrite their settings without the comments.
//! One newline of cook's precedes the first table, so that the text shows whether the other content ended with a
//! newline.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::{Spanned, Table, Value};

#[derive(Deserialize)]
struct Settings {
    #[serde(default)]
    hooks: Vec<Spanned<BTreeMap<String, Spanned<Value>>>>,
}

/// The reason why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TablesError {
    /// It is not TOML.
    #[error("it is not valid TOML (line {0})")]
    Syntax(usize),
    /// `hooks` is not a list of tables.
    #[error("`hooks` is not a list of `[[hooks]]` tables; write it as such")]
    Form,
}

fn parse(text: &str) -> Result<Settings, TablesError> {
    toml::from_str::<Table>(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        TablesError::Syntax(before.unwrap_or_default().matches('\n').count() + 1)
    })?;
    toml::from_str(text).map_err(|_| TablesError::Form)
}

/// The tables whose command contains the mark: their values and positions.
fn list_ours(text: &str, mark: &str) -> Result<Vec<(Table, Range<usize>)>, TablesError> {
    let mut found = Vec::new();
    for hook in parse(text)?.hooks {
        let header = hook.span();
        let values = hook.into_inner();
        let command = values
            .get("command")
            .and_then(|held| held.get_ref().as_str());
        if !command.is_some_and(|line| line.contains(mark)) {
            continue;
        }
        // An inline table in a list was not written by cook.
        if !text[header.clone()].starts_with("[[") {
            return Err(TablesError::Form);
        }
        let last = values.values().map(|value| value.span().end).max();
        let last = last.unwrap_or(header.end);
        let end = text[last..]
            .find('\n')
            .map_or(text.len(), |at| last + at + 1);
        let values = values.into_iter();
        let table = values.map(|(name, value)| (name, value.into_inner()));
        found.push((table.collect(), header.start..end));
    }
    Ok(found)
}

/// Whether cook's tables in the text equal these; `None` if the text contains none of cook's tables.
///
/// # Errors
/// When the text cannot be parsed or has another form.
pub fn holds(text: &str, tables: &str, mark: &str) -> Result<Option<bool>, TablesError> {
    let named = |text| -> Result<Vec<Table>, TablesError> {
        let ours = list_ours(text, mark)?;
        Ok(ours.into_iter().map(|(table, _)| table).collect())
    };
    let found = named(text)?;
    Ok((!found.is_empty()).then_some(found == named(tables)?))
}

/// The text without cook's tables; `None` if it contains nothing else.
///
/// # Errors
/// When the text cannot be parsed or has another form.
pub fn without(text: &str, mark: &str) -> Result<Option<String>, TablesError> {
    let ours = list_ours(text, mark)?;
    if ours.is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let mut left = String::new();
    let mut from = 0;
    for (_, span) in ours {
        let ahead = &text[from..span.start];
        left.push_str(ahead.strip_suffix('\n').unwrap_or(ahead));
        from = span.end;
    }
    let behind = &text[from..];
    if !left.is_empty() && !behind.is_empty() && !left.ends_with('\n') {
        left.push('\n');
    }
    left.push_str(behind);
    // If cook had added to an existing text, its newline would precede the first table.
    let is_ours = left.is_empty() && text.starts_with("[[hooks]]");
    Ok((!is_ours).then_some(left))
}

/// Appends these tables to an existing text.
///
/// # Errors
/// When the text cannot be parsed or has another form.
pub fn add(theirs: Option<&str>, tables: &str) -> Result<String, TablesError> {
    let after = match theirs {
        Some(theirs) => format!("{theirs}\n{tables}"),
        None => tables.to_owned(),
    };
    parse(theirs.unwrap_or_default())?;
    parse(&after).map_err(|_| TablesError::Form)?;
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "[[hooks]]\nevent = \"Stop\"\ncommand = \"cook hook kimi # mark 1\"\ntimeout = 10\n\n[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"cook hook kimi # mark 1\"\ntimeout = 10\n";

    #[test]
    fn what_others_wrote_is_given_back_byte_for_byte() {
        for theirs in [
            "",
            "\n",
            "a = 1",
            "a = 1\n",
            "a = 1\n\n\n",
            "a = 1\r\n",
            "# only words\n",
            "[x]\ny = \"[[hooks]]\"\n# end",
            "[[hooks]]\nevent = \"Stop\"\ncommand = '''\nsay [done]\n'''\n",
        ] {
            let both = add(Some(theirs), OURS).unwrap();
            assert_eq!(holds(&both, OURS, "mark 1"), Ok(Some(true)), "{theirs:?}");
            assert_eq!(without(&both, "mark "), Ok(Some(theirs.to_owned())));
            assert_eq!(holds(theirs, OURS, "mark 1"), Ok(None));
        }
        assert_eq!(without(&add(None, OURS).unwrap(), "mark "), Ok(None));
    }

    #[test]
    fn what_stands_behind_or_between_stays() {
        let tables: Vec<&str> = OURS.split("\n\n").collect();
        let text = format!(
            "a = 1\n\n{}\n\n[b]\nc = 2\n\n{}\n[d]\n",
            tables[0], tables[1]
        );
        assert_eq!(holds(&text, OURS, "mark 1"), Ok(Some(true)));
        let left = without(&text, "mark ").unwrap().unwrap();
        assert_eq!(left, "a = 1\n\n[b]\nc = 2\n\n[d]\n");
        // An agent that rewrites its settings keeps the values.
        let anew = text
            .replace("event = \"Stop\"\n", "")
            .replace("timeout = 10\n\n[b]", "timeout = 10\nevent = 'Stop'\n[b]");
        assert_eq!(holds(&anew, OURS, "mark 1"), Ok(Some(true)), "{anew}");
        let fewer = text.replace(tables[1], "");
        assert_eq!(holds(&fewer, OURS, "mark 1"), Ok(Some(false)));
    }

    #[test]
    fn a_text_that_cannot_be_changed_is_named() {
        assert_eq!(
            add(Some("a = 1\nb = = 2\n"), OURS),
            Err(TablesError::Syntax(2))
        );
        assert_eq!(without("{}", "mark "), Err(TablesError::Syntax(1)));
        let inline = "hooks = [{event = \"Stop\", command = \"x\"}]\n";
        assert_eq!(add(Some(inline), OURS), Err(TablesError::Form));
        assert_eq!(without(inline, "mark "), Ok(Some(inline.to_owned())));
        for other in ["hooks = 1\n", "[hooks]\nStop = 1\n"] {
            assert_eq!(add(Some(other), OURS), Err(TablesError::Form));
        }
    }
}
