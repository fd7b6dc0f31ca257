//! The programs that speak to a forge. Each word is an argument of its own and the body is a file: nothing
//! of it is read by a shell.

use crate::view::PullRequestAnswer;
use clap::ValueEnum;
use cook_core::diagnostic::{Code, Failure, FailureKind};
use cook_git::Repo;
use cook_os::disk::TemporaryDir;
use cook_os::process::{Short, capture, on_path};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(120);
const LIMIT: usize = 1 << 20;

/// Which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Forge {
    /// GitHub's
    Gh,
    /// GitLab's
    Glab,
}

impl Forge {
    const ALL: [Self; 2] = [Self::Gh, Self::Glab];

    fn program(self) -> &'static str {
        match self {
            Self::Gh => "gh",
            Self::Glab => "glab",
        }
    }

    /// The one that is named, else the first that is here.
    pub fn find(named: Option<Self>) -> Result<Self, Failure> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_here = |forge: &Self| on_path(forge.program(), &path).is_some();
        let wanted = named.map_or(Self::ALL.to_vec(), |named| vec![named]);
        wanted.iter().copied().find(is_here).ok_or_else(|| {
            let names: Vec<&str> = wanted.iter().map(|forge| forge.program()).collect();
            let what = format!("`{}` is not on PATH", names.join("` or `"));
            Failure::state(Code::ForgeAbsent, what)
        })
    }

    /// Makes the request, and says where it is.
    pub fn create(
        self,
        repo: &Repo,
        branch: &str,
        base: Option<&str>,
        told: &PullRequestAnswer,
    ) -> Result<String, Failure> {
        let dir = TemporaryDir::make().map_err(|error| unwritable(&error))?;
        let file = dir.path().join("body.md");
        std::fs::write(&file, &told.body).map_err(|error| unwritable(&error))?;
        let mut argv: Vec<OsString> = vec![self.program().into()];
        argv.extend(match self {
            Self::Gh => gh(branch, base, &told.title, &file),
            Self::Glab => glab(branch, base, &told.title, &file)?,
        });
        let made = capture(&Short {
            argv,
            dir: repo.root(),
            env: vec![
                ("GH_PROMPT_DISABLED", "1".into()),
                ("NO_PROMPT", "1".into()),
            ],
            stdin: Vec::new(),
            deadline: DEADLINE,
            limit: LIMIT,
            group: true,
        });
        let made = made.map_err(|error| {
            self.report_failure("it could not be run")
                .with_cause(&error)
        })?;
        if made.code != Some(0) {
            let last = made
                .stderr
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty());
            return Err(self.report_failure(last.unwrap_or("it said nothing").trim()));
        }
        let said = String::from_utf8_lossy(&made.stdout);
        let address = match self {
            Self::Gh => said.lines().last().map(|line| line.trim().to_owned()),
            Self::Glab => serde_json::from_str::<serde_json::Value>(&said)
                .ok()
                .and_then(|made| made["web_url"].as_str().map(str::to_owned)),
        };
        let address = address.filter(|address| !address.is_empty());
        address.ok_or_else(|| self.report_failure("it ended well and named no request"))
    }

    fn report_failure(self, why: &str) -> Failure {
        let what = format!("`{}` made no request: {why}", self.program());
        Failure::new(FailureKind::State, Code::ForgeRefused, what)
    }
}

fn gh(branch: &str, base: Option<&str>, title: &str, file: &Path) -> Vec<OsString> {
    let mut argv: Vec<OsString> = vec!["pr".into(), "create".into()];
    argv.push(format!("--head={branch}").into());
    argv.push(format!("--title={title}").into());
    argv.extend(base.map(|base| format!("--base={base}").into()));
    argv.extend(["--body-file".into(), file.into()]);
    argv
}

/// `glab mr create` takes no file, its `api` does.
fn glab(
    branch: &str,
    base: Option<&str>,
    title: &str,
    file: &Path,
) -> Result<Vec<OsString>, Failure> {
    let Some(base) = base else {
        let what = "`glab` has to be told into which branch: `cook report --format pr --create --into main`";
        return Err(Failure::usage(what));
    };
    let mut argv: Vec<OsString> = ["api", "--method", "POST"].map(OsString::from).into();
    argv.push("projects/:fullpath/merge_requests".into());
    for (key, value) in [
        ("source_branch", branch),
        ("target_branch", base),
        ("title", title),
    ] {
        argv.extend(["--raw-field".into(), format!("{key}={value}").into()]);
    }
    let mut body = OsString::from("description=@");
    body.push(file);
    argv.extend(["--field".into(), body]);
    Ok(argv)
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::state(Code::NotWritable, "a directory for the request's body").with_cause(error)
}
