//! `cook demo`: a separate repository, scripted agents, and the driver of `cook run`.
//!
//! Invariants: nothing is written outside the demonstration's directory. The driver and its rules are those of every
//! run, and know nothing of the story. Whether a culprit was caught is decided by the log, never by the story.

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

/// Time after which a demonstration counts as stuck.
const WALL: Duration = Duration::from_secs(300);

/// A repository that is set up for a demonstration.
pub struct Demo {
    pub root: PathBuf,
    is_temporary: bool,
    /// The trusted gate.
    pub gate: String,
    story: Story,
    culprit: Option<Culprit>,
}

/// The result of a demonstration.
#[derive(Debug)]
pub struct DemoResult {
    /// The repository, which is kept.
    pub root: PathBuf,
    /// Whether its directory was created by `cook` and not named by the user.
    pub is_temporary: bool,
    /// The culprit, if any.
    pub culprit: Option<Culprit>,
    /// How each misdeed was caught.
    pub catches: Vec<CaughtViolation>,
    /// The driver's result.
    pub outcome: Outcome,
    /// The documents at the end.
    pub snapshot: Snapshot,
    /// HEAD at the end.
    pub head: Head,
    /// Wall time of the run.
    pub took: Duration,
}

impl Demo {
    /// Sets up the repository as a user would: a program, `cook init`, `cook trust`; the log records that a script did
    /// this. `dir` must be absent or empty; without it a new directory is created in the system's temporary directory.
    /// `author` is the name and address for commits.
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

    /// Drives the demonstration to its end.
    ///
    /// # Errors
    /// `demo_failed` if the work is not done at the end; `demo_not_caught` if the log does not show a misdeed; any
    /// failure of the driver.
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
        // A sandbox would prevent the misdeeds that it demonstrates.
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
