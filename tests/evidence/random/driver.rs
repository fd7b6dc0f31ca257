//! Somebody who does what `cook next` asks for, as it stands in the repository; now and then a liar.

use super::draft::{Draft, brief};
use super::world::{By, Kind, SLICES, World};
use crate::support::Run;
use serde_json::Value;

pub enum Went {
    On,
    Done,
    Wrong(String),
}

impl World {
    /// Does what is due.
    pub fn step(&mut self, may_lie: bool) -> Went {
        let due = match self.ask_who() {
            Ok(due) => due,
            Err(why) => return Went::Wrong(why),
        };
        let rule = due["rule"].as_str().unwrap_or_default().to_owned();
        self.ticket = due["ticket"].as_str().unwrap_or_default().to_owned();
        let (action, reason) = (due["action"].to_string(), due["reason"].to_string());
        self.say(format!("-- rule {rule}: {action} {reason}"));
        if may_lie && matches!(&*rule, "2" | "3" | "7" | "9") && self.rng.chance(15) {
            self.lie(&rule, &due);
            return Went::On;
        }
        let result = match &*rule {
            "S" => match self.is_stopped(&due) {
                Ok(true) => return Went::Done,
                Ok(false) => Ok(()),
                Err(why) => Err(why),
            },
            "1" => self.cook(&["init"]),
            "4" => self.implement(&due),
            "5" => {
                self.rejected = self.rng.chance(8);
                let no = self.rejected.then_some("it is not good");
                self.record("reviewer", self.repo.reviewer_report(no))
            }
            "6" => self.record("auditor", self.repo.auditor_report()),
            "8" => self.judge(&due),
            _ => {
                let draft = self.decide(&rule, &due);
                self.settle(draft)
            }
        };
        match result {
            Ok(()) => Went::On,
            Err(why) => Went::Wrong(format!("rule {rule}: {why}")),
        }
    }

    /// Who is due. A transition answers with it, so that `cook next` is asked only after something
    /// else happened, and now and then whether it says the same.
    fn ask_who(&mut self) -> Result<Value, String> {
        let told = self.due.take();
        if let Some(told) = told.as_ref().filter(|_| !self.rng.chance(10)) {
            return Ok(told.clone());
        }
        let run = self.repo.cook(&["next", "--json"]);
        if run.code != 0 {
            return Err(format!("cook next: {}", run.err));
        }
        let due = run.json();
        match told.filter(|told| told["rule"] != due["rule"] || told["action"] != due["action"]) {
            None => Ok(due),
            Some(told) => Err(format!(
                "the transition said {told}, `cook next` says {due}"
            )),
        }
    }

    fn cook(&mut self, words: &[&str]) -> Result<(), String> {
        let words = [words, &["--json"]].concat();
        let run = self.repo.cook(&words);
        self.say(format!("   {} -> {}", run.line, run.code));
        match run.code {
            0 => {
                self.hear(&run);
                Ok(())
            }
            _ => Err(format!("{}: {}{}", run.line, run.out, run.err)),
        }
    }

    /// Keeps what a transition was answered with; its summary.
    pub fn hear(&mut self, run: &Run) -> String {
        self.figures.reports += 1;
        if run.code != 0 {
            self.figures.refused += 1;
            self.due = None;
            return brief(&run.err);
        }
        let answer = run.json();
        self.due = Some(answer["next"].clone()).filter(Value::is_object);
        format!("{} {}", answer["summary"], answer["findings"])
    }

    /// A report of HEAD as it was when `cook` said who is due; an implementer's is of a newer one.
    fn record(&mut self, role: &str, report: String) -> Result<(), String> {
        let (session, ticket) = (format!("session-{}", self.log.len()), self.ticket.clone());
        let mut words = vec![role, "--json", "--session", &session];
        if role != "implementer" {
            words.extend(["--ticket", &ticket]);
        }
        let run = self.repo.record_with(&words, report);
        let said = self.hear(&run);
        self.say(format!("   {role} -> {} {said}", run.code));
        match run.code {
            0 => Ok(()),
            _ => Err(format!("{role}: {}", run.err)),
        }
    }

