//! Arguments out of a preset: an item that is exactly `{access}`, `{model}` or `{schema}`
//! stands for that block; names in braces inside an item are replaced.

use super::Preset;
use cook_core::model::Access;

/// What the names stand for in one run.
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    pub cwd: &'a str,
    pub session: &'a str,
    pub new_session: &'a str,
    pub model: Option<&'a str>,
    pub schema_file: Option<&'a str>,
    pub schema_json: Option<&'a str>,
}

/// The whole command line.
pub(super) fn command(
    preset: &Preset,
    template: &[String],
    access: Access,
    continued: bool,
    values: &Values,
) -> Vec<String> {
    let mut argv = vec![preset.bin().to_owned()];
    let table = preset.table();
    let access = preset.access(access);
    let access = access
        .continued
        .filter(|_| continued)
        .unwrap_or(access.args);
    for item in template {
        let block = match item.as_str() {
            "{access}" => Some(&access),
            "{model}" => table.model.as_ref().filter(|_| values.model.is_some()),
            "{schema}" => table
                .schema
                .as_ref()
                .filter(|_| values.schema_json.is_some()),
            item => {
                argv.push(fill_item(item, values));
                None
            }
        };
        argv.extend(
            block
                .into_iter()
                .flatten()
                .map(|item| fill_item(item, values)),
        );
    }
    argv
}

/// An item with its names replaced, each once from the left: what a name stands for is
/// not looked through again.
fn fill_item(item: &str, values: &Values) -> String {
    let mut text = String::new();
    let mut rest = item;
    while let Some(start) = rest.find('{') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let value = rest[1..]
            .split_once('}')
            .and_then(|(name, after)| Some((value(name, values)?, after)));
        match value {
            Some((value, after)) => {
                text.push_str(value);
                rest = after;
            }
            None => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn value<'a>(name: &str, values: &Values<'a>) -> Option<&'a str> {
    match name {
        "cwd" => Some(values.cwd),
        "session" => Some(values.session),
        "new_session" => Some(values.new_session),
        "model" => values.model,
        "schema_file" => values.schema_file,
        "schema_json" => values.schema_json,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_core::model::Config;

    fn argv(name: &str, access: Access, continued: bool, values: &Values) -> Vec<String> {
        let preset = Preset::of(name, &Config::default()).unwrap_or_else(|e| panic!("{e}"));
        let template = if continued {
            preset.table().fork.clone().unwrap_or_default()
        } else {
            preset.start().to_vec()
        };
        command(&preset, &template, access, continued, values)
    }

    #[test]
    fn blocks_are_spliced_and_empty_ones_leave_nothing() {
        let values = Values {
            cwd: "/w",
            session: "s1",
            ..Values::default()
        };
        assert_eq!(
            argv("codex", Access::Write, false, &values),
            [
                "codex",
                "exec",
                "--json",
                "--skip-git-repo-check",
                "-C",
                "/w",
                "-s",
                "workspace-write",
                "--add-dir",
                "/w/.git",
                "-"
            ]
        );
        let forked = argv("codex", Access::Read, true, &values);
        assert!(
            forked.contains(&"sandbox_mode=\"read-only\"".to_owned())
                && forked.contains(&"s1".to_owned())
        );
        let values = Values {
            session: "{model}",
            model: Some("{cwd}"),
            schema_json: Some("{\"a\":{}}"),
            ..values
        };
        let line = argv("claude", Access::Read, false, &values);
        assert!(line.windows(2).any(|pair| pair == ["--model", "{cwd}"]));
        assert!(
            line.windows(2)
                .any(|pair| pair == ["--session-id", "{model}"])
        );
        assert!(
            line.windows(2)
                .any(|pair| pair == ["--json-schema", "{\"a\":{}}"])
        );
    }

    #[test]
    fn unknown_names_stay() {
        let values = Values::default();
        assert_eq!(fill_item("a{b}{", &values), "a{b}{");
        assert_eq!(
            fill_item("{\"x\": \"{session}\"}", &values),
            "{\"x\": \"\"}"
        );
    }
}
