//! Defects of cook's own, planted in the lines that a diff changed: the floor where no tool of the
//! language is there. They are texts, so a defect may not build; that counts as neither noticed nor
//! survived.

mod sites;
#[cfg(test)]
mod tests;

pub use sites::Operator;

use crate::class::{Class, Edited};
use crate::line_diff::{self, Difference};
use crate::suite::{Item, Sort, Suite};
use crate::tokens::{self, Kind, Language, Token};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sites::{IMPORTS, Site};
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
    let tests = test_lines(&suite);
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
    let hunks = hunks(path, before, after);
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

// Whether a diff holds code in which a defect could be planted.

/// What a diff is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// It brings code, or other code.
    Code,
    /// No file of source: documents, tests, settings.
    NoSource,
    /// Comments and blanks.
    Comments,
    /// Code that stands elsewhere now.
    Moves,
    /// Code is gone and none came.
    Deletions,
}

impl Subject {
    /// Taking it back would be noticed by a test of it.
    pub fn is_code(self) -> bool {
        self == Self::Code
    }
}

/// What these edits are about.
pub fn subject(edits: &[Edited]) -> Subject {
    let sources: Vec<&Edited> = edits
        .iter()
        .filter(|edit| edit.class == Class::Source && edit.before != edit.after)
        .collect();
    if sources.is_empty() {
        return Subject::NoSource;
    }
    let mut balance: BTreeMap<String, i64> = BTreeMap::new();
    let mut changed = false;
    for edit in sources {
        let lines_of = |text: Option<&str>| code_lines(edit.path, text.unwrap_or_default());
        let (before, after) = (lines_of(edit.before), lines_of(edit.after));
        changed |= before != after;
        for (lines, step) in [(before, -1), (after, 1)] {
            for line in lines {
                *balance.entry(line).or_default() += step;
            }
        }
    }
    if balance.values().any(|count| *count > 0) {
        Subject::Code
    } else if balance.values().any(|count| *count < 0) {
        Subject::Deletions
    } else if changed {
        Subject::Moves
    } else {
        Subject::Comments
    }
}

/// A text's lines of code, without comments, blanks, and what only says where others stand.
fn code_lines(path: &str, text: &str) -> Vec<String> {
    let language = Language::of(path, text);
    let tokens = tokens::code(language, text);
    let mut found: Vec<(usize, String)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if is_docstring(language, &tokens, at) {
            continue;
        }
        match found.last_mut() {
            Some((line, words)) if *line == token.line => {
                words.push(' ');
                words.push_str(token.text);
            }
            _ => found.push((token.line, token.text.to_owned())),
        }
    }
    let lines = found.into_iter().map(|(_, words)| words);
    let names_a_place = |line: &String| {
        let mut words = line
            .split(' ')
            .skip_while(|word| matches!(*word, "pub" | "#"));
        let first = words.next().unwrap_or_default();
        IMPORTS.contains(&first) && !line.contains('{')
    };
    lines.filter(|line| !names_a_place(line)).collect()
}

fn is_docstring(language: Language, tokens: &[Token], at: usize) -> bool {
    let token = tokens[at];
    let alone = |other: Option<&Token>| other.is_none_or(|other| other.line != token.line);
    language == Language::Python
        && token.kind == Kind::Text
        && alone(at.checked_sub(1).and_then(|at| tokens.get(at)))
        && tokens.get(at + 1).is_none_or(|next| next.line > token.line)
        && at.checked_sub(1).is_none_or(|at| tokens[at].is(":"))
}

// Changed lines as they were, beside the tests as they are: tests are no part of what is taken back. And a
// change that changes nothing: a gate that notices it looks at the text and not at what it does.

/// Lines, from 1, of tests and of what stands around them for them alone.
pub(crate) fn test_lines(suite: &Suite) -> BTreeSet<usize> {
    let holds = |group: &Item| {
        suite
            .tests()
            .any(|(test, _)| group.body.contains(&test.head.start))
    };
    let mut found = suite.example_lines();
    for item in &suite.items {
        let for_tests = match item.sort {
            Sort::Test => true,
            // A module of tests; a class may hold more than those.
            Sort::Group => holds(item) && item.name.to_lowercase().contains("test"),
            Sort::Helper => false,
        };
        if for_tests {
            found.extend(suite.lines(item));
        }
    }
    found
}

/// Hunks of a file outside of its tests, each as what stands in its place when it is taken back.
fn hunks(path: &str, before: &str, after: &str) -> Vec<(Difference, String)> {
    let (old, new) = (line_diff::split(before), line_diff::split(after));
    let of_before = test_lines(&Suite::read(path, before));
    let of_after = test_lines(&Suite::read(path, after));
    let mut found = Vec::new();
    for hunk in line_diff::list_differences(before, after) {
        let put_back = hunk
            .before
            .clone()
            .filter(|at| !of_before.contains(&(at + 1)));
        let kept = hunk.after.clone().filter(|at| of_after.contains(&(at + 1)));
        let text: String = put_back
            .map(|at| old[at])
            .chain(kept.map(|at| new[at]))
            .collect();
        if text != new[hunk.after.clone()].concat() {
            found.push((hunk, text));
        }
    }
    found
}

/// What a source file is when its change is taken back and its tests stay; none = a new file, whose
/// tests would go with it. Empty texts: the file was not there.
pub fn without_change(
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
) -> Option<Option<String>> {
    let (Some(old), Some(new)) = (before, after) else {
        let has_tests = after.is_some_and(|after| Suite::read(path, after).has_tests());
        return (!has_tests).then(|| before.map(str::to_owned));
    };
    let whole = line_diff::split(new);
    let mut out = String::new();
    let mut at = 0;
    for (hunk, text) in hunks(path, old, new) {
        out.push_str(&whole[at..hunk.after.start].concat());
        out.push_str(&text);
        at = hunk.after.end;
    }
    out.push_str(&whole[at..].concat());
    Some(Some(out))
}

/// The text with a comment behind it; none where its language is not known, or what stands at its end
/// may be no code.
pub fn with_comment(path: &str, text: &str) -> Option<String> {
    let language = Language::of(path, text);
    let mark = language
        .comments()
        .first()
        .filter(|_| language != Language::Other)?;
    let is_markup = path.ends_with(".vue") || path.ends_with(".svelte");
    let ends_before = text.contains("?>") || text.lines().any(|line| line == "__END__");
    if is_markup || ends_before {
        return None;
    }
    let comment = format!("{mark} Nothing else is changed.\n");
    let mut commented = String::new();
    // Behind the first line too, where that is a line of its own.
    let rest = match text.split_once('\n') {
        Some((first, rest)) if ends_with_itself(first) => {
            commented = format!("{first}\n{comment}");
            rest
        }
        _ => text,
    };
    commented.push_str(rest);
    if !commented.is_empty() && !commented.ends_with('\n') {
        commented.push('\n');
    }
    Some(commented + &comment)
}

/// What begins in the line does not go on in the next.
fn ends_with_itself(line: &str) -> bool {
    let goes_on = ["\"\"\"", "'''", "/*", "`", "<<"];
    let last = line.trim_end();
    // A statement may go on wherever a bracket or an operator is open.
    let is_whole = last.is_empty()
        || ["#", "//", ";", ")", "}"]
            .iter()
            .any(|mark| line.starts_with(mark) || last.ends_with(mark));
    is_whole && !goes_on.iter().any(|mark| line.contains(mark))
}
