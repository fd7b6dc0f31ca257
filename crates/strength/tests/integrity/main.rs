//! Weakenings and honest refactorings: how many of the ones are named, and how many of the others
//! are taken for one. The texts beside this file are the corpus; `tuning/` is what the rules were made
//! with, `held-out/` what they were not. `blind/` is for what somebody writes who knows no rule: it says
//! what the rules are worth until they learn from it, and moves to `tuning/` then, as two parts did.
#![allow(clippy::unwrap_used)]

use cook_strength::{Edited, Remark, classify, weakenings};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Cases of the two parts that are judged wrong. A rule that another one can stand in for is held by its own case.
const WRONG: [&str; 1] = ["others.txt: RSpec, shared by let and is_expected"];
/// Of the blind part, how many weakenings are named, how many as what they are, and how many honest cases are
/// taken for one. It may not get worse; which they are nobody looks at.
const BLIND: [usize; 3] = [52, 51, 7];
/// Cases of each sort, in both parts together.
const CASES: usize = 150;

/// A diff, and what is true of it.
#[derive(Debug, Default)]
struct Case {
    file: String,
    /// `honest`, or the kind of the weakening.
    kind: String,
    title: String,
    files: Vec<Sides>,
}

#[derive(Debug, Default)]
struct Sides {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

/// Reads a text of cases: `#= KIND: TITLE` begins one, `#- PATH` the text of before, `#+` the text of
/// now under the same path, `#+ PATH` a file that came, `#+ -` says that none stands there now.
fn read(file: &Path) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut side = ' ';
    for line in std::fs::read_to_string(file).unwrap().split_inclusive('\n') {
        let words = line.trim_end();
        if let Some(rest) = words.strip_prefix("#= ") {
            let (kind, title) = rest.split_once(": ").unwrap();
            cases.push(Case {
                file: file.file_name().unwrap().to_str().unwrap().to_owned(),
                kind: kind.to_owned(),
                title: title.to_owned(),
                files: Vec::new(),
            });
            side = ' ';
            continue;
        }
        let case = cases.last_mut().unwrap();
        if let Some(path) = words.strip_prefix("#- ") {
            case.files.push(Sides {
                path: path.to_owned(),
                before: Some(String::new()),
                after: None,
            });
            side = '-';
        } else if words == "#+" {
            case.files.last_mut().unwrap().after = Some(String::new());
            side = '+';
        } else if words == "#+ -" {
            side = ' ';
        } else if let Some(path) = words.strip_prefix("#+ ") {
            case.files.push(Sides {
                path: path.to_owned(),
                before: None,
                after: Some(String::new()),
            });
            side = '+';
        } else {
            let sides = case.files.last_mut().unwrap();
            let text = if side == '-' {
                &mut sides.before
            } else {
                &mut sides.after
            };
            text.as_mut().unwrap().push_str(line);
        }
    }
    cases
}

fn cases(part: &str) -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/integrity")
        .join(part);
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

/// Commands that these cases take for gates.
fn gates() -> Vec<String> {
    ["sh ci/check.sh", "sh ci/e2e.sh", "python .ci/check.py"]
        .map(str::to_owned)
        .to_vec()
}

fn remarks(case: &Case) -> Vec<Remark> {
    let gates = gates();
    let edits: Vec<Edited> = case
        .files
        .iter()
        .map(|sides| Edited {
            path: &sides.path,
            class: classify(&sides.path, &gates),
            before: sides.before.as_deref(),
            after: sides.after.as_deref(),
        })
        .collect();
    weakenings(&edits).remarks
}

