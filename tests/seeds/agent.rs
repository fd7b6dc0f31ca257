//! The agent: it plays every role of a small job by what the repository says, and, by the
//! seed, misbehaves. Who it is stands in its environment; what it did goes to `$STATE/calls`.

use crate::draw::Draw;
use crate::kind::{BEHAVES, of_role};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// Names the agent's directory, and says that this process is the agent.
pub const STATE: &str = "SEEDS_STATE";
/// Names the seed.
pub const SEED: &str = "SEEDS_SEED";
/// First line of the mission.
pub const MISSION: &str = "two parts that work and are checked";

const STORY: &str = include_str!("../../protocol/demo/story.toml");
/// Sessions in a hundred that misbehave.
const MISBEHAVES: u64 = 35;
/// After so many a seed's agents behave, so that the work comes to its end.
const MOST: usize = 12;

/// What this session was told.
static PROMPT: OnceLock<String> = OnceLock::new();

/// One session.
pub fn play() {
    let state = PathBuf::from(std::env::var_os(STATE).unwrap());
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let role = std::env::var("COOK_ROLE").unwrap();
    let mut prompt = Vec::new();
    io::stdin().read_to_end(&mut prompt).unwrap();
    let calls = fs::read_to_string(state.join("calls")).unwrap_or_default();
    let number = calls.lines().count();
    let misdeeds = calls
        .lines()
        .filter(|line| !line.ends_with(BEHAVES))
        .count();
    let mut draw = Draw::of(seed, number as u64);
    let misbehaves = misdeeds < MOST && draw.chance(MISBEHAVES);
    let kind = match misbehaves {
        true => *draw.draw_one_of(&of_role(&role)),
        false => BEHAVES,
    };
    append(&state.join("calls"), &format!("{role} {kind}"));
    let prompt = String::from_utf8_lossy(&prompt).into_owned();
    let mut agent = Agent {
        state,
        role,
        prompt: PROMPT.get_or_init(|| prompt),
        number,
    };
    agent.session(kind);
}

struct Agent {
    state: PathBuf,
    role: String,
    prompt: &'static str,
    number: usize,
}

impl Agent {
    fn session(&mut self, kind: &str) {
        if self.says_nothing(kind) {
            return;
        }
        event(&json!({"type": "session", "id": format!("seeded-{}", self.number)}));
        match kind {
            "error" => {
                event(
                    &json!({"type": "message_end", "message": {"role": "assistant",
                    "stopReason": "error", "errorMessage": "something broke inside", "content": []}}),
                );
                return;
            }
            "chatter" => return self.reports("I did everything that you asked for.\n"),
            "malformed" => {
                let begin = format!("MISSION ANCHOR: {MISSION}\nRemaining contract IDs: none\n");
                return self.reports(&begin);
            }
            _ => {}
        }
        let report = self.work(kind);
        self.beside(kind);
        match kind {
            "endless" => send_said(&report),
            "lingers" => {
                self.reports(&report);
                std::thread::sleep(Duration::from_secs(600));
            }
            _ => self.reports(&report),
        }
    }

    /// Sessions without a report.
    fn says_nothing(&self, kind: &str) -> bool {
        match kind {
            "silent" => {}
            "crash" | "half_line" => {
                raw(b"{\"type\":\"message_end\",\"message\":{\"role\":\"assi");
                if kind == "crash" {
                    std::process::exit(3);
                }
            }
            "hang" => {
                ignore_term();
                std::thread::sleep(Duration::from_secs(600));
            }
            "flood" => flood(b"nothing but words without an end\n"),
            "flood_line" => flood(b"nothing but words without an end "),
            "bad_utf8" => raw(b"\xff\xfe\x80 {\"type\": \xc3\x28}\n"),
            "closes_pipes" => {
                close_output();
                std::thread::sleep(Duration::from_millis(300));
            }
            _ => return false,
        }
        true
    }

    /// The role's work and its report; some lie in it.
    fn work(&self, kind: &str) -> String {
        let role = match kind {
            "other_role" if self.role == "auditor" => "reviewer",
            "other_role" => "auditor",
            _ => &self.role,
        };
        let report = match role {
            "regrounder" => answer_reground(kind, self.prompt),
            "implementer" => answer_implement(kind),
            "reviewer" => answer_review(kind),
            "auditor" => answer_audit(),
            _ => answer_judge(),
        };
        match kind {
            "other_mission" => report.replacen(MISSION, "another mission", 1),
            _ => report,
        }
    }

