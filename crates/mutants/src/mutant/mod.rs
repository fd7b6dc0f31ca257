//! Cook's own defects, planted in the changed lines of a diff: a minimum for languages without a mutation tool. They
//! are textual changes, so a defect may not compile; such a defect counts as neither noticed nor survived.

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

/// The length of an id in characters.
const ID: usize = 12;
/// The maximum number of places in one file that are considered; further ones do not count as possible.
const MOST_PLACES: usize = 200_000;

/// A planted defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mutant {
    /// The id, which is the same for the same defect in the same text, regardless of its line number.
    pub id: String,
    /// The kind of defect.
    pub operator: Operator,
    /// The file.
    pub path: String,
    /// The line in the present text, counted from 1.
    pub line: usize,
    /// The unified diff against the present text.
    pub diff: String,
    /// The text of the file with the defect.
    #[serde(skip)]
    pub text: String,
}

/// The defects that can be planted in a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planting {
    /// The selected defects, the most significant first.
    pub mutants: Vec<Mutant>,
    /// The number of possible defects, which may exceed the number selected.
    pub possible: usize,
}

struct Candidate<'e> {
    path: &'e str,
    text: &'e str,
    site: Site,
    id: String,
    /// The number of more significant candidates in its line.
    place: usize,
    chance: [u8; 32],
}

/// Plants at most `most` defects in the lines that these edits changed. If there are more candidates, the selection
/// depends only on `seed`, the id of a commit. Each changed line provides its most significant defect before any
/// provides a second one.
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
        // A change of only the trailing comma or semicolon is not a defect.
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

/// Sites that revert one hunk, if there are several; a single hunk is the whole change.
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

/// The digest of several parts.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The first characters of a digest in hexadecimal.
pub(crate) fn hex(digest: &[u8; 32], length: usize) -> String {
    let bytes = digest[..length / 2].iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

// Whether a diff contains code in which a defect can be planted.

/// The kind of content that a diff changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// It adds or changes code.
    Code,
    /// It changes no source file, only documents, tests or settings.
    NoSource,
    /// It changes only comments and white space.
    Comments,
    /// It only moves code.
    Moves,
    /// It only removes code.
    Deletions,
}

impl Subject {
    /// Whether a test should notice if the change is reverted.
    pub fn is_code(self) -> bool {
        self == Self::Code
    }
}

/// The kind of content that these edits change.
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

/// The lines of code in a text, without comments, blank lines and imports.
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

// Reverting a change without its tests, which are not part of what is reverted. Also a change without effect: a gate
// that notices it examines the text and not the behaviour.

/// The lines, counted from 1, of tests and of modules that exist only for tests.
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
            // A test module; a class may contain more than tests.
            Sort::Group => holds(item) && item.name.to_lowercase().contains("test"),
            Sort::Helper => false,
        };
        if for_tests {
            found.extend(suite.lines(item));
        }
    }
    found
}

/// The hunks of a file outside of its tests, each with the text that replaces it when it is reverted.
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

/// The content of a source file when its change is reverted and its tests are kept: the inner `None` if the file did
/// not exist before, the outer `None` if it is a new file with tests, which would be removed with it.
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

/// The text with a comment appended; `None` if the language is not known, or if the end of the text may not be code.
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
    // Also after the first line, if a statement does not extend beyond it.
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

/// Whether nothing in the line continues in the next one.
fn ends_with_itself(line: &str) -> bool {
    let goes_on = ["\"\"\"", "'''", "/*", "`", "<<"];
    let last = line.trim_end();
    // A statement may continue if a bracket is open or the line ends with an operator.
    let is_whole = last.is_empty()
        || ["#", "//", ";", ")", "}"]
            .iter()
            .any(|mark| line.starts_with(mark) || last.ends_with(mark));
    is_whole && !goes_on.iter().any(|mark| line.contains(mark))
}
