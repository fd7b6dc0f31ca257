//! One seed: `cook run` until the work is done, killed at moments that the seed draws, with
//! every promise looked at after each end of it.

use crate::draw::Draw;
use crate::kind::BEHAVES;
use crate::place::{Answer, Place};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Starts of cook that a seed may need.
const ROUNDS: usize = 40;
/// Kills in one seed at most.
const KILLS: usize = 5;
/// Starts in a hundred that are killed while kills are left.
const KILLED: u64 = 85;
/// Latest moment of a kill, in milliseconds.
const LATEST: u64 = 2500;
/// Longest time that one `cook run` may take.
const STUCK: Duration = Duration::from_secs(120);
/// Draws of this number decide on kills; sessions have small numbers.
const FOR_KILLS: u64 = 1 << 32;

/// What was seen of one seed, or of many.
#[derive(Debug, Default)]
pub struct Seen {
    /// Sessions, by what they did.
    pub kinds: BTreeMap<String, usize>,
    /// cook was killed so often.
    pub kills: usize,
    /// cook was started so often.
    pub starts: usize,
    /// Stops that the misdeeds explain, by reason.
    pub stops: BTreeMap<String, usize>,
    /// Ends or stops that nothing explains.
    pub wrong: Vec<String>,
    /// Broken chains, states that do not verify.
    pub broken: Vec<String>,
    /// Processes of agents that outlived their session.
    pub survivors: Vec<String>,
    /// Things of the user's that are gone.
    pub lost: Vec<String>,
}

impl Seen {
    /// Nothing is wrong.
    pub fn is_well(&self) -> bool {
        [&self.wrong, &self.broken, &self.survivors, &self.lost]
            .iter()
            .all(|list| list.is_empty())
    }

    /// Takes another one's in.
    pub fn add(&mut self, other: Self) {
        for (kind, number) in other.kinds {
            *self.kinds.entry(kind).or_default() += number;
        }
        for (reason, number) in other.stops {
            *self.stops.entry(reason).or_default() += number;
        }
        self.kills += other.kills;
        self.starts += other.starts;
        self.wrong.extend(other.wrong);
        self.broken.extend(other.broken);
        self.survivors.extend(other.survivors);
        self.lost.extend(other.lost);
    }
}

/// Drives one seed to its end. What is wrong stays in `base`, to be looked at.
pub fn one(base: &Path, seed: u64, sandbox: bool) -> Seen {
    let mut seen = Seen::default();
    let place = match Place::new(base, seed, sandbox) {
        Ok(place) => place,
        Err(why) => {
            seen.wrong.push(format!("seed {seed}: not set up: {why}"));
            return seen;
        }
    };
    let mut run = Run {
        draw: Draw::of(seed, FOR_KILLS),
        place,
        seed,
        seen,
        killed: Vec::new(),
        tip: String::new(),
    };
    run.drive();
    let Run {
        place, mut seen, ..
    } = run;
    for line in place.lines("calls") {
        let kind = line.split(' ').nth(1).unwrap_or_default().to_owned();
        *seen.kinds.entry(kind).or_default() += 1;
    }
    if seen.is_well() {
        place.clear();
    }
    seen
}

struct Run {
    place: Place,
    seed: u64,
    draw: Draw,
    seen: Seen,
    /// Rounds whose cook was killed.
    killed: Vec<usize>,
    tip: String,
}

impl Run {
    fn drive(&mut self) {
        for round in 0..ROUNDS {
            self.place.begins_round(round);
            let before = self.place.lines("calls").len();
            let code = self.round(round);
            self.seen.starts += 1;
            if code.is_none() {
                let settled = self.settle();
                if !matches!(settled.code, Some(0 | 6 | 10 | 11 | 12 | 13)) {
                    self.wrong(&format!(
                        "settling ended with {:?}: {}",
                        settled.code, settled.err
                    ));
                    return;
                }
            }
            self.promises(round);
            if !self.seen.is_well() {
                return;
            }
            let next = self.place.cook(&["next", "--json"]).json();
            let policy = next["policy"].as_str().unwrap_or_default().to_owned();
            let reason = next["reason"].as_str().unwrap_or_default().to_owned();
            match (policy.as_str(), code) {
                ("done", _) => return self.is_really_done(),
                ("continue", None) => {}
                ("continue", Some(code)) => {
                    self.wrong(&format!(
                        "cook run ended with {code}, and nothing stops the work"
                    ));
                    return;
                }
                _ => {
                    let calls = self.place.lines("calls");
                    match explain_stop(&policy, &reason, &calls, before) {
                        Some(why) => *self.seen.stops.entry(why.to_owned()).or_default() += 1,
                        None => return self.wrong(&format!("{policy}: {reason}: {calls:?}")),
                    }
                    let exit = next["blocking_command"].as_str().unwrap_or("cook resume");
                    let left = self.place.shell(&format!("{exit} --as-user"));
                    if left.code != Some(0) {
                        return self
                            .wrong(&format!("`{exit}` does not leave {policy}: {}", left.err));
                    }
                }
            }
        }
        self.wrong(&format!("not done after {ROUNDS} starts"));
    }

