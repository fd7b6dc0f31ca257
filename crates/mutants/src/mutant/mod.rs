//! Defects of cook's own, planted in the lines that a diff changed: the floor where no tool of the
//! language is there. They are texts, so a defect may not build; that counts as neither noticed nor
//! survived.

mod revert;
mod sites;
mod subject;
mod values;

pub use revert::{with_comment, without_change};
pub use sites::Operator;
pub use subject::{Subject, subject};

use crate::class::{Class, Edited};
use crate::line_diff;
use crate::suite::Suite;
use serde::Serialize;
use sha2::{Digest, Sha256};
use sites::Site;
use std::collections::BTreeMap;
use subject::code_lines;

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
    path: &'e str,
    text: &'e str,
    site: Site,
    id: String,
    /// How many more telling ones stand in its line.
    place: usize,
    chance: [u8; 32],
}

/// Defects in the lines that these edits changed, `most` at most. Which ones are taken where there are
/// more depends on `seed` alone: the id of a commit. Each changed line gives its most telling one
/// before any gives its second.
pub fn plant(edits: &[Edited], seed: &str, most: usize) -> Planting {
    if !subject(edits).is_code() || most == 0 {
        return Planting::default();
    }
    let found = edits.iter().flat_map(|edit| find_candidates(edit, seed));
    let mut candidates: Vec<Candidate> = found.collect();
    candidates.sort_by_key(|one| (one.place, one.site.operator, one.chance));
    let possible = candidates.len();
    candidates.truncate(most);
    candidates.sort_by_key(|one| (one.site.operator, one.chance));
    Planting {
        mutants: candidates.into_iter().map(render).collect(),
        possible,
    }
}

fn find_candidates<'e>(edit: &'e Edited<'e>, seed: &str) -> Vec<Candidate<'e>> {
    let Some(text) = edit.after.filter(|_| edit.class == Class::Source) else {
        return Vec::new();
    };
    let suite = Suite::read(edit.path, text);
    let tests = revert::test_lines(&suite);
    let changed = line_diff::list_changed(edit.before.unwrap_or_default(), text);
    let is_changed = |line: usize| changed.contains(&(line - 1)) && !tests.contains(&line);
    let mut sites = sites::sites(&suite, text, &is_changed);
    if let Some(before) = edit.before {
        sites.extend(find_hunks(edit.path, before, text));
    }
    sites.truncate(MOST_PLACES);
    sites.sort();
    sites.dedup_by(|a, b| (a.from, a.to, &a.with) == (b.from, b.to, &b.with));
    let mut seen: BTreeMap<[u8; 32], usize> = BTreeMap::new();
    let mut in_line: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for site in sites {
        let old = &text[site.from..site.to];
        // With or without the mark behind it, it is the same.
        if old == site.with || old.trim_end_matches([',', ';']).trim_end() == site.with {
            continue;
        }
        let what = [
            &[site.operator as u8][..],
            old.as_bytes(),
            site.with.as_bytes(),
        ];
        let same = digest(&[edit.path.as_bytes(), what[0], what[1], what[2]]);
        let count = seen.entry(same).or_default();
        let id = hex(&digest(&[&same, &count.to_be_bytes()]), ID);
        *count += 1;
        let place = in_line.entry(site.line).or_default();
        found.push(Candidate {
            path: edit.path,
            text,
            chance: digest(&[seed.as_bytes(), id.as_bytes()]),
            id,
            place: *place,
            site,
        });
        *place += 1;
    }
    found
}

/// Changed lines as they were, where there are several hunks; a single one is the whole change.
fn find_hunks(path: &str, before: &str, after: &str) -> Vec<Site> {
    let new = line_diff::split(after);
    let mut starts = vec![0];
    for line in &new {
        starts.push(starts[starts.len() - 1] + line.len());
    }
    let hunks = revert::hunks(path, before, after);
    let sites = hunks.iter().filter(|_| hunks.len() > 1);
    let sites = sites.map(|(hunk, text)| Site {
        operator: Operator::HunkReverted,
        line: hunk.after.start + 1,
        from: starts[hunk.after.start],
        to: starts[hunk.after.end],
        with: text.clone(),
    });
    let code = code_lines(path, after);
    let is_code = |site: &Site| code_lines(path, &put(after, site)) != code;
    sites.filter(is_code).collect()
}

fn put(text: &str, site: &Site) -> String {
    format!("{}{}{}", &text[..site.from], site.with, &text[site.to..])
}

fn render(candidate: Candidate) -> Mutant {
    let Candidate {
        path, text, site, ..
    } = candidate;
    let mutated = put(text, &site);
    Mutant {
        id: candidate.id,
        operator: site.operator,
        path: path.to_owned(),
        line: site.line,
        diff: line_diff::make_unified(path, text, &mutated),
        text: mutated,
    }
}

/// One digest of several parts.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The first characters of a digest.
pub(crate) fn hex(digest: &[u8; 32], length: usize) -> String {
    let bytes = digest[..length / 2].iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