    /// What it does beside its work.
    fn beside(&self, kind: &str) {
        match kind {
            "bad_utf8_beside" => raw(b"\xff\xfe\x80\n"),
            "settings" => append(
                Path::new(".agent/cook.toml"),
                "[gates.mine]\nrun = \"true\"\n[agents.mine]\nbin = \"true\"\nstart = []\n",
            ),
            "other_branch" | "side_branch" => {
                git(&["checkout", "--quiet", "-B", "cheat"]);
                git(&[
                    "commit",
                    "--quiet",
                    "--allow-empty",
                    "--message",
                    "elsewhere",
                ]);
                if kind == "side_branch" {
                    git(&["checkout", "--quiet", "main"]);
                }
            }
            "rewrite" if self.role == "implementer" => {
                git(&["reset", "--quiet", "--soft", "HEAD~2"]);
                git(&["commit", "--quiet", "--allow-empty", "--message", "tidied"]);
            }
            "rewrite" => git(&["reset", "--quiet", "--hard", "HEAD~1"]),
            "elsewhere" => std::env::set_current_dir("/").unwrap(),
            "daemon" | "bare_daemon" => self.daemon(kind == "bare_daemon"),
            "state" => replace(".agent/state.json", "\"continue\"", "\"done\""),
            "criteria" => replace(".agent/plan.json", "is checked", "is there"),
            "history" => append(
                Path::new(".agent/slice-history.jsonl"),
                "{\"schema_version\":1,\"type\":\"accepted\"}",
            ),
            "verifier" => fs::write(".agent/verify_completion_stop.sh", "exit 0\n").unwrap(),
            "hide" => {
                git(&["update-index", "--assume-unchanged", "tests/run.sh"]);
                append(Path::new("tests/run.sh"), "exit 0");
            }
            "stash" => git(&["stash", "drop", "--quiet"]),
            "tag" => git(&["tag", "--force", "kept", "HEAD"]),
            "branch_gone" => git(&["branch", "--quiet", "-D", "kept"]),
            "config" => git(&["config", "user.name", "cheat"]),
            "hook" => fs::write(".git/hooks/post-commit", "#!/bin/sh\n").unwrap(),
            "pause" => cook(&["pause"]),
            "command" => {
                cook(&["resume", "--as-user"]);
                cook(&["trust", "true", "--as-user"]);
                cook(&["cancel", "--as-user"]);
            }
            "gone" => fs::remove_dir_all(".git/cook").unwrap(),
            "view_gone" => fs::remove_dir_all(".agent").unwrap(),
            "rewinds" => rewind(),
            "locks" => {
                for name in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
                    fs::write(Path::new(".git").join(name), "").unwrap();
                }
            }
            "edit" => append(Path::new("tests/run.sh"), "# mine"),
            "litter" => fs::write("litter.txt", "litter\n").unwrap(),
            "commit" => git(&["commit", "--quiet", "--allow-empty", "--message", "mine"]),
            _ => {}
        }
    }

    /// Its process id goes to `daemons`, with the round in which it was begun. That nobody
    /// waits for it is what it is for.
    #[allow(clippy::zombie_processes)]
    fn daemon(&self, bare: bool) {
        let mut command = Command::new("setsid");
        command.args(["sleep", "611"]);
        if bare {
            command.env_clear().env("PATH", "/usr/bin:/bin");
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let round = fs::read_to_string(self.state.join("round")).unwrap_or_default();
        let line = format!("{} {}", child.id(), round.trim());
        append(&self.state.join("daemons"), &line);
    }

    fn reports(&self, report: &str) {
        send_said(report);
        event(&json!({"type": "agent_end", "messages": [{"stopReason": "stop"}]}));
    }
}

// ---- the roles ---------------------------------------------------------------------------------

