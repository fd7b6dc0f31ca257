//! What happens to a history between two reports.

use super::world::{By, SLICES, World};
use std::cell::OnceCell;

/// How often it comes up, its name, what it does.
type Event = (usize, &'static str, fn(&mut World));

/// Each kind of event.
pub const EVENTS: [Event; 20] = [
    (4, "amend", World::amend),
    (8, "rebase", World::rebase),
    (5, "squash", World::squash),
    (4, "commit left out", World::leave_out),
    (8, "formatter", World::format),
    (6, "rename", World::rename),
    (6, "move", World::shift),
    (10, "rewrite", World::rewrite),
    (6, "merge", World::merge_in),
    (5, "merge into another", World::merge_out),
    (10, "revert", World::revert),
    (8, "revert of a revert", World::revert_a_revert),
    (6, "reset", World::reset),
    (4, "put back", World::put_back),
    (4, "binary", World::change_entry),
    (4, "deletion", World::delete),
    (2, "pruned", World::collect),
    (3, "many rewrites", World::overwrite_all),
    (2, "amend with text", World::amend_text),
    (2, "text made binary", World::make_binary),
];

impl World {
    /// That event, or one by chance.
    pub fn event(&mut self, number: Option<usize>) {
        let (before, first) = (self.head(), self.lines.len());
        let (_, name, event) = match number {
            Some(number) => EVENTS[number % EVENTS.len()],
            None => self.any_event(),
        };
        self.due = None;
        event(self);
        let (head, lines) = (self.head(), self.lines.len());
        self.say(format!(
            "   {} -> {}, lines {first}..{lines}",
            &before[..8],
            &head[..8]
        ));
        if before != head || name == "pruned" {
            *self.figures.events.entry(name).or_default() += 1;
        }
        assert_eq!(
            self.git(&["--no-optional-locks", "status", "--porcelain"]),
            "",
            "{:#?}",
            self.log
        );
    }

    fn any_event(&mut self) -> Event {
        let sum: usize = EVENTS.iter().map(|(weight, ..)| weight).sum();
        let mut at = self.rng.below(sum);
        let chosen = EVENTS.iter().find(|(weight, ..)| {
            let is_it = at < *weight;
            at = at.saturating_sub(*weight);
            is_it
        });
        *chosen.unwrap()
    }

    fn amend(&mut self) {
        self.count += 1;
        let trailer = match self.rng.chance(50) {
            true => self.git(&["log", "-1", "--format=%(trailers)"]),
            false => String::new(),
        };
        let message = format!("Amended ({})\n\n{trailer}", self.count);
        if self.head() != self.base {
            self.git(&["commit", "-q", "--allow-empty", "--amend", "-m", &message]);
        }
        self.say(format!("amend, trailer {trailer:?}"));
    }

    fn amend_text(&mut self) {
        if self.head() == self.base || !self.rewrite_one() {
            return self.say("nothing to amend");
        }
        let parent = self.resolve("HEAD~1").unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--amend", "--no-edit"]);
        self.follow_trailer(&parent);
        self.say("amend with another text");
    }

    /// What somebody put into a commit that bears the trailer of the slice in work is the slice's.
    fn follow_trailer(&mut self, parent: &str) {
        let words = ["log", "-1", "--format=%(trailers:key=Cook-Slice,valueonly)"];
        let named = self.git(&words).trim().to_owned();
        if self.in_work() != Some(named.clone()) {
            return;
        }
        let before: Vec<usize> = self
            .read_lines_at(parent)
            .iter()
            .map(|spot| spot.line)
            .collect();
        for spot in self.read_lines_at("HEAD").iter() {
            let line = &mut self.lines[spot.line];
            if line.by == By::Foreign && !before.contains(&spot.line) {
                line.by = By::Slice(named.clone());
            }
        }
    }

    /// A commit of somebody's on an older one; what came after it goes on top.
    fn move_base(&mut self) -> (String, String) {
        let all = self.ancestors();
        let old = self.rng.pick(&all).unwrap();
        self.git(&["checkout", "-q", "-B", "upstream", &old]);
        match self.rng.chance(60) {
            true => {
                self.rewrite_one();
            }
            false => {
                let text = self.line("upstream", By::Foreign);
                self.repo
                    .write(&format!("up-{}.txt", self.count), text + "\n");
            }
        }
        let new = self.commit("Upstream", None);
        self.git(&["checkout", "-q", "main"]);
        (old, new)
    }

    fn rebase(&mut self) {
        let (old, new) = self.move_base();
        let side = self.side();
        let run = self.try_git(&["rebase", "-q", "-X", side, "--onto", &new, &old, "main"]);
        if run.code != 0 {
            self.try_git(&["rebase", "--abort"]);
        }
        self.say(format!(
            "rebase -X {side} from {} onto {}: {}",
            &old[..8],
            &new[..8],
            run.code
        ));
    }

    fn side(&mut self) -> &'static str {
        match self.rng.chance(50) {
            true => "ours",
            false => "theirs",
        }
    }

    fn squash(&mut self) {
        let all = self.ancestors();
        let old = self.rng.pick(&all).unwrap();
        let slice = self.rng.chance(30).then(|| self.rng.pick(&SLICES).unwrap());
        self.git(&["reset", "-q", "--soft", &old]);
        self.commit("All of it", slice);
        self.follow_trailer(&old);
        self.say(format!("squash down to {}, trailer {slice:?}", &old[..8]));
    }

    fn leave_out(&mut self) {
        let all = self.ancestors();
        let Some(out) = self.rng.pick(&all[..all.len() - 1]) else {
            return self.say("nothing to leave out");
        };
        let side = self.side();
        let run = self.try_git(&[
            "rebase",
            "-q",
            "-X",
            side,
            "--onto",
            &format!("{out}~1"),
            &out,
            "main",
        ]);
        if run.code != 0 {
            self.try_git(&["rebase", "--abort"]);
        }
        self.say(format!("leave {} out -X {side}: {}", &out[..8], run.code));
    }

    fn colleague(&mut self) -> String {
        let all = self.ancestors();
        let from = self.rng.pick(&all).unwrap();
        self.git(&["checkout", "-q", "-B", "colleague", &from]);
        let slice = self.rng.chance(40).then(|| self.rng.pick(&SLICES).unwrap());
        match self.rng.chance(60) {
            true => {
                self.rewrite_one();
            }
            false => {
                let text = self.line("colleague", By::Foreign);
                self.repo
                    .write(&format!("col-{}.txt", self.count), text + "\n");
            }
        }
        self.commit("Colleague", slice);
        self.git(&["checkout", "-q", "main"]);
        format!(
            "a colleague's branch from {}, trailer {slice:?}",
            &from[..8]
        )
    }

    fn merge_in(&mut self) {
        let branch = self.colleague();
        let side = self.side();
        self.count += 1;
        let message = format!("Merge ({})", self.count);
        let run = self.try_git(&[
            "merge",
            "-q",
            "--no-ff",
            "-X",
            side,
            "-m",
            &message,
            "colleague",
        ]);
        if run.code != 0 {
            self.try_git(&["merge", "--abort"]);
        }
        self.say(format!("merge {branch} into main -X {side}: {}", run.code));
    }

    fn merge_out(&mut self) {
        let branch = self.colleague();
        let side = self.side();
        self.count += 1;
        let message = format!("Merge ({})", self.count);
        self.git(&["checkout", "-q", "colleague"]);
        let run = self.try_git(&["merge", "-q", "--no-ff", "-X", side, "-m", &message, "main"]);
        if run.code != 0 {
            self.try_git(&["merge", "--abort"]);
            self.git(&["checkout", "-q", "main"]);
        } else {
            self.git(&["checkout", "-q", "-B", "main"]);
        }
        self.say(format!("merge main into {branch} -X {side}: {}", run.code));
    }

    fn undo(&mut self, commit: &str) -> i32 {
        let mut run = self.try_git(&["revert", "--no-edit", commit]);
        if run.code != 0 {
            self.try_git(&["revert", "--abort"]);
            run = self.try_git(&["revert", "--no-edit", "-X", "theirs", commit]);
        }
        if run.code != 0 {
            self.try_git(&["revert", "--abort"]);
            self.try_git(&["reset", "-q", "--hard"]);
        }
        run.code
    }

    fn revert(&mut self) {
        let works = self.subjects(|subject| subject.starts_with("Work on"));
        let Some(commit) = self.rng.pick(&works) else {
            return self.say("nothing to revert");
        };
        let code = self.undo(&commit);
        self.say(format!("revert {}: {code}", &commit[..8]));
    }

    fn revert_a_revert(&mut self) {
        let reverts = self.subjects(|subject| subject.starts_with("Revert \"Work"));
        let Some(commit) = self.rng.pick(&reverts) else {
            return self.revert();
        };
        let code = self.undo(&commit);
        self.say(format!("revert the revert {}: {code}", &commit[..8]));
    }

    fn reset(&mut self) {
        let all = self.ancestors();
        let near = all.len().min(4);
        let to = self.rng.pick(&all[..near]).unwrap();
        self.git(&["reset", "-q", "--hard", &to]);
        self.say(format!("reset to {}", &to[..8]));
    }

    fn collect(&mut self) {
        for branch in ["upstream", "colleague"] {
            self.try_git(&["branch", "-q", "-D", branch]);
        }
        self.git(&["reflog", "expire", "--expire=now", "--all"]);
        self.git(&["gc", "-q", "--prune=now"]);
        // What was read before may be remembered.
        self.store = OnceCell::new();
        self.say("collect garbage");
    }
}
