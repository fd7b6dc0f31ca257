//! What the work is for and what the repository is called, as its files tell it.

use super::detect::Files;
use super::files::Tree;
use cook_protocol::diagnostic::Failure;
use cook_protocol::diagnostic::{Lines, clean};
use cook_protocol::model::mission_anchor;
use serde_json::Value;
use std::path::Path;

/// Bytes a mission holds at most.
pub const MAX_MISSION_BYTES: u64 = 256 * 1024;

/// Characters of a project's name.
const MAX_NAME_CHARS: usize = 100;

/// A mission and where it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMission {
    /// The whole text.
    pub text: String,
    /// The file, relative to the worktree.
    pub source: &'static str,
}

/// The mission that the repository itself states: `.agent/mission.md` or `mission.md`. None when there is
/// neither: what a README says of a project is no task.
///
/// # Errors
/// A mission file that is a link, too large, or not text.
pub fn find_mission(root: &Path) -> Result<Option<FoundMission>, Failure> {
    let tree = Tree::new(root);
    for source in [".agent/mission.md", "mission.md", "MISSION.md"] {
        if let Some(text) = tree.text(source, MAX_MISSION_BYTES)? {
            let text = clean(&text, Lines::Keep).trim().to_owned();
            if mission_anchor(&text).is_some() {
                return Ok(Some(FoundMission { text, source }));
            }
        }
    }
    Ok(None)
}

/// A document's first heading and the first paragraph after it. None without a
/// paragraph: a title alone says nothing about what is to be done.
pub(super) fn opening(readme: &str) -> Option<String> {
    let text = clean(readme, Lines::Keep);
    let mut heading: Option<&str> = None;
    let mut paragraph: Vec<&str> = Vec::new();
    let mut fenced = false;
    for line in without_front_matter(&text).lines().take(2_000) {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        let underline = line.len() > 2 && line.chars().all(|c| matches!(c, '=' | '-' | '~'));
        if underline && heading.is_none() && paragraph.len() == 1 {
            heading = paragraph.pop();
        } else if fenced
            || line.starts_with("```")
            || line.starts_with("~~~")
            || is_decoration(line)
        {
            if !paragraph.is_empty() {
                break;
            }
        } else if is_heading(line) {
            if !paragraph.is_empty() {
                break;
            }
            heading = heading.or(Some(line));
        } else {
            paragraph.push(line);
        }
    }
    let paragraph = paragraph.join("\n");
    if paragraph.split_whitespace().count() < 3 {
        return None;
    }
    match heading.and_then(mission_anchor) {
        Some(heading) => Some(format!("# {heading}\n\n{paragraph}")),
        None => Some(paragraph),
    }
}

/// Drops a leading block between `---` lines.
fn without_front_matter(text: &str) -> &str {
    text.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, body)| body)
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && rest.starts_with(' ')
}

/// Blank lines, badges, images, HTML, rules, comments: no prose.
fn is_decoration(line: &str) -> bool {
    line.is_empty()
        || ["[![", "![", "<", "|", "---", "===", "***", ".. ", ":"]
            .iter()
            .any(|mark| line.starts_with(mark))
}

/// The project's name: the manifest's, else the directory's, on one harmless line.
///
/// # Errors
/// A manifest that is there and cannot be read.
pub fn project_name(root: &Path) -> Result<String, Failure> {
    let files = Files::new(root);
    let manifests = [
        ("Cargo.toml", "/package/name"),
        ("package.json", "/name"),
        ("pyproject.toml", "/project/name"),
        ("pyproject.toml", "/tool/poetry/name"),
    ];
    let mut declared = Vec::new();
    for (file, pointer) in manifests {
        let text = files.text(file)?.unwrap_or_default();
        let manifest: Value = match file.ends_with(".json") {
            true => serde_json::from_str(&text).unwrap_or_default(),
            false => toml::from_str(&text).unwrap_or_default(),
        };
        let name = manifest.pointer(pointer).and_then(Value::as_str);
        declared.extend(name.map(str::to_owned));
    }
    declared.extend(go_name(&files)?);
    let directory = || {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Some(root.file_name()?.to_string_lossy().into_owned())
    };
    let name = declared
        .iter()
        .map(|name| presentable(name))
        .find(|name| !name.is_empty())
        .or_else(|| directory().map(|name| presentable(&name)))
        .filter(|name| !name.is_empty());
    Ok(name.unwrap_or_else(|| "repository".to_owned()))
}

fn presentable(name: &str) -> String {
    clean(name, Lines::Fold)
        .chars()
        .take(MAX_NAME_CHARS)
        .collect()
}

/// The last part of the module path that is not a major version.
fn go_name(files: &Files<'_>) -> Result<Option<String>, Failure> {
    let manifest = files.text("go.mod")?.unwrap_or_default();
    let path = manifest
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "));
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    Ok(path.and_then(|path| {
        let path = path.split("//").next()?.trim().trim_matches('"');
        let name = path.rsplit('/').find(|part| !is_version(part))?;
        Some(name.to_owned())
    }))
}

#[cfg(test)]
mod tests {
    use super::opening;

    #[test]
    fn a_readme_opens_with_a_heading_and_a_paragraph() {
        let cases = [
            (
                "# Tool\n\nDoes one thing well.\nAnd more.\n\nLater.",
                Some("# Tool\n\nDoes one thing well.\nAnd more."),
            ),
            (
                "[![b](c)](d)\n# Tool #\n\n![x](y)\n<p>\n\nDoes one thing.\n## Use\nx",
                Some("# Tool\n\nDoes one thing."),
            ),
            (
                "Tool\n====\n\nDoes one thing.",
                Some("# Tool\n\nDoes one thing."),
            ),
            (
                "---\ntitle: x y z\n---\n# T\n\nDoes one thing.",
                Some("# T\n\nDoes one thing."),
            ),
            (
                "# T\n```\ncode is not prose here\n```\nDoes one thing.",
                Some("# T\n\nDoes one thing."),
            ),
            (
                "Just one plain paragraph.",
                Some("Just one plain paragraph."),
            ),
            ("# Title only", None),
            ("# T\n\nTwo words", None),
            ("", None),
            ("\u{1b}]0;x\u{7}", None),
        ];
        for (readme, wanted) in cases {
            assert_eq!(opening(readme).as_deref(), wanted, "{readme:?}");
        }
    }
}
