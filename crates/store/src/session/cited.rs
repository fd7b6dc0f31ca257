//! Exchanges that the log keeps beside a report: whether they are what they are named.

use super::value::{Exchange, Kind};
use cook_core::model::{CitedExchange, Event};
use serde_json::Value;

/// What is wrong with a citation, if anything: not looked at is what its report says.
pub fn wrong_citation(event: &Event, cited: &CitedExchange) -> Option<String> {
    for said in &cited.said {
        let kind = serde_json::from_value::<Kind>(Value::String(said.kind.clone())).ok();
        let hash = kind.map(|kind| {
            Exchange::new(kind, said.input.as_str(), said.output.as_str(), None)
                .hash()
                .to_string()
        });
        if hash.as_ref() != Some(&said.hash) {
            return Some(format!("the exchange {} is another one", said.hash));
        }
    }
    let (Some(_), Some(submission)) = (event.role(), event.submission()) else {
        return Some("it cites a session and no report came with it".to_owned());
    };
    if submission.session.as_deref() != Some(cited.exchange.as_str()) {
        return Some(format!(
            "it cites {}, which it did not come out of",
            cited.exchange
        ));
    }
    cited
        .said
        .is_empty()
        .then(|| format!("{} says nothing", cited.exchange))
}
