//! What is known about judges: the catch rates that `cook calibrate` measured, and the agent behind each verdict in the
//! log.

use crate::prelude::*;
use crate::workspace::Workspace;
use cook_mutants::{Answer, FaultKind, Interval, Joint, Record, Share, joint};
use cook_protocol::machine::list_votes;
use cook_protocol::{digest, prompt};
use cook_repo::session::Ref;
use serde::Serializer;
use std::io::ErrorKind;

/// What is known about a judge: how many planted faults it caught, and how much clean work it refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Known {
    pub caught: Share,
    #[serde(rename = "falseAlarms")]
    pub alarms: Share,
}

impl Known {
    /// Computed from its answers; `None` if it has not answered any case.
    pub fn of(kept: &Kept) -> Option<Self> {
        let answers = kept.answers.iter().filter_map(|one| {
            Some(Answer {
                faulty: one.fault.is_some(),
                refused: one.refused?,
            })
        });
        let answers: Vec<Answer> = answers.collect();
        let Record { caught, alarms } = Record::of(&answers);
        (!answers.is_empty()).then_some(Self { caught, alarms })
    }

    /// Whether its no is meaningful: the lower bound of its catch rate is above its rate of false alarms.
    pub fn tells_apart(self) -> bool {
        let alarms = self.alarms.rate().unwrap_or(1.0);
        self.caught.of > 0 && self.caught.interval().low > alarms
    }

    /// A description in words.
    pub fn words(self) -> String {
        let Self { caught, alarms } = self;
        let describe = |share: Share, what: &str| {
            let Interval { low, high } = share.interval();
            let (low, high) = (low * 100.0, high * 100.0);
            format!(
                "{} of {} {what} ({low:.0} to {high:.0} %)",
                share.hits, share.of
            )
        };
        let faults = describe(caught, "planted faults");
        let mut text = format!("caught {faults}, {}", describe(alarms, "false alarms"));
        if caught.of > 0 && caught.hits == 0 {
            text.push_str("; it catches nothing");
        } else if !self.tells_apart() {
            text.push_str("; that does not tell faults from clean work");
        }
        text
    }
}

/// What is known about an agent in a role, with the current prompt.
///
/// # Errors
/// Kept answers that cannot be read.
pub(crate) fn find_known(
    workspace: &Workspace,
    role: Role,
    agent: &str,
    model: Option<&str>,
) -> Result<Option<Known>> {
    let kept = Kept::of(workspace, Identity::now(role, agent, model))?;
    Ok(Known::of(&kept))
}

/// How often several judges miss the same planted fault; `None` without at least two judges and a case that all of
/// them answered.
pub(crate) fn joint_misses(judges: &[Kept]) -> Option<Joint> {
    let seen = |kept: &Kept| -> BTreeMap<String, bool> {
        let planted = kept.answers.iter().filter(|one| one.fault.is_some());
        let answered = planted.filter_map(|one| Some((one.case.clone(), one.refused?)));
        answered.collect()
    };
    let all: Vec<BTreeMap<String, bool>> = judges.iter().map(seen).collect();
    let (first, others) = all.split_first().filter(|(_, others)| !others.is_empty())?;
    let shared = |case: &&String| others.iter().all(|other| other.contains_key(*case));
    let cases: Vec<&String> = first.keys().filter(shared).collect();
    let caught = all.iter();
    let caught = caught.map(|of| cases.iter().map(|case| of[*case]).collect());
    let caught: Vec<Vec<bool>> = caught.collect();
    joint(&caught)
}

/// Verdicts of one role by one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Judged {
    #[serde(serialize_with = "write_short")]
    pub role: Role,
    /// Number of yes verdicts; for audits, of those that found everything in order.
    pub yes: u64,
    pub of: u64,
    /// The agent; `None` if no session of this clone is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `None` if that agent and model were not measured with the current prompt.
    #[serde(flatten)]
    pub known: Option<Known>,
}

fn write_short<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.short())
}

impl Judged {
    /// A description on one line.
    pub fn words(&self) -> String {
        let by = match (&self.agent, &self.model) {
            (Some(agent), Some(model)) => format!(" by {agent} ({model})"),
            (Some(agent), None) => format!(" by {agent}"),
            (None, _) => String::new(),
        };
        let known = match self.known {
            Some(known) => format!("this judge {}", known.words()),
            None => "uncalibrated".to_owned(),
        };
        // An audit lists open work, and usually there is some.
        let gave = match self.role {
            Role::Auditor => count_noun(self.of, "audit"),
            _ => format!("{} of {} yes", self.yes, self.of),
        };
        format!("{}: {gave}{by}; {known}", self.role.short())
    }
}

