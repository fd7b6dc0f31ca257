//! A prompt as somebody reads it who knows nothing else.

use std::collections::BTreeMap;

pub struct Prompt {
    /// Parts of what the role decides on, by title.
    parts: Vec<(String, String)>,
    pub mission: String,
    pub rule: String,
    /// The report's format.
    pub format: String,
}

impl Prompt {
    /// Without the part of that title, where one is named.
    pub fn read(text: &str, without: Option<&str>) -> Self {
        let section = |title: &str| {
            let (_, rest) = text
                .split_once(&format!("\n## {title}\n"))
                .unwrap_or_default();
            let end = rest.find("\n## ").unwrap_or(rest.len());
            // A heading in a fence is not one of the prompt's.
            match title {
                "Your report" => rest.to_owned(),
                "What you decide on" => rest
                    .split_once("\n## Your report\n")
                    .map_or(rest, |(before, _)| before)
                    .to_owned(),
                _ => rest[..end].to_owned(),
            }
        };
        let mut parts: Vec<(String, String)> = Vec::new();
        let mut fence: Option<usize> = None;
        for line in section("What you decide on").lines() {
            let ticks = line.len() - line.trim_start_matches('`').len();
            match fence {
                Some(open) if ticks >= open && line.trim_end_matches('`').is_empty() => {
                    fence = None
                }
                None if ticks >= 3 => fence = Some(ticks),
                None if line.ends_with(':') && !line.starts_with('`') => {
                    parts.push((line.to_owned(), String::new()));
                }
                _ => {
                    if let Some((_, text)) = parts.last_mut() {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
            }
        }
        if let Some(without) = without {
            parts.retain(|(title, _)| !title.starts_with(without));
        }
        let rule = text.split_once("Due now by rule ").unwrap_or_default().1;
        Self {
            parts,
            mission: section("Mission"),
            rule: rule.split(':').next().unwrap_or_default().to_owned(),
            format: section("Your report"),
        }
    }

    pub fn part(&self, title: &str) -> &str {
        let mut parts = self.parts.iter();
        let part = parts.find(|(name, _)| name.starts_with(title));
        part.map_or("", |(_, text)| text.trim())
    }

    /// The report with these fields; the others as a role fills them that has nothing to say.
    pub fn report(&self, fields: &BTreeMap<&str, String>, block: Option<&str>) -> String {
        let mut report = String::new();
        let mut fence = false;
        for line in self.format.lines() {
            if line.starts_with("```") {
                if fence {
                    break;
                }
                fence = line.starts_with("```json") || !report.is_empty();
                continue;
            }
            // The block that is shown there stands for the role's own.
            if fence || (report.is_empty() && !line.starts_with("MISSION ANCHOR")) {
                continue;
            }
            let Some((label, hint)) = line.split_once(": <") else {
                match line.split_once(':') {
                    _ if line.starts_with("- <") => {}
                    Some((label, "")) if label != "Rubric" => {
                        let value = fields.get(label).map_or("none", String::as_str);
                        report.push_str(&format!("{label}: {value}\n"));
                    }
                    _ => report.push_str(&format!("{line}\n")),
                }
                continue;
            };
            let name = label.split(" (").next().unwrap_or(label);
            let value = match fields.get(name) {
                Some(value) => value.clone(),
                None if hint.starts_with("pass|") => "pass - it is so".to_owned(),
                None if name == "Input needed from user" => continue,
                None if hint == "number>" => "0".to_owned(),
                None if label.ends_with("(yes/no)") => "yes".to_owned(),
                None => "none".to_owned(),
            };
            let label = label.split(" (").next().unwrap_or(label);
            report.push_str(&format!("{label}: {value}\n"));
        }
        if let Some(block) = block {
            report.push_str(&format!("\n```json\n{block}\n```\n"));
        }
        report
    }
}

/// `FILE must hold WORD`, wherever a text says so.
pub fn orders(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("greet.txt must hold ") {
        let rest = &text[at + "greet.txt must hold ".len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let word = rest[..end.unwrap_or(rest.len())].to_owned();
        if !word.is_empty() && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}