fn kind(remark: &Remark) -> String {
    serde_json::to_value(remark.kind)
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

#[derive(Default, Clone, Copy)]
struct Count {
    of: usize,
    hit: usize,
}

impl Count {
    fn add(&mut self, hit: bool) {
        self.of += 1;
        self.hit += usize::from(hit);
    }

    fn share(self) -> f64 {
        self.hit as f64 / self.of.max(1) as f64
    }
}

struct Measured {
    /// Weakenings that were named, as whatever kind.
    named: usize,
    by_kind: BTreeMap<String, Count>,
    /// Honest cases with a remark of that kind.
    alarms: BTreeMap<String, usize>,
    honest: Count,
    /// Cases that are judged wrong, and how.
    wrong: Vec<String>,
    told: String,
}

fn measure(part: &str) -> Measured {
    let mut found = Measured {
        named: 0,
        by_kind: BTreeMap::new(),
        alarms: BTreeMap::new(),
        honest: Count::default(),
        wrong: Vec::new(),
        told: String::new(),
    };
    for case in cases(part) {
        let remarks = remarks(&case);
        if case.kind == "honest" {
            found.honest.add(!remarks.is_empty());
            for remark in &remarks {
                *found.alarms.entry(kind(remark)).or_default() += 1;
            }
            if !remarks.is_empty() {
                found.wrong.push(format!("{}: {}", case.file, case.title));
                writeln!(
                    found.told,
                    "{}: honest, {}: {remarks:#?}",
                    case.file, case.title
                )
                .unwrap();
            }
        } else {
            found.named += usize::from(!remarks.is_empty());
            let hit = remarks.iter().any(|remark| kind(remark) == case.kind);
            found.by_kind.entry(case.kind.clone()).or_default().add(hit);
            if !hit {
                found.wrong.push(format!("{}: {}", case.file, case.title));
                let instead: Vec<String> = remarks.iter().map(kind).collect();
                writeln!(
                    found.told,
                    "{}: not named {}, {}: {instead:?}",
                    case.file, case.kind, case.title
                )
                .unwrap();
            }
        }
    }
    found
}

impl Measured {
    fn all(&self) -> Count {
        let mut all = Count::default();
        for count in self.by_kind.values() {
            all.of += count.of;
            all.hit += count.hit;
        }
        all
    }

    fn table(&self, part: &str) -> String {
        let mut out = format!("{part}\n");
        for (kind, count) in &self.by_kind {
            let alarms = self.alarms.get(kind).copied().unwrap_or(0);
            writeln!(
                out,
                "  {kind:<16} recall {}/{}, false alarms {alarms}/{}",
                count.hit, count.of, self.honest.of
            )
            .unwrap();
        }
        let all = self.all();
        writeln!(
            out,
            "  all              recall {:.3} of {}, false alarms {:.3} of {}",
            all.share(),
            all.of,
            self.honest.share(),
            self.honest.of
        )
        .unwrap();
        out
    }
}

#[test]
fn weakenings_are_named_and_honest_work_is_not() {
    let parts = ["tuning", "held-out"];
    let measured: Vec<Measured> = parts.iter().map(|part| measure(part)).collect();
    let mut out = String::new();
    for (part, found) in parts.iter().zip(&measured) {
        out.push_str(&found.table(part));
    }
    // `cargo test -p cook-strength --test integrity -- --nocapture` shows the table, and what is missed.
    let told: String = measured.iter().map(|found| found.told.as_str()).collect();
    let shown = format!("{out}\n{told}");
    std::io::Write::write_all(&mut std::io::stdout(), shown.as_bytes()).unwrap();
    let wrong = measured.iter().flat_map(|found| &found.wrong);
    let wrong: Vec<&str> = wrong.map(String::as_str).collect();
    assert_eq!(wrong, WRONG, "{out}{told}");
    let sum = |of: fn(&Measured) -> usize| measured.iter().map(of).sum::<usize>();
    assert!(sum(|found| found.all().of) >= CASES, "{out}");
    assert!(sum(|found| found.honest.of) >= CASES, "{out}");
}

#[test]
fn what_no_rule_was_made_with_is_measured() {
    let found = measure("blind");
    let of = found.all().of;
    let named = found.named as f64 / of.max(1) as f64;
    let out = format!("{}  named as any kind {named:.3}\n", found.table("blind"));
    std::io::Write::write_all(&mut std::io::stdout(), out.as_bytes()).unwrap();
    let [least, least_right, most] = BLIND;
    // Between two parts there is none.
    let holds = found.named >= least && found.all().hit >= least_right && found.honest.hit <= most;
    assert!(holds || of == 0, "{out}");
}

/// A file may end amid anything, and be held against the whole one.
#[test]
fn a_text_that_ends_anywhere_upsets_nothing() {
    /// One of so many places is where a text ends.
    const EACH: usize = 151;
    let all = ["tuning", "held-out"].map(cases);
    for case in all.iter().flatten() {
        for sides in &case.files {
            let text = sides.after.as_ref().or(sides.before.as_ref()).unwrap();
            let from = case.title.len() % EACH;
            for end in (from..text.len()).step_by(EACH) {
                let Some(cut) = text.get(..end) else { continue };
                for (before, after) in [(cut, text.as_str()), (text.as_str(), cut)] {
                    let edit = Edited {
                        path: &sides.path,
                        class: classify(&sides.path, &[]),
                        before: Some(before),
                        after: Some(after),
                    };
                    weakenings(&[edit]);
                }
            }
        }
    }
}
