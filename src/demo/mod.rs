//! `cook demo`: a repository of its own, scripted agents, and the driver of `cook run`.
//!
//! Invariants: nothing outside the demonstration's directory is written; the driver and
//! its rules are those of every run, and are told nothing of the story; whether a culprit
//! was caught is read from the log, never from the story.

mod caught_culprits;
mod demo_repository;

pub(crate) use caught_culprits::CaughtViolation;
pub(crate) use demo_repository::{Culprit, remove_left};

use crate::prelude::*;
use crate::run::{Driver, Ended, Keeping, Limits, Observer, Outcome};
use crate::workspace::Workspace;
use caught_culprits::Recorder;
use demo_repository::Story;
use demo_repository::make_failure;

/// How long a demonstration may take before it counts as stuck.
const WALL: Duration = Duration::from_secs(300);

/// A repository that is ready for its demonstration.
pub struct Demo {
    pub root: PathBuf,
    is_temporary: bool,
    /// The command that was trusted.
    pub gate: String,
    story: Story,
    culprit: Option<Culprit>,
}

/// What a demonstration came to.
#[derive(Debug)]
pub struct DemoResult {
    /// The repository, which stays.
    pub root: PathBuf,
    /// Nobody named its directory.
    pub is_temporary: bool,
    /// Who misbehaved.
    pub culprit: Option<Culprit>,
    /// What became of each thing that it did.
    pub catches: Vec<CaughtViolation>,
    /// Of the driver.
    pub outcome: Outcome,
    /// The documents at the end.
    pub snapshot: Snapshot,
    /// HEAD at the end.
    pub head: Head,
    /// Wall time of the sessions.
    pub took: Duration,
}

impl Demo {
    /// Sets the repository up as a user would: a program, `cook init`, `cook trust`; the log
    /// says that a script did it. `dir` must be absent or empty; without one a new directory
    /// is made below the system's for temporary files. `author`: whose name, and address, commits bear.
    ///
    /// # Errors
    /// No `git`, `sh` or `bash` on `PATH`; a directory that is in use or cannot be written.
    pub fn prepare(
        dir: Option<&Path>,
        culprit: Option<Culprit>,
        author: Option<(&str, &str)>,
    ) -> Result<Self> {
        let story = Story::read()
            .map_err(|error| make_failure("the story cannot be read").with_cause(&error))?;
        demo_repository::look_for_programs()?;
        let root = demo_repository::directory(dir)?;
        demo_repository::set_up(&root, &story, author)?;
        let root = Workspace::open(&root)?.repo.root().to_owned();
        demo_repository::write_scripts(&root, &story, culprit)?;
        Ok(Self {
            root,
            is_temporary: dir.is_none(),
            gate: story.gate.clone(),
            story,
            culprit,
        })
    }

    /// Drives it to its end.
    ///
    /// # Errors
    /// `demo_failed` when the work is not done at the end, `demo_not_caught` when what the
    /// culprit did is not in the log; whatever ends a driver.
    pub fn run(self, observer: &mut dyn Observer) -> Result<DemoResult> {
        let started = Instant::now();
        let mut recorder = Recorder {
            observer,
            breaches: Vec::new(),
        };
        let cast = demo_repository::cast(&self.story, self.culprit)?;
        let limits = Limits {
            steps: u64::MAX,
            wall: WALL,
            cost_micro_usd: 0,
            tokens: None,
            requests: None,
        };
        // In a sandbox nobody could be caught at what it shows.
        let keeping = Keeping::Measured {
            why: "it shows the measurements".to_owned(),
        };
        let outcome = Driver::new(&self.root, cast, limits, keeping, &mut recorder)?.run()?;
        let took = started.elapsed();
        let workspace = Workspace::open(&self.root)?;
        let catches = match self.culprit {
            Some(culprit) => {
                let misdeeds = self.story.misdeeds(culprit);
                caught_culprits::catches(&workspace, &misdeeds, &recorder.breaches)
                    .map_err(|failure| failure.hint(self.look()))?
            }
            None => Vec::new(),
        };
        if outcome.ended != Ended::Policy(Policy::Done) {
            let why = format!("the work is not done: {}", outcome.next.reason);
            return Err(make_failure(&why).hint(self.look()));
        }
        let (_, snapshot) = workspace.require()?;
        Ok(DemoResult {
            head: workspace.repo.head()?,
            root: self.root,
            is_temporary: self.is_temporary,
            culprit: self.culprit,
            catches,
            outcome,
            snapshot,
            took,
        })
    }

    fn look(&self) -> String {
        format!(
            "look at what it left: `cook -C {} log`",
            self.root.display()
        )
    }
}