/// The reviews and audits of slices that are done or in work, and the votes at a commit.
///
/// # Errors
/// A log or sessions that cannot be read.
pub(crate) fn find_verdicts(
    workspace: &Workspace,
    snapshot: &Snapshot,
    at: &Head,
) -> Result<Vec<Judged>> {
    let kept = Kept::all(workspace)?;
    // If no judge was measured, the agents are not needed.
    let session_of = |seq: u64| -> Result<Option<String>> {
        if kept.is_empty() {
            return Ok(None);
        }
        let store = workspace.store()?;
        let event = store.event(&store.resolve(&seq.to_string())?.commit)?;
        Ok(event.submission().and_then(|one| one.session.clone()))
    };
    let mut verdicts: Vec<(Role, bool, Option<String>)> = Vec::new();
    for slice in &snapshot.plan.candidate_slices {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id);
        let Some(ledger) = ledger.filter(|_| slice.status != SliceStatus::Cancelled) else {
            continue;
        };
        let accepted = ledger.accepted.as_ref().map(|accepted| &accepted.head);
        let head = ledger.head.as_ref().or(accepted);
        let review = ledger.review.as_deref();
        if let Some(review) = review.filter(|one| head == Some(&one.commit)) {
            let session = session_of(review.seq.0)?;
            verdicts.push((Role::Reviewer, !review.rejects(), session));
        }
        let audit = ledger.audit.as_deref();
        if let Some(audit) = audit.filter(|one| head == Some(&one.commit)) {
            let session = session_of(audit.seq.0)?;
            verdicts.push((Role::Auditor, !audit.rejects, session));
        }
    }
    for vote in list_votes(snapshot, at) {
        let session = vote.session.clone().filter(|_| !kept.is_empty());
        verdicts.push((Role::StopJudge, vote.can_stop, session));
    }
    verdicts.sort_by_key(|(role, _, _)| *role);
    let sessions = Sessions::open(workspace, &verdicts)?;
    let mut found: Vec<Judged> = Vec::new();
    for (role, yes, session) in verdicts {
        let (agent, model) = match session.and_then(|session| sessions.find(&session).transpose()) {
            Some(by) => by.map(|(agent, model)| (Some(agent), model))?,
            None => (None, None),
        };
        let same = |one: &&mut Judged| (one.role, &one.agent, &one.model) == (role, &agent, &model);
        if let Some(one) = found.iter_mut().find(same) {
            one.of += 1;
            one.yes += u64::from(yes);
            continue;
        }
        let known = agent.as_deref().and_then(|agent| {
            let identity = Identity::now(role, agent, model.as_deref());
            let own = kept.iter().find(|kept| kept.identity == identity);
            own.and_then(Known::of)
        });
        found.push(Judged {
            role,
            yes: yes.into(),
            of: 1,
            agent,
            model,
            known,
        });
    }
    Ok(found)
}

/// The agents of this clone's sessions.
struct Sessions(Option<(GitStore, Vec<CallRecord>)>);

impl Sessions {
    /// Reads the sessions only if a verdict names one.
    fn open(workspace: &Workspace, verdicts: &[(Role, bool, Option<String>)]) -> Result<Self> {
        let is_ref = |session: &String| session.parse::<Ref>().is_ok();
        let named = verdicts
            .iter()
            .filter_map(|(_, _, session)| session.as_ref());
        if workspace.log_from.is_some() || !named.into_iter().any(is_ref) {
            return Ok(Self(None));
        }
        let store = GitStore::open(workspace.place())?;
        let lines = store.lines()?;
        Ok(Self(Some((store, lines))))
    }

    fn find(&self, session: &str) -> Result<Option<(String, Option<String>)>> {
        let (Some((store, lines)), Ok(name)) = (&self.0, session.parse::<Ref>()) else {
            return Ok(None);
        };
        let Some(entry) = store.entry(name)? else {
            return Ok(None);
        };
        let line = lines.iter().find(|line| line.exchange == Some(name));
        let model = line.and_then(|line| line.answer.as_ref()?.model.clone());
        Ok(Some((entry.supplier, model)))
    }
}

