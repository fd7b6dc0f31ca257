//! What is kept of a turn: exchange, window and chain, and the line in the record of calls.

use super::call::Reply;
use super::start::{Start, no_window};
use super::turn::{Names, RECAP, Said, Talk};
use crate::session::calls::CallRecord;
use crate::session::error::SessionError;
use crate::session::event::Batch;
use crate::session::hash::ContentHash;
use crate::session::reference::{Ref, RefKind};
use crate::session::seed::begin_window;
use crate::session::stored::{Entry, Object};
use crate::session::supplier::Answer;
use crate::session::value::{Exchange, Kind};
use cook_core::diagnostic::{Lines, clean, redact};

/// Characters of a question by which it is known again.
const FIRST: usize = 60;

/// The beginning of what was said, on one line, without secrets.
fn first_words(say: &str) -> String {
    let line = redact(&clean(say, Lines::Fold));
    match line.char_indices().nth(FIRST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl Talk<'_> {
    /// What is noted before anything is started.
    pub(super) fn record_about_to(&self, kind: Kind) -> CallRecord {
        CallRecord {
            kind: Some(kind),
            prior: Some(self.start.prior()),
            began_at: Some(self.call.at.to_owned()),
            pid: Some(std::process::id()),
            ..self.line()
        }
    }

    /// A line of the record of calls.
    pub(super) fn line(&self) -> CallRecord {
        CallRecord {
            supplier: Some(self.supplier.name().to_owned()),
            action: Some(self.action),
            on: self.call.on,
            said: Some(first_words(self.call.say)),
            ..CallRecord::at(self.call.at)
        }
    }

    /// The same with what a turn took and did.
    pub(super) fn record_turn(&self, answer: Answer) -> CallRecord {
        let schema = self.call.schema.map(|schema| schema.value().to_string());
        CallRecord {
            schema_hash: schema.map(|text| ContentHash::of("cook/schema/1", &[text.as_bytes()])),
            answer: Some(answer),
            ..self.line()
        }
    }

    /// Keeps exchange, window and chain, and goes on from them.
    pub(super) fn store_turn(&mut self, names: &Names, said: Said) -> Result<Reply, SessionError> {
        let Said {
            kind,
            say,
            answer,
            recap,
            transport,
        } = said;
        let exchange = Exchange::new(kind, say, answer.output.as_str(), answer.exid.clone());
        let exchange_hash = exchange.hash().clone();
        let mut objects = vec![Object::of_exchange(&exchange)];
        let before = match &recap {
            Some(text) => {
                let (first, window) = begin_window(RECAP, text);
                let before = (window.hash(), 1, (RECAP.len() + text.len()) as u64);
                objects.extend([first, window]);
                Some(before)
            }
            None => self
                .start
                .episode
                .as_ref()
                .map(|entry| (entry.hash.clone(), entry.length, entry.bytes)),
        };
        let (parent, length, bytes) = match before {
            Some((hash, length, bytes)) => (Some(hash), length, bytes),
            None => (None, 0, 0),
        };
        let window = Object::Episode {
            parent,
            exchange: exchange_hash.clone(),
            length: length + 1,
        };
        let episode_hash = window.hash();
        objects.push(window);
        let entry = |name: Ref, hash: &ContentHash, length: u64| Entry {
            schema_version: 1,
            name,
            hash: hash.clone(),
            exid: answer
                .exid
                .clone()
                .filter(|_| name.kind() != RefKind::Series),
            supplier: self.supplier.name().to_owned(),
            series: names.series.filter(|_| name.kind() != RefKind::Series),
            episode: Some(names.episode).filter(|_| name.kind() != RefKind::Episode),
            length,
            bytes: bytes + (say.len() + answer.output.len()) as u64,
            native: answer
                .native
                .clone()
                .filter(|_| name.kind() == RefKind::Episode),
            head: answer.head_after.clone(),
            tree: answer
                .tree_after
                .clone()
                .filter(|_| name.kind() == RefKind::Episode),
            at: self.call.at.to_owned(),
        };
        let episode = entry(names.episode, &episode_hash, length + 1);
        let mut entries = vec![entry(names.exchange, &exchange_hash, 1), episode.clone()];
        let mut series = None;
        if let Some(name) = names.series {
            let (object, length) = self.series_object(&episode_hash, recap.is_some())?;
            series = Some(entry(name, &object.hash(), length));
            entries.extend(series.clone());
            objects.push(object);
        }
        let line = CallRecord {
            kind: Some(kind),
            transport: Some(transport),
            exchange: Some(names.exchange),
            episode: Some(names.episode),
            series: names.series,
            ..self.record_turn(answer.clone())
        };
        self.store.keep(&Batch {
            objects,
            entries,
            sealed: self.seals(recap.is_some(), names.series)?,
            label: None,
            line: Some(line),
        })?;
        let series_hash = series.as_ref().map(|series| series.hash.clone());
        self.start = Start {
            episode: Some(episode),
            grows: series.is_some(),
            series,
        };
        Ok(Reply {
            answer,
            exchange: names.exchange,
            episode: names.episode,
            series: names.series,
            exchange_hash,
            episode_hash,
            series_hash,
            transport,
            recap,
            attempts: 1,
        })
    }

    /// The window that a new one follows, unless it was sealed before, and the chain that
    /// goes on.
    fn seals(&self, begins: bool, series: Option<Ref>) -> Result<Option<(Ref, Ref)>, SessionError> {
        let window = self.start.episode.as_ref().filter(|_| begins);
        let Some((window, series)) = window.zip(series) else {
            return Ok(None);
        };
        let sealed = self.store.find_successor(window.name)?;
        Ok(sealed.is_none().then_some((window.name, series)))
    }

    /// The chain after this turn, and its length.
    fn series_object(
        &self,
        episode: &ContentHash,
        begins: bool,
    ) -> Result<(Object, u64), SessionError> {
        let (parent, length) = match self.start.series.as_ref().filter(|_| self.start.grows) {
            None => (None, 1),
            Some(before) if begins => (Some(before.hash.clone()), before.length + 1),
            Some(before) => match self.store.get(&before.hash)? {
                Object::Series { parent, length, .. } => (parent, length),
                _ => return Err(no_window(before.name)),
            },
        };
        let episode = episode.clone();
        let chain = Object::Series {
            parent,
            episode,
            length,
        };
        Ok((chain, length))
    }
}
