//! What an edit of a `Makefile` or a `justfile` does to the rules that gates reach.

use super::runners::{Ways, plain_target, split_words};
use std::collections::BTreeSet;

/// What takes lines for something else than they look.
const REWRITES: [&str; 5] = [
    ".RECIPEPREFIX",
    ".ONESHELL",
    ".SECONDEXPANSION",
    "define",
    "$(eval",
];
const PHONY: &str = ".PHONY:";

/// A part of such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    /// Anything but a plain rule.
    Line(String),
    /// A rule of one target, its first line, and what it runs.
    Rule(String, String, Vec<String>),
}

/// The first line that a gate may come upon otherwise than before; none where the edit touches nothing that
/// gates reach, or only lets a rule run more at its end.
pub(super) fn find_edit(path: &str, before: &str, after: &str, ways: &Ways) -> Option<String> {
    let is_make = !path.to_lowercase().ends_with("justfile");
    let rewrites = |text: &str| REWRITES.iter().any(|word| text.contains(word));
    let (was, is) = (read(before, is_make), read(after, is_make));
    if rewrites(before) || rewrites(after) {
        return find_difference(&was, &is);
    }
    let lost = phony(before).difference(&phony(after)).next().cloned();
    if let Some(lost) = lost {
        return Some(format!("{PHONY} {lost}"));
    }
    let reached: BTreeSet<String> = [&was, &is]
        .map(|items| reach(items, path, ways))
        .concat()
        .into_iter()
        .collect();
    let keep = |items: Vec<Item>| -> Vec<Item> {
        let kept = items.into_iter().filter(|item| match item {
            Item::Line(_) => true,
            Item::Rule(name, ..) => reached.contains(name),
        });
        kept.collect()
    };
    find_difference(&keep(was), &keep(is))
}

fn read(text: &str, is_make: bool) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let (mut continued, mut inside) = (false, false);
    for line in text.lines() {
        let own = std::mem::replace(&mut continued, line.ends_with('\\'));
        let is_recipe = line.starts_with('\t') || !is_make && line.starts_with(' ');
        let trimmed = line.trim();
        if !own && (trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with(PHONY)) {
            // A list of names that goes on is read as lines of its own.
            continue;
        }
        match items.last_mut() {
            Some(Item::Rule(_, head, recipe)) if inside && (own || is_recipe) => {
                if recipe.is_empty() && own && head.ends_with('\\') {
                    head.push_str(line);
                } else {
                    recipe.push(line.to_owned());
                }
            }
            _ => match plain_target(line).filter(|_| !own) {
                Some(name) => {
                    inside = true;
                    items.push(Item::Rule(name.to_owned(), line.to_owned(), Vec::new()));
                }
                None => {
                    inside = false;
                    items.push(Item::Line(line.to_owned()));
                }
            },
        }
    }
    items
}

fn phony(text: &str) -> BTreeSet<String> {
    let lists = text.lines().filter_map(|line| line.strip_prefix(PHONY));
    lists.flat_map(split_words).collect()
}

/// Targets that the gates, lines outside of rules, and what these reach, name; and the first.
fn reach(items: &[Item], path: &str, ways: &Ways) -> Vec<String> {
    let mut rules: Vec<(&String, BTreeSet<String>)> = Vec::new();
    let mut words = BTreeSet::new();
    for item in items {
        match item {
            Item::Line(line) => words.extend(split_words(line)),
            Item::Rule(name, head, recipe) => {
                let needs = head.split_once(':').map_or("", |(_, needs)| needs);
                let said = format!("{needs}\n{}", recipe.join("\n"));
                if rules.is_empty() {
                    words.insert(name.clone());
                }
                rules.push((name, split_words(&said)));
            }
        }
    }
    let mut reached: Vec<String> = Vec::new();
    loop {
        let is_new = |name: &String| {
            !reached.contains(name) && (words.contains(name) || ways.names(name, path))
        };
        let new: Vec<&(&String, BTreeSet<String>)> =
            rules.iter().filter(|(name, _)| is_new(name)).collect();
        if new.is_empty() {
            return reached;
        }
        for (name, said) in new {
            reached.push((*name).clone());
            words.extend(said.iter().cloned());
        }
    }
}

fn find_difference(was: &[Item], is: &[Item]) -> Option<String> {
    for (at, new) in is.iter().enumerate() {
        match (was.get(at), new) {
            (Some(old), new) if old == new => {}
            (Some(Item::Rule(_, head, old)), Item::Rule(_, now, new)) if head == now => {
                let runs_more =
                    new.starts_with(old) && !old.last().is_some_and(|line| line.ends_with('\\'));
                if !runs_more {
                    let other = new
                        .iter()
                        .zip(old.iter().map(Some).chain(std::iter::repeat(None)));
                    let other = other
                        .filter(|(new, old)| Some(*new) != *old)
                        .map(|(new, _)| new);
                    let other = other.chain(old.last()).next();
                    return Some(other.map_or(now, |line| line).trim().to_owned());
                }
            }
            (_, Item::Line(line) | Item::Rule(_, line, _)) => return Some(line.trim().to_owned()),
        }
    }
    was.get(is.len()).map(|item| match item {
        Item::Line(line) | Item::Rule(_, line, _) => line.trim().to_owned(),
    })
}
