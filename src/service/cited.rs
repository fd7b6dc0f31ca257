//! The exchanges that an event's report was taken from, for the log.

use super::workspace::Workspace;
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::{CitedExchange, Event, Exchanges, Said};
use cook_repo::session::{Exchange, GitStore, Ref, RefKind, load_episode};
use serde_json::Value;

/// Exchanges before the cited one that are kept with it where all are.
const BEFORE: usize = 15;
/// Bytes of all of them; of what is larger the cited one alone is kept.
const LIMIT: usize = 4 * 1024 * 1024;

/// What the log is to keep of the session behind an event. A session that this repository
/// does not know (a report that was handed in by hand) is none.
///
/// # Errors
/// A session store that cannot be read.
pub(super) fn cite(workspace: &Workspace, event: &Event) -> Result<Vec<CitedExchange>, Failure> {
    let name = event
        .submission()
        .and_then(|submission| submission.session.as_deref())
        .and_then(|text| text.parse::<Ref>().ok())
        .filter(|name| name.kind() == RefKind::Exchange);
    let Some(name) = name else {
        return Ok(Vec::new());
    };
    let before = match workspace.config()?.log.exchanges {
        Exchanges::None => return Ok(Vec::new()),
        Exchanges::Cited => 0,
        Exchanges::All => BEFORE,
    };
    let store = GitStore::open(workspace.place())?;
    let Some(entry) = store.entry(name)? else {
        return Ok(Vec::new());
    };
    let episode = match entry.episode {
        Some(episode) => store.entry(episode)?,
        None => None,
    };
    let Some(episode) = episode else {
        return Ok(Vec::new());
    };
    let window = load_episode(&store, &episode.hash, None)?;
    let all = window.exchanges();
    let mut said: Vec<Said> = all[all.len().saturating_sub(before + 1)..]
        .iter()
        .map(quote_exchange)
        .collect();
    let size = |one: &Said| one.input.len() + one.output.len();
    if said.iter().map(size).sum::<usize>() > LIMIT {
        said.drain(..said.len() - 1);
    }
    Ok(vec![CitedExchange {
        exchange: name.to_string(),
        said,
    }])
}

fn quote_exchange(exchange: &Exchange) -> Said {
    let kind = match serde_json::to_value(exchange.kind()) {
        Ok(Value::String(kind)) => kind,
        // A kind is one word.
        _ => String::new(),
    };
    Said {
        hash: exchange.hash().to_string(),
        kind,
        input: exchange.input().to_owned(),
        output: exchange.output().to_owned(),
    }
}
