//! JUnit's XML as Jenkins and others read it: a suite for each slice with a case for each criterion, and
//! one suite for what is about the commit as a whole.

use crate::verify::ProofVerdict;
use crate::view::results::{Found, Proof, Results, Weight};
use std::fmt::Write;

/// The document.
pub fn junit(results: &Results) -> String {
    let mut suites = vec![whole(results)];
    let mut slices: Vec<&str> = Vec::new();
    for proof in &results.proofs {
        if !slices.contains(&proof.slice.as_str()) {
            slices.push(&proof.slice);
        }
    }
    for slice in slices {
        let of_slice = results.proofs.iter().filter(|proof| proof.slice == slice);
        suites.push(Suite {
            name: slice.to_owned(),
            cases: of_slice.map(|proof| make_case(slice, proof)).collect(),
        });
    }
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        results.command,
        sum(|suite| suite.cases.len()),
        sum(Suite::failures),
        sum(Suite::errors),
    );
    suites.iter().for_each(|suite| suite.write(&mut text));
    text.push_str("</testsuites>\n");
    text
}

struct Suite {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    suite: String,
    name: String,
    outcome: Outcome,
}

enum Outcome {
    Passed(String),
    Skipped(String),
    Failed {
        kind: String,
        why: String,
    },
    /// Nothing is known.
    Broken {
        kind: String,
        why: String,
    },
}

/// The verdict, what was looked at, and what no criterion is about.
fn whole(results: &Results) -> Suite {
    let case = |name: &str, outcome| Case {
        suite: results.command.to_owned(),
        name: name.to_owned(),
        outcome,
    };
    let passed = || Outcome::Passed(String::new());
    let looked_at = results.checked.iter();
    let mut cases: Vec<Case> = looked_at.map(|line| case(line, passed())).collect();
    for found in results.found.iter().filter(|found| !found.is_of_criterion) {
        cases.push(case(found.code.id(), find_outcome(results, found)));
    }
    // A verdict that no finding stands for is a case too: a reader counts cases.
    let is_explained = results.found.iter().any(|it| it.weight == Weight::Fails);
    let outcome = match results.passed || is_explained {
        true => Outcome::Passed(format!("{}: {}", results.word(), results.verdict)),
        false => Outcome::Failed {
            kind: "failed".to_owned(),
            why: results.verdict.clone(),
        },
    };
    cases.insert(0, case("answered", outcome));
    if results.is_failure {
        cases.remove(0);
    }
    Suite {
        name: results.command.to_owned(),
        cases,
    }
}

fn find_outcome(results: &Results, found: &Found) -> Outcome {
    let kind = found.code.id().to_owned();
    let at = found.file.as_ref().map(|file| match file.line {
        Some(line) => format!("{}:{line}: ", file.path),
        None => format!("{}: ", file.path),
    });
    let why = format!("{}{}", at.unwrap_or_default(), found.message);
    let why = match found.next.is_empty() {
        true => why,
        false => format!("{why}\nnext: {}", found.next),
    };
    match found.weight {
        Weight::Fails if results.is_failure => Outcome::Broken { kind, why },
        Weight::Fails => Outcome::Failed { kind, why },
        Weight::Look | Weight::Note => Outcome::Passed(why),
    }
}

fn make_case(slice: &str, proof: &Proof) -> Case {
    let anchor = proof.anchor.as_deref().unwrap_or("nothing");
    let verdict = proof.verdict.id();
    let why = format!("{verdict}: {anchor}: {}", proof.why);
    Case {
        suite: slice.to_owned(),
        name: proof.text.clone(),
        outcome: match (proof.fails, proof.verdict) {
            (true, _) => Outcome::Failed {
                kind: verdict.to_owned(),
                why,
            },
            (false, ProofVerdict::NotReproducible) => Outcome::Skipped(why),
            (false, _) => Outcome::Passed(why),
        },
    }
}

impl Suite {
    fn failures(&self) -> usize {
        let failed = |case: &&Case| matches!(case.outcome, Outcome::Failed { .. });
        self.cases.iter().filter(failed).count()
    }

    fn errors(&self) -> usize {
        let broken = |case: &&Case| matches!(case.outcome, Outcome::Broken { .. });
        self.cases.iter().filter(broken).count()
    }

    fn count_skipped(&self) -> usize {
        let skipped = |case: &&Case| matches!(case.outcome, Outcome::Skipped(_));
        self.cases.iter().filter(skipped).count()
    }

    fn write(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            escape(&self.name),
            self.cases.len(),
            self.failures(),
            self.errors(),
            self.count_skipped()
        );
        self.cases.iter().for_each(|case| case.write(text));
        text.push_str("  </testsuite>\n");
    }
}

impl Case {
    fn write(&self, text: &mut String) {
        let (suite, name) = (escape(&self.suite), escape(&self.name));
        let inside = match &self.outcome {
            Outcome::Passed(why) if why.is_empty() => String::new(),
            Outcome::Passed(why) => format!("<system-out>{}</system-out>", escape(why)),
            Outcome::Skipped(why) => format!("<skipped>{}</skipped>", escape(why)),
            Outcome::Failed { kind, why } => wrong("failure", kind, why),
            Outcome::Broken { kind, why } => wrong("error", kind, why),
        };
        let _ = writeln!(
            text,
            "    <testcase classname=\"{suite}\" name=\"{name}\">{inside}</testcase>"
        );
    }
}

fn wrong(element: &str, kind: &str, why: &str) -> String {
    let first = why.lines().next().unwrap_or_default();
    format!(
        "<{element} type=\"{}\" message=\"{}\">{}</{element}>",
        escape(kind),
        escape(first),
        escape(why)
    )
}

/// Text or an attribute's value. The two code points that XML has no place for go.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => escaped.push(c),
        }
    }
    escaped
}