fn answer_reground(kind: &str, prompt: &str) -> String {
    let next = next();
    let rule = next["rule"].as_str().unwrap_or_default();
    let active = document("active-slice.json");
    let slice = active["slice_id"].as_str().unwrap_or("none").to_owned();
    let mut decision = "none";
    let mut selected = "none".to_owned();
    let mut block = match rule {
        "7" => {
            decision = if review_said_yes(&slice) {
                "accepted"
            } else {
                "reopened"
            };
            let mut block = json!({"reconcile": {"slice_id": slice, "decision": decision}});
            if decision == "accepted" {
                block["evidence"] = evidence(&slice);
            }
            block
        }
        "9" => answer_conclude(&mut selected),
        _ => answer_plan(&active, &mut selected),
    };
    let answers = answers(prompt);
    if !answers.is_empty() {
        block["answers"] = json!(answers);
    }
    match kind {
        // Before there is a plan, any is a first one.
        "weakens" if has_slice("a") => {
            block["plan"] = plan();
            let criteria = &mut block["plan"]["candidate_slices"][0]["acceptance_criteria"];
            *criteria = json!(["a works", "a is there"]);
        }
        "early" => {
            let slice = if slice == "none" { "a" } else { &slice };
            decision = "accepted";
            block = json!({"reconcile": {"slice_id": slice, "decision": "accepted"},
                "conclude": {"decision": "stop"}, "evidence": [
                {"criterion": format!("{slice} works"), "anchor": "test:all is well", "basis": "test"}]});
        }
        _ => {}
    }
    let reconciled = block["reconcile"]["slice_id"].as_str().unwrap_or("none");
    let reopened = if decision == "reopened" {
        reconciled
    } else {
        "none"
    };
    fill_report(
        "regrounder",
        &[
            ("decision", decision),
            ("slice", reconciled),
            ("reopened", reopened),
            ("selected", &selected),
            ("block", &block.to_string()),
        ],
    )
}

/// The rejections that the prompt says wait for an answer.
fn answers(prompt: &str) -> Vec<Value> {
    let Some((_, rest)) = prompt.split_once("Rejections that wait for an answer in `answers`:\n\n")
    else {
        return Vec::new();
    };
    rest.lines()
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| line.strip_prefix("- ")?.split([':', ' ']).next())
        .map(|id| json!({"no": id.trim_matches('`'), "reason": "the next wave looks at it again"}))
        .collect()
}

fn review_said_yes(slice: &str) -> bool {
    let newest = records("slice-history.jsonl")
        .into_iter()
        .rev()
        .find(|record| record["type"] == "reviewed" && record["slice_id"] == slice);
    newest.is_some_and(|record| {
        let answer = record["report"]["fields"]["acceptable_as_is"].as_str();
        answer.is_some_and(|answer| answer.starts_with("yes"))
    })
}

fn answer_conclude(selected: &mut String) -> Value {
    let wave = &document("state.json")["current_stop_wave_id"];
    let no = records("stop-check-history.jsonl")
        .into_iter()
        .any(|record| record["stop_wave_id"] == *wave && record["can_stop"] == false);
    match (no, has_slice("b")) {
        (false, _) => json!({"conclude": {"decision": "stop"}}),
        (true, false) => {
            *selected = "b".to_owned();
            json!({"plan": with_b(), "conclude": {"decision": "go_on", "reason": "b takes it up"}, "select": "b"})
        }
        (true, true) => json!({"conclude": {"decision": "go_on", "reason": "b is there now"}}),
    }
}

/// The plan as it is, and the first slice that is open where none is in work.
fn answer_plan(active: &Value, selected: &mut String) -> Value {
    let plan = if has_slice("b") { with_b() } else { plan() };
    let mut block = json!({ "plan": plan });
    if matches!(active["status"].as_str(), Some("idle" | "done") | None) {
        let slices = document("plan.json")["candidate_slices"].clone();
        let closed = |id: &str| {
            slices.as_array().into_iter().flatten().any(|slice| {
                slice["slice_id"] == id
                    && matches!(slice["status"].as_str(), Some("done" | "cancelled"))
            })
        };
        let known: &[&str] = if has_slice("b") { &["a", "b"] } else { &["a"] };
        if let Some(open) = known.iter().find(|id| !closed(id)) {
            *selected = (*open).to_owned();
            block["select"] = json!(open);
        }
    } else if active["status"] != "committed" {
        *selected = active["slice_id"].as_str().unwrap_or("none").to_owned();
    }
    block
}

