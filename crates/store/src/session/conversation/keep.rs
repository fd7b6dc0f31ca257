//! What is kept of a turn: exchange, window and chain, and the line in the record of calls.

use super::call::{Reply, Transport};
use super::start::{Start, corrupt};
use super::turn::{Names, RECAP, Said, Talk};
use crate::session::error::Fault;
use crate::session::event::Batch;
use crate::session::hash::ContentHash;
use crate::session::reference::{Ref, RefKind};
use crate::session::stored::{Entry, Object};
use crate::session::supplier::Answer;
use crate::session::value::{Exchange, Kind};
use serde_json::{Map, Value, json};

impl Talk<'_> {
    /// What is noted before anything is started.
    pub(super) fn about_to(&self, kind: Kind) -> Value {
        json!({
            "supplier": self.supplier.name(),
            "deed": self.deed,
            "kind": kind,
            "on": self.call.on,
            "prior": self.start.prior(),
            "began_at": self.call.at,
            "pid": std::process::id(),
        })
    }

    /// What a turn took and did, for the record of calls.
    pub(super) fn spent(&self, answer: &Answer) -> Map<String, Value> {
        let line = json!({
            "exid": answer.exid,
            "model": answer.model,
            "role": answer.role,
            "workflow": answer.workflow,
            "exit": answer.exit,
            "schema_hash": self.call.schema_text.map(|schema| {
                ContentHash::of("cook/schema/1", &[schema.to_string().as_bytes()])
            }),
            "usage": answer.usage,
            "cost_micro_usd": answer.cost_micro_usd,
            "duration_ms": answer.duration_ms,
            "head_before": answer.head_before,
            "head_after": answer.head_after,
            "commits": answer.commits,
            "changed": answer.changed,
        });
        match line {
            Value::Object(line) => line,
            _ => Map::new(),
        }
    }

    /// Keeps exchange, window and chain, and goes on from them.
    pub(super) fn store_turn(&mut self, names: &Names, said: Said) -> Result<Reply, Fault> {
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
            Some(text) => Some(begun_with(text, &mut objects)),
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
        let line = self.kept_line(kind, transport, names, answer);
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
            output: answer.output.clone(),
            data: None,
            exchange: names.exchange,
            episode: names.episode,
            series: names.series,
            exchange_hash,
            episode_hash,
            series_hash,
            transport,
            recap,
            usage: answer.usage.clone(),
            cost_micro_usd: answer.cost_micro_usd,
            changed: answer.changed.clone(),
            commits: answer.commits.clone(),
            head_before: answer.head_before.clone(),
            head_after: answer.head_after.clone(),
            attempts: 1,
        })
    }

    /// The line of a turn that is kept.
    fn kept_line(&self, kind: Kind, transport: Transport, names: &Names, answer: &Answer) -> Value {
        let mut line = json!({
            "kind": kind,
            "transport": transport,
            "exchange": names.exchange,
            "episode": names.episode,
            "series": names.series,
        });
        if let Some(line) = line.as_object_mut() {
            line.extend(self.spent(answer));
        }
        self.line(&line)
    }

    /// The window that a new one follows, unless it was sealed before, and the chain that
    /// goes on.
    fn seals(&self, begins: bool, series: Option<Ref>) -> Result<Option<(Ref, Ref)>, Fault> {
        let window = self.start.episode.as_ref().filter(|_| begins);
        let Some((window, series)) = window.zip(series) else {
            return Ok(None);
        };
        let sealed = self.store.sealed(window.name)?;
        Ok(sealed.is_none().then_some((window.name, series)))
    }

    /// The chain after this turn, and its length.
    fn series_object(&self, episode: &ContentHash, begins: bool) -> Result<(Object, u64), Fault> {
        let (parent, length) = match self.start.series.as_ref().filter(|_| self.start.grows) {
            None => (None, 1),
            Some(before) if begins => (Some(before.hash.clone()), before.length + 1),
            Some(before) => match self.store.get(&before.hash)? {
                Object::Series { parent, length, .. } => (parent, length),
                _ => return Err(corrupt(before.name)),
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

    pub(super) fn note(&self, what: &Value) -> Result<(), Fault> {
        self.store.record(&self.line(what))
    }

    /// A line of the record of calls.
    fn line(&self, what: &Value) -> Value {
        let mut line = json!({
            "schema_version": 1,
            "at": self.call.at,
            "supplier": self.supplier.name(),
            "deed": self.deed,
            "on": self.call.on,
        });
        if let (Some(line), Some(what)) = (line.as_object_mut(), what.as_object()) {
            line.extend(what.clone());
        }
        line
    }
}

/// A window that begins with a summary: its hash, its length and the bytes said in it.
fn begun_with(recap: &str, objects: &mut Vec<Object>) -> (ContentHash, u64, u64) {
    let first = Object::of_exchange(&Exchange::new(Kind::Recap, RECAP, recap, None));
    let window = Object::Episode {
        parent: None,
        exchange: first.hash(),
        length: 1,
    };
    let hash = window.hash();
    objects.extend([first, window]);
    (hash, 1, (RECAP.len() + recap.len()) as u64)
}