    /// One `cook run`; its exit code, none when it was killed.
    fn round(&mut self, round: usize) -> Option<i32> {
        let kill = self.seen.kills < KILLS && self.draw.chance(KILLED);
        let at = Duration::from_millis(self.draw.below(LATEST));
        let begun = Instant::now();
        let mut child = self.place.starts();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code();
            }
            if kill && begun.elapsed() >= at {
                child.kill().unwrap();
                child.wait().unwrap();
                self.seen.kills += 1;
                self.killed.push(round);
                return None;
            }
            if begun.elapsed() > STUCK {
                child.kill().unwrap();
                child.wait().unwrap();
                self.wrong("cook run is stuck");
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The next cook command: it settles what the killed one left. A `git` that the killed
    /// one started may hold the writer's lock for a moment.
    fn settle(&self) -> Answer {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let answer = self.place.cook(&["run", "--yes", "--steps", "0"]);
            if answer.code != Some(7) || Instant::now() > until {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn promises(&mut self, round: usize) {
        for command in [
            &["doctor", "fsck"][..],
            &["verify", "control-plane"],
            &["session", "verify"],
        ] {
            let answer = self.place.cook(command);
            if answer.code != Some(0) && !self.is_a_red_gate(&answer) {
                let what = format!(
                    "{command:?} after round {round}: {}{}",
                    answer.out, answer.err
                );
                self.seen.broken.push(self.name_line(&what));
            }
        }
        let tip = self.place.tip();
        if tip.is_empty() || !self.place.follows(&self.tip, &tip) {
            let what = format!("{tip} does not follow {} after round {round}", self.tip);
            self.seen.broken.push(self.name_line(&what));
        }
        self.tip = tip;
        let survivors = self.place.survivors(&self.killed);
        for pid in survivors {
            self.seen
                .survivors
                .push(self.name_line(&format!("process {pid} after round {round}")));
        }
        for what in self.place.list_lost() {
            let what = format!("{what} after round {round}");
            self.seen.lost.push(self.name_line(&what));
        }
    }

    /// While the gate is red, what rests on it is not proven, and that is all that is wrong.
    fn is_a_red_gate(&self, answer: &Answer) -> bool {
        let mut errors = answer
            .out
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("error ["))
            .peekable();
        errors.peek().is_some()
            && errors.all(|line| line.starts_with("criterion_lost_proof]"))
            && self.place.shell("sh tests/run.sh").code == Some(1)
    }

    fn is_really_done(&mut self) {
        let gate = self.place.shell("sh tests/run.sh");
        let parts = [self.place.read("src/a.txt"), self.place.read("src/b.txt")];
        let plan = self.place.read(".agent/plan.json");
        let strict = self.place.cook(&["verify", "--strict"]);
        let looks = [
            ("the gate is red", gate.code == Some(0)),
            (
                "a criterion is not proven",
                parts.iter().all(|part| part.contains("is checked")),
            ),
            (
                "a criterion was weakened",
                plan.contains("a is checked") && plan.contains("b is checked"),
            ),
            ("it does not verify", strict.code == Some(0)),
            (
                "the worktree is not clean",
                self.place.shell("git status --porcelain").out.is_empty(),
            ),
        ];
        for (what, holds) in looks {
            if !holds {
                self.wrong(&format!("done, yet {what}: {}{}", strict.out, strict.err));
            }
        }
    }

    fn wrong(&mut self, what: &str) {
        let printed = self.place.read_printed();
        let lines: Vec<&str> = printed.lines().rev().take(12).collect();
        let last: Vec<&str> = lines.into_iter().rev().collect();
        let what = self.name_line(&format!("{what}\n    {}", last.join("\n    ")));
        self.seen.wrong.push(what);
    }

    fn name_line(&self, what: &str) -> String {
        format!(
            "seed {} ({}): {what}",
            self.seed,
            self.place.base().display()
        )
    }
}

/// The misdeeds that account for a stop, in a word; `before` = sessions of earlier rounds.
fn explain_stop(
    policy: &str,
    reason: &str,
    calls: &[String],
    before: usize,
) -> Option<&'static str> {
    let misdeeds = |from: usize| {
        let calls = calls.iter().skip(from);
        calls.filter(|line| !line.ends_with(BEHAVES)).count()
    };
    let last = |number: usize| calls.len().saturating_sub(number);
    let did = |kind: &str| calls[before..].iter().any(|line| line.ends_with(kind));
    if policy == "paused" {
        return did("pause").then_some("paused by an agent");
    }
    if reason.contains("sessions in a row failed") {
        return (misdeeds(last(3)) == 3).then_some("three sessions came to nothing");
    }
    if reason.contains("changed nothing") {
        // A review and an audit are taken and change neither commits nor proof.
        return (misdeeds(last(8)) >= 4).then_some("six sessions changed nothing");
    }
    if reason.contains("attempts") {
        // `slice X has spent N of M attempts`: each by a misdeed, whichever round it was in.
        let spent = reason.split("has spent ").nth(1)?.split(' ').next()?;
        let spent: usize = spent.parse().ok()?;
        return (misdeeds(0) >= spent).then_some("a slice's attempts are spent");
    }
    if reason.contains("steps") {
        return (misdeeds(0) > 0).then_some("the workflow's steps are spent");
    }
    None
}