// The answers of judges to planted cases: one file for each judge, next to the log, with one line for each case.
//
// A line is written as soon as its case is answered, so that an interrupted calibration continues after it. A torn last
// line is ignored.

/// Name of the directory next to the log.
const DIR: &str = "calibrations";
/// Maximum size of a file in bytes.
const LIMIT: u64 = 16 << 20;

/// The judge that was measured, and its prompt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The version of the file's format.
    schema_version: u32,
    pub role: Role,
    pub agent: String,
    /// `None` for the agent's default.
    pub model: Option<String>,
    /// The version of the role's prompt.
    pub prompt: String,
}

impl Identity {
    /// An agent with the current prompt.
    pub fn now(role: Role, agent: &str, model: Option<&str>) -> Self {
        Self {
            schema_version: 1,
            role,
            agent: agent.to_owned(),
            model: model.map(str::to_owned),
            prompt: prompt::version(role),
        }
    }

    fn file(&self, dir: &Path) -> PathBuf {
        let model = self.model.as_deref().unwrap_or("\0");
        let parts = [self.role.id(), &self.agent, model, &self.prompt];
        let digest = digest::sha256(parts.join("\n"));
        dir.join(format!("{}-{}.jsonl", self.role.short(), &digest[..16]))
    }
}

/// The result of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// Identifies the case.
    pub case: String,
    /// The planted fault; `None` if the case is clean.
    pub fault: Option<FaultKind>,
    /// The slice of the work.
    pub slice: String,
    /// Whether it is from this repository's history.
    pub own: bool,
    /// Whether the judge said no; `None` if a gate noticed the fault, so that no judge was asked.
    pub refused: Option<bool>,
    /// Cost in millionths of a dollar; `None` if unknown.
    pub cost_micro_usd: Option<u64>,
    pub milliseconds: u64,
    /// The time of the answer, in RFC 3339.
    pub at: String,
}

/// The answers of one judge.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub identity: Identity,
    pub answers: Vec<Answered>,
}

impl Kept {
    /// The kept answers of one judge; empty if there are none.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn of(workspace: &Workspace, identity: Identity) -> Result<Self> {
        let path = identity.file(&place(workspace)?);
        let kept = read(&path)?.filter(|kept| kept.identity == identity);
        Ok(kept.unwrap_or(Self {
            identity,
            answers: Vec::new(),
        }))
    }

    /// The kept answers of every judge that was measured here.
    ///
    /// # Errors
    /// A directory or a file that cannot be read.
    pub fn all(workspace: &Workspace) -> Result<Vec<Self>> {
        let dir = place(workspace)?;
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&dir, &error)),
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        paths.sort();
        let mut all = Vec::new();
        for path in paths {
            all.extend(read(&path)?);
        }
        Ok(all)
    }

    /// Stores an answer.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn add(&mut self, workspace: &Workspace, answer: Answered) -> Result<()> {
        let path = self.identity.file(&place(workspace)?);
        let fail = |error: &dyn std::fmt::Display| unwritable(&path, error);
        if self.answers.is_empty() {
            // An existing file has another first line, or an unreadable one.
            remove(&path)?;
        }
        let mut file = disk::open_to_append(&path).map_err(|error| fail(&error))?;
        let mut lines = Vec::new();
        let last = disk::read_tail(&mut file, 1).map_err(|error| fail(&error))?;
        if !last.is_empty() && last != b"\n" {
            // Ends a torn line, so that it does not corrupt the next one.
            lines.push(String::new());
        }
        if self.answers.is_empty() {
            lines.push(serde_json::to_string(&self.identity).map_err(|error| fail(&error))?);
        }
        lines.push(serde_json::to_string(&answer).map_err(|error| fail(&error))?);
        for line in lines {
            disk::append_line(&mut file, &line).map_err(|error| fail(&error))?;
        }
        self.answers.push(answer);
        Ok(())
    }

    /// Discards the answers of this judge.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn forget(&mut self, workspace: &Workspace) -> Result<()> {
        self.answers.clear();
        remove(&self.identity.file(&place(workspace)?))
    }

    /// Locks the directory against another calibration.
    ///
    /// # Errors
    /// `lease_held` if another one runs, or a directory that cannot be made.
    pub fn hold(workspace: &Workspace) -> Result<std::fs::File> {
        let dir = place(workspace)?;
        std::fs::create_dir_all(&dir).map_err(|error| unwritable(&dir, &error))?;
        let held = disk::hold_directory(&dir, Duration::ZERO);
        let held = held.map_err(|error| unwritable(&dir, &error))?;
        held.ok_or_else(|| {
            let what = "another `cook calibrate` is at work here";
            Failure::new(FailureKind::Held, Code::LeaseHeld, what)
                .replace_hints(["wait until it ends; its results count here too"])
        })
    }
}

