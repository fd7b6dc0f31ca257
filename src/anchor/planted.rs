//! A test that cannot be loaded on the code of the basis: whether it notices a defect in the slice's code. It would
//! be without a result there whatever it asks.

use super::sources::{Sources, recall};
use super::tests::{Said, find_test};
use crate::trial;
use cook_mutants::{Class, Edited, classify_texts, plant, with_comment};
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::GateSpec;
use cook_repo::git::{Edit, Put};
use cook_repo::receipt::Gates;
use std::collections::BTreeMap;

/// Defects that are tried, each by one run of the gate that all claims of a slice share.
const MOST: usize = 8;

impl Sources<'_> {
    /// Whether the test is green with comments in the slice's code, and red with a defect in it; and what was
    /// seen.
    pub(super) fn notices_defect(
        &self,
        runner: &Gates,
        gate: &GateSpec,
        name: &str,
        (basis, head): (&str, &str),
    ) -> Result<(bool, String), Failure> {
        let edits = self.repo.edits(basis, head)?;
        let sources = list_sources(&edits, &gate.run);
        let planted = plant(&sources, head, MOST).mutants;
        if planted.is_empty() {
            return Ok((true, "no defect can be planted in the slice's code".into()));
        }
        let commented = sources.iter().filter_map(|edit| {
            let text = with_comment(edit.path, edit.after?)?;
            Some((edit.path.to_owned(), text))
        });
        let with = |files: Vec<(String, String)>| self.try_with(runner, gate, name, head, files);
        if !matches!(with(commented.collect())?, Said::Green(_)) {
            let why = "it is not green where only comments are added to the slice's code";
            return Ok((false, why.to_owned()));
        }
        let tried = planted.len();
        for defect in planted {
            let place = format!("{}:{}", defect.path, defect.line);
            if let Said::Red(_) = with(vec![(defect.path, defect.text)])? {
                return Ok((true, format!("it notices a defect planted in {place}")));
            }
        }
        let why = format!("it notices none of {tried} defects planted in the slice's code");
        Ok((false, why))
    }

    /// What a test says where these files hold other texts.
    fn try_with(
        &self,
        runner: &Gates,
        gate: &GateSpec,
        name: &str,
        head: &str,
        files: Vec<(String, String)>,
    ) -> Result<Said, Failure> {
        let modes = recall(&self.files, head.to_owned(), || self.repo.files(head))?;
        let puts: BTreeMap<String, Put> = files
            .into_iter()
            .filter_map(|(path, text)| {
                let mode = modes.get(&path)?.mode.clone();
                Some((path, Put::Text { mode, text }))
            })
            .collect();
        let commit = self.repo.make_mixed(head, &puts)?;
        let key = (gate.run.clone(), commit.clone());
        let told = recall(&self.on_other_code, key, || {
            Ok(Some(trial::run_at(runner, &commit, gate)?.into()))
        })?;
        Ok(match &*told {
            Some(told) => find_test(&told.outcomes, name),
            None => Said::Nothing,
        })
    }
}

fn list_sources<'e>(edits: &'e [Edit], command: &str) -> Vec<Edited<'e>> {
    let commands = [command.to_owned()];
    let read = edits.iter().filter_map(|edit| {
        let (before, after) = edit.texts.as_ref()?;
        let (before, after) = (before.as_deref(), after.as_deref());
        let path = edit.change.path.as_str();
        Some(Edited {
            path,
            class: classify_texts(path, &commands, [before, after]),
            before,
            after,
        })
    });
    read.filter(|edit| edit.class == Class::Source).collect()
}
