//! Records that came out of sessions, made again from what the log keeps of those sessions.

use super::verify_outcome::Outcome;
use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure, Finding, count_noun};
use cook_protocol::model::{CitedExchange, Event};
use cook_protocol::prompt;
use cook_protocol::report::{self, Provenance, Reported};
use cook_repo::session::wrong_citation;
use cook_repo::store::Before;

/// Parses each kept answer again and compares what comes out with what was recorded.
pub(super) fn check(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut made = 0;
    let mut findings = Vec::new();
    workspace
        .store()?
        .each_cited_exchange(None, |before, seq, event, cited| {
            made += 1;
            let why = match cited {
                Ok(cited) => differs(before, event, cited)?,
                Err(why) => Some(why.to_owned()),
            };
            if let Some(why) = why {
                findings.push(
                    Finding::new(Code::RecordNotRecomputable, why).at(format!("transition {seq}")),
                );
            }
            Ok(())
        })?;
    if made > 0 {
        outcome.add_checked(format!(
            "{} made again from the session it came out of",
            count_noun(made, "report")
        ));
    }
    outcome.findings.extend(findings);
    Ok(())
}

/// What is wrong, if anything.
fn differs(
    before: Before,
    event: &Event,
    cited: &CitedExchange,
) -> Result<Option<String>, Failure> {
    if let Some(why) = wrong_citation(event, cited) {
        return Ok(Some(why));
    }
    let (Some(role), Some(submission), Some(last)) =
        (event.role(), event.submission(), cited.said.last())
    else {
        return Ok(None);
    };
    let parsed = report::parse(role, last.output.as_bytes());
    let made = match parsed.report.filter(|_| parsed.findings.is_empty()) {
        Some(report) => report::event(&report, Provenance::of(submission)),
        None => Reported::Nothing,
    };
    let same = match made {
        Reported::Event(made) if *made == *event => true,
        // What a role said as the prompt showed it stands there as the documents say it.
        Reported::Event(made) => {
            before()?.is_some_and(|before| prompt::in_own_words(&made, &before) == *event)
        }
        Reported::Nothing => false,
    };
    let what = "what {} answered is not the report on record";
    Ok((!same).then(|| what.replace("{}", &cited.exchange)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_protocol::model::{Role, Said};
    use cook_repo::session::{Exchange, Kind};

    const ANSWER: &str = "MISSION ANCHOR: m\nRemaining contract IDs: none\nRubric:\n\
        - Contract coverage: pass - a\n- Correctness risk: pass - a\n\
        - Verification evidence: pass - a\n- Docs/state parity: pass - a\n\
        Findings: none\nAcceptable as-is (yes/no): yes\nSmallest follow-up slice: none\n";
    const NAME: &str = "ex_01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn review() -> (Event, CitedExchange) {
        let parsed = report::parse(Role::Reviewer, ANSWER.as_bytes());
        let provenance = Provenance {
            session: Some(NAME.to_owned()),
            ticket: None,
            began_at: None,
        };
        let Reported::Event(event) = report::event(&parsed.report.unwrap(), provenance) else {
            panic!("a review is an event");
        };
        let exchange = Exchange::new(Kind::Say, "review it", ANSWER, None);
        let cited = CitedExchange {
            exchange: NAME.to_owned(),
            said: vec![Said {
                hash: exchange.hash().to_string(),
                kind: "say".to_owned(),
                input: "review it".to_owned(),
                output: ANSWER.to_owned(),
            }],
        };
        (*event, cited)
    }

    #[test]
    fn a_report_is_made_again_and_every_other_answer_is_noticed() {
        let (event, cited) = review();
        let differs = |event: &Event, cited: &CitedExchange| {
            super::differs(&|| Ok(None), event, cited).unwrap()
        };
        assert_eq!(differs(&event, &cited), None);
        let told = |change: &dyn Fn(&mut Said)| {
            let mut other = cited.clone();
            change(&mut other.said[0]);
            differs(&event, &other).unwrap_or_default()
        };
        assert!(told(&|said| said.output.push('x')).ends_with("is another one"));
        assert!(told(&|said| said.kind = "act".to_owned()).ends_with("is another one"));
        let softened = told(&|said| {
            said.output = ANSWER.replace("Findings: none", "Findings: it fails");
            said.hash = Exchange::new(Kind::Say, "review it", said.output.as_str(), None)
                .hash()
                .to_string();
        });
        assert!(
            softened.ends_with("is not the report on record"),
            "{softened}"
        );
        // The answer stands as it was, and what was decided by it does not.
        let mut flipped = event.clone();
        if let Event::Reviewed { verdicts, .. } = &mut flipped {
            verdicts.positive = false;
        }
        assert!(differs(&flipped, &cited).is_some());
        let mut elsewhere = cited.clone();
        elsewhere.exchange = NAME.replace("FAV", "FAW");
        assert!(differs(&event, &elsewhere).is_some());
    }
}
