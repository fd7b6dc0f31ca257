//! Defects of cook's own, planted in the lines that a diff changed: the floor where no tool of the
//! language is there. They are texts, so a defect may not build; that counts as neither noticed nor
//! survived.

mod comment;
mod conditions;
mod finder;
mod revert;
mod site;
mod sites;
mod statements;
mod subject;
mod values;

pub use comment::with_comment;
pub use revert::without_change;
pub use site::Operator;
use subject::code_lines;
pub use subject::{Subject, subject};

use crate::class::{Class, Edited};
use crate::lines;
use crate::suite::Suite;
use serde::Serialize;
use sha2::{Digest, Sha256};
use site::Site;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of an id.
const ID: usize = 12;
/// Places in one file that are looked at; what is beyond counts as possible no more.
const MOST_PLACES: usize = 200_000;

/// A planted defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mutant {
    /// The same for the same defect in the same words, wherever its lines stand.
    pub id: String,
    /// What it does.
    pub operator: Operator,
    /// The file.
    pub path: String,
    /// From 1, in the text of now.
    pub line: usize,
    /// The change that it is, against the text of now.
    pub diff: String,
    /// The file's text with it.
    #[serde(skip)]
    pub text: String,
}

/// Defects of a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planting {
    /// Most telling first.
    pub mutants: Vec<Mutant>,
    /// How many there could be: more than there are where only some were taken.
    pub possible: usize,
}

struct Candidate<'e> {
    edit: &'e Edited<'e>,
    text: &'e str,
    site: Site,
    id: String,
    /// How many more telling ones stand in its line.
    place: usize,
    chance: [u8; 8],
}

/// Defects in the lines that these edits changed, `most` at most. Which ones are taken where there are
/// more depends on `seed` alone: the id of a commit. Each changed line gives its most telling one
/// before any gives its second.
pub fn plant(edits: &[Edited], seed: &str, most: usize) -> Planting {
    if !subject(edits).is_code() || most == 0 {
        return Planting::default();
    }
    let mut candidates: Vec<Candidate> =
        edits.iter().flat_map(|edit| of_file(edit, seed)).collect();
    candidates.sort_by(|a, b| {
        (a.place, a.site.operator, a.chance).cmp(&(b.place, b.site.operator, b.chance))
    });
    let possible = candidates.len();
    candidates.truncate(most);
    candidates.sort_by_key(|a| (a.site.operator, a.chance));
    Planting {
        mutants: candidates.into_iter().map(render).collect(),
        possible,
    }
}

fn of_file<'e>(edit: &'e Edited<'e>, seed: &str) -> Vec<Candidate<'e>> {
    let Some(text) = edit.after.filter(|_| edit.class == Class::Source) else {
        return Vec::new();
    };
    let suite = Suite::read(edit.path, text);
    let tests = revert::test_lines(&suite);
    let (old, new) = (
        lines::split(edit.before.unwrap_or_default()),
        lines::split(text),
    );
    let mut changed: BTreeSet<usize> = BTreeSet::new();
    for hunk in lines::hunks(&old, &new) {
        changed.extend(
            hunk.after
                .map(|at| at + 1)
                .filter(|line| !tests.contains(line)),
        );
    }
    let mut sites = sites::sites(&suite, text, &|line| changed.contains(&line));
    if let Some(before) = edit.before {
        sites.extend(hunk_sites(edit.path, before, text));
    }
    sites.truncate(MOST_PLACES);
    sites.sort_by(|a, b| {
        (a.line, a.operator, a.from, a.to, &a.with)
            .cmp(&(b.line, b.operator, b.from, b.to, &b.with))
    });
    sites.dedup_by(|a, b| (a.from, a.to, &a.with) == (b.from, b.to, &b.with));
    let mut seen: BTreeMap<[u8; 32], usize> = BTreeMap::new();
    let mut in_line: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for site in sites {
        let old = &text[site.from..site.to];
        // With or without the mark behind it, it is the same.
        let is_same = |old: &str| old.trim_end_matches([',', ';']).trim_end() == site.with;
        if is_same(old) || old == site.with {
            continue;
        }
        let operator = [site.operator as u8];
        let same = digest(&[
            edit.path.as_bytes(),
            &operator,
            old.as_bytes(),
            site.with.as_bytes(),
        ]);
        let count = seen.entry(same).or_default();
        let id = short(&digest(&[&same, &count.to_be_bytes()]));
        *count += 1;
        let place = in_line.entry(site.line).or_default();
        let chance = digest(&[seed.as_bytes(), id.as_bytes()]);
        let mut first = [0; 8];
        first.copy_from_slice(&chance[..8]);
        found.push(Candidate {
            edit,
            text,
            site,
            id,
            place: *place,
            chance: first,
        });
        *place += 1;
    }
    found
}

/// Each hunk as it was.
fn hunk_sites(path: &str, before: &str, after: &str) -> Vec<Site> {
    let new = lines::split(after);
    let mut starts = vec![0];
    for line in &new {
        starts.push(starts[starts.len() - 1] + line.len());
    }
    let hunks = revert::hunks(path, before, after);
    // One hunk is the whole change.
    let sites = hunks
        .iter()
        .filter(|_| hunks.len() > 1)
        .map(|(hunk, text)| Site {
            operator: Operator::HunkReverted,
            line: hunk.after.start + 1,
            from: starts[hunk.after.start],
            to: starts[hunk.after.end],
            with: text.clone(),
        });
    let code = code_lines(path, after);
    // Comments and blanks as they were are the same code.
    let is_code = |site: &Site| code_lines(path, &put(after, site)) != code;
    sites.filter(is_code).collect()
}

/// The text with the defect.
fn put(text: &str, site: &Site) -> String {
    format!("{}{}{}", &text[..site.from], site.with, &text[site.to..])
}

fn render(candidate: Candidate) -> Mutant {
    let Candidate {
        edit,
        text,
        site,
        id,
        ..
    } = candidate;
    let mutated = put(text, &site);
    Mutant {
        id,
        operator: site.operator,
        path: edit.path.to_owned(),
        line: site.line,
        diff: lines::make_unified(edit.path, Some(text), Some(&mutated)),
        text: mutated,
    }
}

fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn short(digest: &[u8; 32]) -> String {
    digest[..ID / 2]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests;