fn answer_implement(kind: &str) -> String {
    let active = document("active-slice.json");
    let slice = active["slice_id"].as_str().unwrap_or("a").to_owned();
    let goal = active["goal"].as_str().unwrap_or("none").to_owned();
    let next = next();
    let unreported = next["reason"]
        .as_str()
        .is_some_and(|reason| reason.contains("in no report yet"));
    let must_fix = active["must_fix_findings"]
        .as_array()
        .is_some_and(|list| !list.is_empty());
    let path = format!("src/{slice}.txt");
    let before = fs::read_to_string(&path).unwrap_or_default();
    let mut text = format!("{slice} works\n");
    if slice != "a" || must_fix || before.contains("is checked") {
        text.push_str(&format!("{slice} is checked\n"));
    }
    if kind == "red" {
        text.push_str("bad\n");
    } else if text == before && !unreported {
        text.push_str(&format!("looked at in session {}\n", std::process::id()));
    }
    fs::create_dir_all("src").unwrap();
    fs::write(&path, text).unwrap();
    git(&["add", "--all"]);
    if !clean() || !unreported {
        let trailer = format!("Cook-Slice: {slice}");
        let message = format!("Work on {slice}");
        git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            &message,
            "--message",
            &trailer,
        ]);
    }
    let commit = match kind {
        "no_commit" => "4c6f72656d20697073756d20646f6c6f72207369".to_owned(),
        _ => head(),
    };
    fill_report(
        "implementer",
        &[
            ("slice", &slice),
            ("goal", &goal),
            ("files", &path),
            ("commit", &commit),
        ],
    )
}

fn answer_review(kind: &str) -> String {
    let active = document("active-slice.json");
    let slice = active["slice_id"].as_str().unwrap_or("none");
    let text = fs::read_to_string(format!("src/{slice}.txt")).unwrap_or_default();
    let good = text.contains("is checked") && !text.contains("bad");
    let (answer, risk, why, follow_up) = match (kind, good) {
        ("yes_with_fail", _) => ("yes", "fail", "none", "none"),
        (_, true) => ("yes", "pass", "none", "none"),
        (_, false) => ("no", "fail", "nothing checks it", "check it"),
    };
    fill_report(
        "reviewer",
        &[
            ("answer", answer),
            ("risk", risk),
            ("why", why),
            ("follow_up", follow_up),
        ],
    )
}

fn answer_audit() -> String {
    let active = document("active-slice.json");
    let slice = active["slice_id"].as_str().unwrap_or("none");
    fill_report("auditor", &[("slice", slice)])
}

fn answer_judge() -> String {
    let (answer, risk, why, gaps) = match Path::new("src/b.txt").exists() {
        true => ("yes", "pass", "both parts are there", "0"),
        false => ("no", "concern", "the second part is missing", "1"),
    };
    fill_report(
        "stop-judge",
        &[
            ("answer", answer),
            ("risk", risk),
            ("why", why),
            ("gaps", gaps),
            ("head", &head()),
        ],
    )
}

// ---- what they look at -------------------------------------------------------------------------

fn plan() -> Value {
    json!({"plan_basis": "the mission", "candidate_slices": [slice("a")]})
}

fn with_b() -> Value {
    json!({"plan_basis": "the judges", "candidate_slices": [slice("a"), slice("b")]})
}

fn slice(id: &str) -> Value {
    json!({
        "slice_id": id, "goal": format!("part {id}"), "priority": 5,
        "acceptance_criteria": [format!("{id} works"), format!("{id} is checked")],
        "contract_ids": [format!("C-{id}")], "why_now": "it is next",
        "implementation_surfaces": ["src/"], "verification_commands": ["sh tests/run.sh"],
    })
}

fn evidence(slice: &str) -> Value {
    let proof = |what: &str| json!({"criterion": format!("{slice} {what}"), "anchor": format!("test:{slice} {what}"), "basis": "test"});
    json!([proof("works"), proof("is checked")])
}

