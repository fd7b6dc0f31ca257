//! A library of shell functions, one for each criterion, and the tests that ask them. Nothing here asks cook.

use super::Figures;
use super::oracle::Accepted;
use crate::support::{Repo, Run, reports, run_alone};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const SLICES: [&str; 3] = ["a", "b", "c"];

/// Loads whatever functions there are.
const LOAD: &str =
    "for file in code/*.sh code/*/*.sh; do\n  if [ -e \"$file\" ]; then . \"./$file\"; fi\ndone\n";
/// Runs each file of tests, and prints TAP.
pub const RUN: &str = "#!/bin/sh\nn=0\nfor file in tests/*.sh tests/*/*.sh; do\n  [ -e \"$file\" ] || continue\n  n=$((n + 1))\n  name=$(basename \"$file\" .sh)\n  if sh \"$file\"; then echo \"ok $n - $name\"; else echo \"not ok $n - $name\"; bad=1; fi\ndone\necho \"1..$n\"\nexit \"${bad:-0}\"\n";
/// Makes functions, tests and runner what they shall be: a name, what it says and its test, again and again.
const MEND: &str = r#"
says() { sh -c '. ./lib.sh; "$@"' sh "$@"; }
plain() { tr -d ' \t\n'; }
want() {
  for file in tests/*.sh tests/*/*.sh; do
    if [ -e "$file" ] && [ "$(plain < "$file")" = "$(printf %s "$2" | plain)" ]; then return; fi
  done
  rm -f tests/$1.sh tests/*/$1.sh; mkdir -p tests; printf %s "$2" > tests/$1.sh
}
printf %s "$run" > run.sh
[ "$(says add 1 2)" = 3 ] || { rm -rf code; git checkout -q "$base" -- code; }
want add '. ./lib.sh
[ "$(add 1 2)" = 3 ]
'
while [ $# -gt 0 ]; do
  if [ "$(says $1)" != "$2" ]; then
    perl -0pi -e "s/$1\(\)\s*\{.*?\}\n//s" $(git ls-files -co code)
    printf '%s() {\n  echo "%s"\n}\n' $1 $2 >> code/${1%?}.sh
  fi
  [ -z "$3" ] || want $1 "$3"
  shift 3
done
ls tests/*.sh tests/*/*.sh | awk -F/ 'seen[$NF]++' | xargs rm -f
sh run.sh | sed -n 's/^not ok .* - //p' | while read name; do rm -f tests/$name.sh tests/*/$name.sh; done
rm -f $gone
"#;
pub const GATE: &str = "sh run.sh";

/// Numbers from a seed (splitmix64).
pub struct Rng(u64);

impl Rng {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        let at = self.below(all.len());
        all.get(at).cloned()
    }
}

/// How a criterion is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By a test of the function.
    Test,
    /// By a line that its test prints.
    Line,
    /// By its text.
    Text,
    /// By a file that is gone.
    Gone,
}

pub struct World {
    pub repo: Repo,
    pub rng: Rng,
    /// The commit that no history goes behind.
    pub base: String,
    /// Names begin with their slice's.
    pub criteria: BTreeMap<String, Kind>,
    /// What each function that was built shall say.
    pub values: BTreeMap<String, String>,
    pub accepted: BTreeMap<String, Accepted>,
    /// Who is due, where it is known.
    pub due: Option<Value>,
    /// What cook gave with that.
    pub ticket: String,
    /// The commit that was reported last.
    pub reported: String,
    /// What the commits of that report say: an amend may take it away after its review.
    pub said: String,
    pub count: usize,
    pub log: Vec<String>,
    pub wrong: Vec<String>,
    pub figures: Figures,
}

pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_end_matches(".sh")
}

impl World {
    pub fn begin(seed: u64) -> Self {
        let repo = Repo::stage("histories", || {
            let repo = Repo::new();
            repo.write("lib.sh", LOAD);
            repo.write("code/add.sh", "add() {\n  echo $(($1 + $2))\n}\n");
            repo.write("tests/add.sh", ". ./lib.sh\n[ \"$(add 1 2)\" = 3 ]\n");
            repo.write("run.sh", RUN);
            repo.write(
                "notes.md",
                "# Notes\n\nOne word.\n\nAnother word.\n\nA third word.\n",
            );
            for id in SLICES {
                repo.write(&format!("old/{id}.txt"), format!("what {id} takes away\n"));
            }
            let profile = json!({"schema_version": 1, "protocol_id": "completion", "project_name": "p",
                "required_stop_judges": 1, "priority_policy_id": "completion-default", "docs_surfaces": []});
            repo.write(".agent/profile.json", profile.to_string() + "\n");
            let limits = "[limits]\nsteps = 100000\nattempts_per_slice = 100000\n\n";
            let gate = format!("[gates.test]\nrun = \"{GATE}\"\ntimeout = \"20s\"\n");
            repo.write(".agent/cook.toml", format!("{limits}{gate}"));
            repo.commit("The library", None);
            repo.init_strictly("Extend the library").ok();
            repo.trust("--gates");
            repo
        });
        let mut world = Self {
            base: repo.head(),
            repo,
            rng: Rng(seed),
            criteria: BTreeMap::new(),
            values: BTreeMap::new(),
            accepted: BTreeMap::new(),
            reported: String::new(),
            said: String::new(),
            due: None,
            ticket: String::new(),
            count: 0,
            log: Vec::new(),
            wrong: Vec::new(),
            figures: BTreeMap::from([("histories".to_owned(), 1)]),
        };
        world.plan();
        world
    }

    fn plan(&mut self) {
        let mut slices = Vec::new();
        for id in SLICES {
            let first = [Kind::Test, Kind::Test, Kind::Line, Kind::Text];
            let mut kinds = vec![self.rng.pick(&first).unwrap()];
            for kind in [Kind::Test, Kind::Text, Kind::Line, Kind::Gone] {
                if self.rng.chance(25) {
                    kinds.push(kind);
                }
            }
            let names: Vec<String> = (0..kinds.len()).map(|at| format!("{id}{at}")).collect();
            self.log.push(format!("slice {id}: {kinds:?}"));
            self.criteria.extend(names.iter().cloned().zip(kinds));
            let mut slice = reports::slice(id);
            slice["acceptance_criteria"] = json!(names);
            slice["implementation_surfaces"] = json!([]);
            slices.push(slice);
        }
        let block = json!({"plan": reports::plan(&slices)});
        self.repo.hand_in_reground(&block);
    }

    pub fn say(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }

    pub fn note(&mut self, what: impl Into<String>) {
        *self.figures.entry(what.into()).or_default() += 1;
    }

    pub fn git(&self, words: &[&str]) -> String {
        self.repo.git(words)
    }

    pub fn try_git(&self, words: &[&str]) -> Run {
        run_alone(self.repo.command("git").args(words))
    }

    /// That shell script in the worktree.
    pub fn shell(&self, script: &str, words: &[&str]) -> Run {
        let mut command = self.repo.command("sh");
        run_alone(command.args(["-c", script, "sh"]).args(words))
    }

    pub fn names_of(&self, id: &str) -> Vec<String> {
        let names = self.criteria.keys();
        names.filter(|name| name.starts_with(id)).cloned().collect()
    }

    pub fn status(&self, id: &str) -> String {
        let plan = self.repo.document("plan.json");
        let slices = plan["candidate_slices"].as_array().unwrap();
        let named = slices.iter().find(|slice| slice["slice_id"] == id);
        named
            .map_or(&Value::Null, |slice| &slice["status"])
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The slice of a criterion is done.
    pub fn is_done(&self, name: &str) -> bool {
        self.status(&name[..1]) == "done"
    }

    /// Files of the worktree below a directory.
    pub fn list(&self, below: &str) -> Vec<String> {
        let listed = self.git(&["ls-files", "-co", "--exclude-standard", below]);
        let there = |path: &&str| self.repo.root.join(path).is_file();
        listed.lines().filter(there).map(str::to_owned).collect()
    }

    pub fn find_gone_path(name: &str) -> String {
        format!("old/{}.txt", &name[..1])
    }

    pub fn test_text(&self, name: &str) -> String {
        let value = &self.values[name];
        let says = match self.criteria[name] {
            Kind::Line => format!("echo \"{name} says $({name})\"\n"),
            _ => String::new(),
        };
        format!(". ./lib.sh\n{says}[ \"$({name})\" = {value} ]\n")
    }

    /// A new value for a function.
    pub fn renew(&mut self, name: &str) {
        self.count += 1;
        let value = format!("{name}-{:05}", self.count);
        self.values.insert(name.to_owned(), value);
    }

    /// Makes code, tests and runner what the slices built so far ask for, and leaves the rest alone.
    pub fn mend(&self) {
        let (mut words, mut gone) = (Vec::new(), String::new());
        for (name, value) in &self.values {
            match self.criteria[name] {
                Kind::Gone => gone += &Self::find_gone_path(name),
                Kind::Text => words.extend([name.clone(), value.clone(), String::new()]),
                _ => words.extend([name.clone(), value.clone(), self.test_text(name)]),
            }
            gone.push(' ');
        }
        let mut command = self.repo.command("sh");
        let command = command.args(["-c", MEND, "sh"]).args(words);
        run_alone(command.envs([("base", &*self.base), ("gone", &gone), ("run", RUN)]));
        let gate = self.gate();
        assert_eq!(gate.code, 0, "{gate:?}\n{}", self.log.join("\n"));
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.repo.root.join(path)).unwrap_or_default()
    }

    pub fn gate(&self) -> Run {
        self.shell(GATE, &[])
    }

    /// An anchor that proves a criterion at HEAD, as its kind asks.
    pub fn find_proof(&self, name: &str) -> Option<String> {
        let value = self.values.get(name)?;
        match self.criteria[name] {
            Kind::Gone => {
                let path = Self::find_gone_path(name);
                (!self.repo.root.join(&path).exists()).then(|| format!("gone:{path}"))
            }
            Kind::Text => {
                let wanted = squeeze(&format!("echo \"{value}\""));
                self.list("code").into_iter().find_map(|path| {
                    let text = self.read(&path);
                    let at = text.lines().position(|line| squeeze(line) == wanted)?;
                    Some(format!("{path}:{}", at + 1))
                })
            }
            Kind::Line => {
                let (run, line) = (self.gate(), format!("{name} says {value}"));
                let is_said = run.code == 0 && run.out.lines().any(|said| said == line);
                is_said.then(|| format!("cmd:{GATE}#{line}"))
            }
            Kind::Test => {
                let tests = self.list("tests");
                let wanted = squeeze(&self.test_text(name));
                let path = tests
                    .iter()
                    .find(|path| squeeze(&self.read(path)) == wanted)?;
                let alike = tests
                    .iter()
                    .filter(|other| stem(other) == stem(path))
                    .count();
                (self.gate().code == 0 && alike == 1).then(|| format!("test:{}", stem(path)))
            }
        }
    }

    pub fn is_commit(&self, id: &str) -> bool {
        !id.is_empty() && self.try_git(&["cat-file", "-e", id]).code == 0
    }

    /// It did not hold at the basis.
    pub fn is_new(&self, name: &str, basis: &str) -> bool {
        match self.criteria[name] {
            Kind::Gone => self.is_commit(&format!("{basis}:{}", Self::find_gone_path(name))),
            // Where it was reported before it was built, there is nothing to be new.
            _ => self.values.get(name).is_some_and(|value| {
                let found = self.try_git(&["grep", "-qF", value, basis, "--", "code"]);
                found.code == 1
            }),
        }
    }
}