fn place(workspace: &Workspace) -> Result<PathBuf> {
    Ok(workspace.repo.cook_dir()?.join(DIR))
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unwritable(path, &error)),
        _ => Ok(()),
    }
}

/// Reads a file; `None` if its first line does not identify the judge.
fn read(path: &Path) -> Result<Option<Kept>> {
    let bytes = disk::read(path, LIMIT, Links::Refuse);
    let Some(bytes) = bytes.map_err(|error| unreadable(path, &error))? else {
        return Ok(None);
    };
    // Damaged lines are ignored, like a torn one.
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let identity = lines.next().map(serde_json::from_str);
    let answers = lines.filter_map(|line| serde_json::from_str(line).ok());
    Ok(identity.and_then(Result::ok).map(|identity| Kept {
        identity,
        answers: answers.collect(),
    }))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("`{}`: {error}", path.display());
    let hint = format!(
        "remove `{}`, then measure that judge again with `cook calibrate`",
        path.display()
    );
    Failure::state(Code::DocumentUnreadable, what).replace_hints([hint])
}

fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let what = format!("`{}` cannot be written: {error}", path.display());
    Failure::state(Code::NotWritable, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_known(caught: (u64, u64), alarms: (u64, u64)) -> Known {
        let share = |(hits, of)| Share { hits, of };
        Known {
            caught: share(caught),
            alarms: share(alarms),
        }
    }

    #[test]
    fn a_judge_whose_answer_is_always_the_same_is_shown_as_one() {
        let yes = make_known((0, 20), (0, 20));
        assert!(!yes.tells_apart());
        assert_eq!(
            yes.words(),
            "caught 0 of 20 planted faults (0 to 16 %), 0 of 20 false alarms (0 to 16 %); it catches nothing"
        );
        let no = make_known((20, 20), (20, 20));
        assert!(!no.tells_apart());
        assert!(
            no.words()
                .ends_with("; that does not tell faults from clean work")
        );
        let good = make_known((14, 20), (2, 20));
        assert!(good.tells_apart());
        assert_eq!(
            good.words(),
            "caught 14 of 20 planted faults (48 to 85 %), 2 of 20 false alarms (3 to 30 %)"
        );
        assert!(!make_known((0, 0), (0, 3)).tells_apart());
    }

    #[test]
    fn a_torn_last_line_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let identity = Identity::now(Role::Reviewer, "a", None);
        let path = identity.file(dir.path());
        let answer = Answered {
            case: "c".to_owned(),
            fault: Some(FaultKind::Unmet),
            slice: "s".to_owned(),
            own: true,
            refused: Some(true),
            cost_micro_usd: None,
            milliseconds: 3,
            at: "2030-01-01T00:00:00Z".to_owned(),
        };
        let whole = format!(
            "{}\n{}\n{{\"case\":\"d\"",
            serde_json::to_string(&identity).unwrap(),
            serde_json::to_string(&answer).unwrap()
        );
        std::fs::write(&path, whole).unwrap();
        let kept = read(&path).unwrap().unwrap();
        assert_eq!(kept.identity, identity);
        assert_eq!(kept.answers, [answer]);
        std::fs::write(&path, "no judge\n").unwrap();
        assert!(read(&path).unwrap().is_none());
    }

    #[test]
    fn another_agent_model_or_role_has_another_file() {
        let dir = Path::new("d");
        let of = |role, agent, model| Identity::now(role, agent, model).file(dir);
        let all = [
            of(Role::Reviewer, "a", None),
            of(Role::Reviewer, "b", None),
            of(Role::Reviewer, "a", Some("m")),
            of(Role::Auditor, "a", None),
        ];
        let different: std::collections::BTreeSet<&PathBuf> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