fn document(name: &str) -> Value {
    let text = fs::read_to_string(Path::new(".agent").join(name)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn records(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(Path::new(".agent").join(name)).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn has_slice(id: &str) -> bool {
    let plan = document("plan.json");
    let mut slices = plan["candidate_slices"].as_array().into_iter().flatten();
    slices.any(|slice| slice["slice_id"] == id)
}

/// What cook says is next; the answer is kept in `answers`, for whoever asks why a session did
/// what it did.
fn next() -> Value {
    let answer = Command::new("cook")
        .args(["next", "--json"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let next: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
    let state = PathBuf::from(std::env::var_os(STATE).unwrap());
    let said = [&answer.stdout[..], &answer.stderr].concat();
    let role = std::env::var("COOK_ROLE").unwrap_or_default();
    let line = match next["rule"].as_str() {
        Some(rule) => format!("{role} rule {rule} {}", next["reason"]),
        None => format!(
            "{role} {} {}",
            answer.status,
            String::from_utf8_lossy(&said)
        ),
    };
    append(&state.join("answers"), &line);
    next
}

fn head() -> String {
    output(&["rev-parse", "HEAD"])
}

fn clean() -> bool {
    output(&["status", "--porcelain"]).is_empty()
}

/// Of the worktree in work: in a place apart the prompt tells.
fn is_clean() -> bool {
    let prompt = PROMPT.get().map_or("", String::as_str);
    match prompt.split_once("\n## The place you are in\n") {
        Some((_, place)) => !place.contains("It is not clean."),
        None => clean(),
    }
}

/// A report of the demonstration's, with this job's words in its places.
fn fill_report(role: &str, places: &[(&str, &str)]) -> String {
    let story: toml::Table = STORY.parse().unwrap();
    let mut text = story["reports"][role].as_str().unwrap().to_owned();
    let state = document("state.json");
    let open: Vec<&str> = state["unsatisfied_contract_ids"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let remaining = match open.is_empty() {
        true => "none".to_owned(),
        false => open.join(", "),
    };
    let known = [("mission", MISSION), ("remaining", &remaining)];
    for (name, value) in places.iter().chain(&known) {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    if is_clean() {
        return text;
    }
    let dirty = "Tracked and unignored worktree is clean: no";
    text.replace("Tracked and unignored worktree is clean: yes", dirty)
        .replace(
            "Worktree blockers: none",
            "Worktree blockers: uncommitted paths",
        )
}

// ---- what they do ------------------------------------------------------------------------------

fn event(event: &Value) {
    raw(format!("{event}\n").as_bytes());
}

fn send_said(text: &str) {
    event(
        &json!({"type": "message_end", "message": {"role": "assistant", "stopReason": "stop",
        "usage": {"cost": {"total": 0.001}}, "content": [{"type": "text", "text": text}]}}),
    );
}

/// Nobody may listen any more.
fn raw(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

fn flood(words: &[u8]) {
    let piece = words.repeat(2000);
    for _ in 0..(32_000_000 / piece.len()) {
        raw(&piece);
    }
}

fn append(path: &Path, line: &str) {
    let file = OpenOptions::new().append(true).create(true).open(path);
    writeln!(file.unwrap(), "{line}").unwrap();
}

fn replace(path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, text.replace(from, to)).unwrap();
}

/// What git does not want to do is not done.
fn git(arguments: &[&str]) {
    let mut command = Command::new("git");
    let quiet = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let _ = quiet.stderr(Stdio::null()).status();
}

/// Sets the log back by a transition.
fn rewind() {
    const LOG: &str = "--git-dir=.git/cook/log.git";
    let branch = output(&[LOG, "for-each-ref", "--format=%(refname)", "refs/heads"]);
    git(&[LOG, "update-ref", &branch, &format!("{branch}~1")]);
}

fn output(arguments: &[&str]) -> String {
    let answer = Command::new("git")
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    String::from_utf8_lossy(&answer.unwrap().stdout)
        .trim()
        .to_owned()
}

/// cook, by somebody who would rather not be known as an agent's child.
fn cook(arguments: &[&str]) {
    let mut command = Command::new("cook");
    let quiet = command
        .args(arguments)
        .env_remove("COOK_ROLE")
        .env_remove("COOK_INVOCATION")
        .env_remove("COOK_DEPTH")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let _ = quiet.stderr(Stdio::null()).status();
}

fn ignore_term() {
    let noted = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, noted).unwrap();
}

fn close_output() {
    let _ = nix::unistd::close(1);
    let _ = nix::unistd::close(2);
}
