//! JUnit's XML as Jenkins and others read it: a suite for each slice with a case for each criterion, and
//! one suite for what is about the commit as a whole.

use crate::verify::ProofVerdict;
use crate::view::results::{Results, Weight};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io::Result;

type Xml = Writer<Vec<u8>>;

/// How a case ended, and the element that says so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Passed,
    Skipped,
    Failed,
    /// Nothing is known.
    Broken,
}

struct Case {
    name: String,
    ending: Ending,
    /// The type of what is wrong.
    kind: &'static str,
    why: String,
}

/// The document.
pub fn junit(results: &Results) -> String {
    let mut suites = vec![(results.command, list_of_whole(results))];
    for (proof, fails) in &results.proofs {
        let anchor = proof.anchor.as_deref().unwrap_or("nothing");
        let kind = proof.verdict.id();
        let case = Case {
            name: proof.text.clone(),
            ending: match (fails, proof.verdict) {
                (true, _) => Ending::Failed,
                (false, ProofVerdict::NotReproducible) => Ending::Skipped,
                (false, _) => Ending::Passed,
            },
            kind,
            why: format!("{kind}: {anchor}: {}", proof.why),
        };
        let of_slices = &mut suites[1..];
        match of_slices.iter_mut().find(|(name, _)| *name == proof.slice) {
            Some((_, cases)) => cases.push(case),
            None => suites.push((&proof.slice, vec![case])),
        }
    }
    let mut xml = Writer::new(Vec::new());
    // A vector takes whatever is written.
    let _ = write(&mut xml, results.command, &suites);
    String::from_utf8_lossy(&xml.into_inner()).into_owned() + "\n"
}

/// The verdict, what was looked at, and what no criterion is about.
fn list_of_whole(results: &Results) -> Vec<Case> {
    let case = |name: &str, ending, kind, why| Case {
        name: name.to_owned(),
        ending,
        kind,
        why,
    };
    let mut cases = Vec::new();
    if !results.is_failure {
        // A verdict that no finding stands for is a case too: a reader counts cases.
        let ending = match results.passed || !results.list_failing().is_empty() {
            true => Ending::Passed,
            false => Ending::Failed,
        };
        let why = format!("{}: {}", results.word(), results.verdict);
        cases.push(case("answered", ending, "failed", why));
    }
    let looked_at = results.checked.iter();
    cases.extend(looked_at.map(|line| case(line, Ending::Passed, "", String::new())));
    for found in results.found.iter().filter(|found| !found.is_of_criterion) {
        let ending = match found.weight {
            Weight::Fails if results.is_failure => Ending::Broken,
            Weight::Fails => Ending::Failed,
            Weight::Look | Weight::Note => Ending::Passed,
        };
        let why = found.with_next(&found.with_place());
        cases.push(case(found.code.id(), ending, found.code.id(), why));
    }
    cases
}

fn count<'a>(cases: impl IntoIterator<Item = &'a Case>, ending: Ending) -> String {
    let cases = cases.into_iter().filter(|case| case.ending == ending);
    cases.count().to_string()
}

fn write(xml: &mut Xml, command: &str, suites: &[(&str, Vec<Case>)]) -> Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = || suites.iter().flat_map(|(_, cases)| cases);
    xml.create_element("testsuites")
        .with_attribute(("name", command))
        .with_attribute(("tests", all().count().to_string().as_str()))
        .with_attribute(("failures", count(all(), Ending::Failed).as_str()))
        .with_attribute(("errors", count(all(), Ending::Broken).as_str()))
        .write_inner_content(|xml| {
            let mut suites = suites.iter();
            suites.try_for_each(|(name, cases)| write_suite(xml, name, cases))
        })?;
    Ok(())
}

fn write_suite(xml: &mut Xml, name: &str, cases: &[Case]) -> Result<()> {
    xml.create_element("testsuite")
        .with_attribute(("name", name))
        .with_attribute(("tests", cases.len().to_string().as_str()))
        .with_attribute(("failures", count(cases, Ending::Failed).as_str()))
        .with_attribute(("errors", count(cases, Ending::Broken).as_str()))
        .with_attribute(("skipped", count(cases, Ending::Skipped).as_str()))
        .write_inner_content(|xml| {
            let mut cases = cases.iter();
            cases.try_for_each(|case| write_case(xml, name, case))
        })?;
    Ok(())
}

fn write_case(xml: &mut Xml, suite: &str, case: &Case) -> Result<()> {
    // The two code points that XML has no place for go.
    let [name, why] = [&case.name, &case.why].map(|it| it.replace(['\u{fffe}', '\u{ffff}'], ""));
    let element = xml
        .create_element("testcase")
        .with_attribute(("classname", suite))
        .with_attribute(("name", name.as_str()));
    if why.is_empty() {
        return element.write_empty().map(drop);
    }
    let (inside, is_wrong) = match case.ending {
        Ending::Passed => ("system-out", false),
        Ending::Skipped => ("skipped", false),
        Ending::Failed => ("failure", true),
        Ending::Broken => ("error", true),
    };
    element.write_inner_content(|xml| {
        let mut inside = xml.create_element(inside);
        if is_wrong {
            let first = why.lines().next().unwrap_or_default();
            let attributes = [("type", case.kind), ("message", first)];
            inside = inside.with_attributes(attributes);
        }
        inside.write_text_content(BytesText::new(&why)).map(drop)
    })?;
    Ok(())
}