    /// True when the project is done.
    fn is_stopped(&mut self, due: &Value) -> Result<bool, String> {
        let exit = due["blocking_command"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if due["action"]
            .as_str()
            .is_some_and(|action| action.contains("project is done"))
            && exit.is_empty()
        {
            return Ok(true);
        }
        if exit.starts_with("cook answer") || exit.is_empty() {
            self.cook(&["answer", "yes", "--as-user"])?;
        } else {
            let mut words: Vec<&str> = exit.split_whitespace().skip(1).collect();
            words.push("--as-user");
            self.cook(&words)?;
        }
        Ok(false)
    }

    fn judge(&mut self, due: &Value) -> Result<(), String> {
        if let Some(command) = due["blocking_command"]
            .as_str()
            .filter(|command| command.starts_with("cook"))
        {
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            // It says no as long as votes are missing; what it measured counts.
            let run = self.repo.cook(&words);
            self.say(format!("   {} -> {}", run.line, run.code));
            return Ok(());
        }
        self.record("stop-judge", self.repo.judge_report(None))
    }

    /// Reports the commit that is named, else builds.
    fn implement(&mut self, due: &Value) -> Result<(), String> {
        let id = due["slice_id"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| self.in_work())
            .unwrap_or_default();
        let action = due["action"].as_str().unwrap_or_default();
        let named = action.starts_with("report").then(|| {
            let is_id =
                |word: &&str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            action.split_whitespace().find(is_id).map(str::to_owned)
        });
        if let Some(commit) = named.flatten() {
            match self.report(&id, &commit) {
                Ok(()) => {
                    self.adopt(&id, &commit);
                    return Ok(());
                }
                // It forked off before the basis, holds nothing, or left HEAD.
                Err(why) if why.contains("error[commit_") => {
                    self.count_doubt("a commit that was asked for");
                }
                Err(why) => self.odd.push(format!(
                    "the commit that was asked for is refused: {}",
                    brief(&why)
                )),
            }
        }
        self.build(&id);
        match self.report(&id, &self.head()) {
            // A squash without the trailer took the work, and the basis is after it.
            Err(why) if why.contains("commit_empty") => {
                self.count_doubt("work that is behind the basis");
                self.owes_text.insert(id.clone());
                self.build(&id);
                self.report(&id, &self.head())
            }
            went => went,
        }
    }

    /// A commit that bears the slice's trailer, came after its basis and was reported is the slice's, whoever
    /// made it: it was asked for, and reviewed.
    fn adopt(&mut self, id: &str, commit: &str) {
        let Some(parent) = self.resolve(&format!("{commit}^1")) else {
            return;
        };
        let before = self.read_lines_at(&parent);
        for spot in self.read_lines_at(commit).iter() {
            let is_new = !before.iter().any(|other| other.line == spot.line);
            let line = &mut self.lines[spot.line];
            if is_new && line.by == By::Foreign {
                line.by = By::Slice(id.to_owned());
            }
        }
    }

    fn report(&mut self, id: &str, commit: &str) -> Result<(), String> {
        let report = self.repo.implementer_report(None);
        let head = self.head();
        let report = report.replace(
            &format!("Commit SHA: {head}"),
            &format!("Commit SHA: {commit}"),
        );
        self.record("implementer", report)?;
        let commit = self.resolve(commit).unwrap();
        self.reported.insert(id.to_owned(), commit);
        Ok(())
    }

    /// New commits for a slice.
    fn build(&mut self, id: &str) {
        let by = By::Slice(id.to_owned());
        let kinds: Vec<Kind> = self.criteria[id]
            .iter()
            .map(|(_, kind)| kind.clone())
            .collect();
        for kind in &kinds {
            match kind {
                Kind::Lib(slot) => self.write_at(slot, &by),
                Kind::File(path) => self.write_own(id, path),
                Kind::Gone(path) => {
                    if self.paths().contains(path) {
                        self.git(&["rm", "-q", path]);
                    }
                }
                Kind::GoneLine(slot) => {
                    for spot in self.at_slot(slot).into_iter().take(1) {
                        self.put(&spot, &[]);
                    }
                }
                Kind::Entry(path) => {
                    self.count += 1;
                    self.repo
                        .write(path, format!("\0{} of slice {id}\n", self.count));
                    let blob = self.hash_blob(path);
                    self.blobs.insert(blob, by.clone());
                }
            }
            if self.rng.chance(25) {
                self.commit(&format!("Work on {id}"), Some(id));
            }
        }
        if self.owes_text.remove(id) {
            for _ in &kinds {
                self.write_own(id, &format!("own-{id}.txt"));
            }
        }
        if self.rng.chance(15) {
            let slot = format!("lib-{}", self.rng.below(super::world::SLOTS));
            self.write_at(&slot, &by);
        }
        let head = self.commit(&format!("Work on {id}"), Some(id));
        self.say(format!(
            "   built {id} up to {}, lines up to {}",
            &head[..8],
            self.lines.len()
        ));
    }

    fn write_at(&mut self, slot: &str, by: &By) {
        let mut with = vec![self.line(slot, by.clone())];
        if self.rng.chance(30) {
            with.push(self.line(slot, by.clone()));
        }
        match self.at_slot(slot).first() {
            Some(spot) => self.put(spot, &with),
            None => {
                let path = self.library().unwrap_or_else(|| "lib.txt".to_owned());
                let there = self.read(&path);
                self.repo.write(&path, there + &with.join("\n") + "\n");
            }
        }
    }

    fn write_own(&mut self, id: &str, path: &str) {
        let (slot, by) = (format!("own-{id}"), By::Slice(id.to_owned()));
        let spots = self.at_slot(&slot);
        match self.rng.pick(&spots).filter(|_| self.rng.chance(50)) {
            Some(spot) => {
                let with = [self.line(&slot, by)];
                self.put(&spot, &with);
            }
            None => {
                let there = self.read(path);
                let lines: Vec<String> = (0..3)
                    .map(|_| self.line(&slot, by.clone()) + "\n")
                    .collect();
                self.repo.write(path, there + &lines.concat());
            }
        }
    }

    fn decide(&mut self, rule: &str, due: &Value) -> Draft {
        let mut draft = Draft::default();
        let findings = due["findings"].as_array().cloned().unwrap_or_default();
        for finding in findings
            .iter()
            .filter(|finding| finding["code"] == "unanswered_no")
        {
            draft
                .answers
                .extend(finding["place"].as_str().map(str::to_owned));
        }
        match rule {
            "7" => {
                let id = self.in_work().unwrap_or_default();
                let proofs = self.proofs(&id).filter(|_| !self.rejected);
                match proofs {
                    Some(proofs) => {
                        draft.evidence = proofs
                            .into_iter()
                            .map(|(criterion, anchor)| ((id.clone(), criterion), anchor))
                            .collect();
                        draft.accept = Some(id);
                    }
                    None => {
                        self.owes_text.insert(id.clone());
                        draft.send_back = Some(id);
                    }
                }
            }
            "9" => draft.stop = true,
            _ if self.rng.chance(6) => {
                draft.ask = Some(format!("is this wanted? ({})", self.figures.reports));
            }
            "3" => {
                let open: Vec<String> = self
                    .statuses()
                    .into_iter()
                    .filter(|(_, status)| status == "planned")
                    .map(|(id, _)| id)
                    .collect();
                draft.select = self.rng.pick(&open);
            }
            _ => {}
        }
        draft
    }

    /// A report that claims what does not hold.
    fn lie(&mut self, rule: &str, due: &Value) {
        let mut draft = self.decide(rule, due);
        let honest = std::mem::take(&mut draft.evidence);
        draft.send_back = None;
        let (now, files) = (self.lines_now(), self.list_files_at("HEAD"));
        let statuses = self.statuses();
        let mut lies = Vec::new();
        let ids: Vec<&str> = match rule {
            "7" => self
                .in_work()
                .into_iter()
                .filter_map(|id| SLICES.into_iter().find(|known| *known == id))
                .collect(),
            _ => SLICES
                .into_iter()
                .filter(|id| statuses[*id] == "done")
                .collect(),
        };
        draft.accept = (rule == "7").then(|| ids.first().unwrap_or(&"a").to_string());
        for id in ids {
            let work = match rule {
                "7" => self.work_now(id),
                _ => self.accepted.get(id).cloned().unwrap_or_default(),
            };
            for (criterion, _) in self.criteria[id].clone() {
                let mut anchors: Vec<String> = now.iter().map(|spot| spot.anchor()).collect();
                for other in SLICES {
                    anchors.push(format!("gone:drop-{other}.txt"));
                    anchors.push(format!("entry:bin-{other}.bin"));
                }
                anchors.retain(|anchor| {
                    let is_wrong = self.wrong(id, &work, anchor, &now, &files).is_some();
                    is_wrong && !self.is_reshaped(anchor, &now)
                });
                let key = (id.to_owned(), criterion.clone());
                match self.rng.pick(&anchors).filter(|_| self.rng.chance(70)) {
                    Some(anchor) => {
                        lies.push((id.to_owned(), criterion, anchor.clone()));
                        draft.evidence.insert(key, anchor);
                    }
                    None => draft
                        .evidence
                        .extend(honest.get(&key).map(|anchor| (key.clone(), anchor.clone()))),
                }
            }
        }
        if lies.is_empty() {
            return;
        }
        let accepts = draft
            .accept
            .clone()
            .map(|id| (id.clone(), self.work_now(&id)));
        self.say(format!("   lies: {lies:?}"));
        self.figures.lies += lies.len();
        if self.hand_in(&draft).code != 0 {
            self.figures.lies_refused += lies.len();
            return;
        }
        let statuses = self.statuses();
        if let Some((id, work)) = accepts.filter(|(id, _)| statuses[id] == "done") {
            self.accepted.insert(id, work);
        }
        for (id, criterion, anchor) in lies {
            if statuses[&id] == "done"
                && self.find_stored(&id, &criterion).as_deref() == Some(&anchor)
            {
                self.odd
                    .push(format!("a lie is taken: {criterion} at {anchor}"));
            } else {
                self.figures.lies_refused += 1;
            }
        }
    }
}
