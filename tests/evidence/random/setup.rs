//! Where each history begins: a library, and three slices that are planned.

use super::figures::Figures;
use super::world::{By, Kind, Rng, SLICES, SLOTS, World};
use crate::support::Repo;
use serde_json::{Value, json};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

impl World {
    pub fn begin(seed: u64) -> Self {
        let mut world = Self {
            repo: Repo::directory(),
            rng: Rng(seed),
            lines: Vec::new(),
            blobs: BTreeMap::new(),
            criteria: BTreeMap::new(),
            accepted: BTreeMap::new(),
            base: String::new(),
            log: Vec::new(),
            odd: Vec::new(),
            unexplained: Vec::new(),
            rejected: false,
            is_done: false,
            reported: BTreeMap::new(),
            reported_as_foreign: BTreeSet::new(),
            owes_text: BTreeSet::new(),
            count: 0,
            due: None,
            given_up: BTreeSet::new(),
            ticket: String::new(),
            figures: Figures::default(),
            store: OnceCell::new(),
            seen: RefCell::default(),
        };
        let files = world.base_files();
        let stage = Repo::stage("histories", || {
            let repo = Repo::new();
            for (path, text) in &files {
                repo.write(path, text);
            }
            let profile = json!({"schema_version": 1, "protocol_id": "completion", "project_name": "p",
                "required_stop_judges": 1, "priority_policy_id": "completion-default", "docs_surfaces": []});
            repo.write(".agent/profile.json", profile.to_string() + "\n");
            repo.write(
                ".agent/cook.toml",
                "[limits]\nsteps = 100000\nattempts_per_slice = 100000\n",
            );
            repo.commit("The library", None);
            repo.cook(&["init", "--mission", "Extend the library", "--commit"])
                .ok();
            repo
        });
        world.repo = stage;
        world.base = world.head();
        for id in SLICES {
            let kinds = world.kinds(id);
            world.criteria.insert(id.to_owned(), kinds);
        }
        for (path, blob) in world.list_files_at("HEAD") {
            if path.ends_with(".bin") {
                world.blobs.insert(blob, By::Base);
            }
        }
        world.plan();
        world
    }

    fn base_files(&mut self) -> Vec<(String, Vec<u8>)> {
        let mut library = String::new();
        let mut files = Vec::new();
        let add = |world: &mut Self, text: &mut String, slot: &str| {
            text.push_str(&world.line(slot, By::Base));
            text.push('\n');
        };
        for number in 0..SLOTS {
            add(self, &mut library, &format!("between-{number}"));
            add(self, &mut library, &format!("lib-{number}"));
        }
        for id in SLICES {
            add(self, &mut library, &format!("between-{id}"));
            add(self, &mut library, &format!("line-{id}"));
            let mut drop = String::new();
            add(self, &mut drop, &format!("drop-{id}"));
            add(self, &mut drop, &format!("drop-{id}"));
            files.push((format!("drop-{id}.txt"), drop.into_bytes()));
        }
        add(self, &mut library, "between-end");
        files.push(("lib.txt".to_owned(), library.into_bytes()));
        files.push(("bin-b.bin".to_owned(), b"\0at the basis\n".to_vec()));
        files
    }

    fn kinds(&mut self, id: &str) -> Vec<(String, Kind)> {
        let slot = format!("lib-{}", self.rng.below(SLOTS));
        let all = [
            Kind::Lib(slot),
            Kind::File(format!("own-{id}.txt")),
            Kind::Gone(format!("drop-{id}.txt")),
            Kind::GoneLine(format!("line-{id}")),
            Kind::Entry(format!("bin-{id}.bin")),
        ];
        let mut kinds: Vec<Kind> = Vec::new();
        for (at, kind) in all.into_iter().enumerate() {
            let percent = [70, 40, 30, 25, 25][at];
            if self.rng.chance(percent) && kinds.len() < 3 {
                kinds.push(kind);
            }
        }
        if kinds.is_empty() {
            kinds.push(Kind::Lib(format!("lib-{}", self.rng.below(SLOTS))));
        }
        let named = kinds.into_iter().enumerate();
        named
            .map(|(at, kind)| (format!("{id} meets {at}"), kind))
            .collect()
    }

    fn plan(&mut self) {
        let slices: Vec<Value> = self.criteria.iter().map(|(id, criteria)| {
            let criteria: Vec<&String> = criteria.iter().map(|(name, _)| name).collect();
            json!({"slice_id": id, "goal": format!("make {id} work"), "acceptance_criteria": criteria,
                "contract_ids": [format!("C-{id}")], "priority": 5, "why_now": "it is first in order",
                "implementation_surfaces": []})
        }).collect();
        for (id, criteria) in &self.criteria {
            self.log.push(format!("slice {id}: {criteria:?}"));
        }
        let block = json!({"plan": {"plan_basis": "the repository", "candidate_slices": slices}});
        self.repo.hand_in_reground(&block);
    }
}
