//! The history that cook carries, for repositories that have none of their own: the job of `cook demo`, done
//! by its scripted agents in the user's name.

use super::history::Source;
use crate::demo::Demo;
use crate::drive::Unseen;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_os::disk::TemporaryDir;

/// The carried history, for as long as cases are made of it.
pub(super) struct Carried {
    pub source: Source,
    _dir: TemporaryDir,
}

/// Makes it.
///
/// # Errors
/// A directory that cannot be made, what keeps a demonstration from its end.
pub(super) fn carry(workspace: &Workspace) -> Result<Carried, Failure> {
    let dir = TemporaryDir::make().map_err(|error| {
        Failure::state(Code::NotWritable, "no directory can be made for cases").with_cause(&error)
    })?;
    let root = dir.path().join("roman");
    let name_of = |variable: &str, identity: &cook_git::Identity| {
        let found = identity.iter().find(|(name, _)| *name == variable);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let identity = workspace.repo.identity()?.unwrap_or_default();
    let name = name_of("GIT_AUTHOR_NAME", &identity);
    let address = name_of("GIT_AUTHOR_EMAIL", &identity);
    let author = (!name.is_empty()).then_some((name.as_str(), address.as_str()));
    let demo = Demo::prepare_by(Some(&root), None, author)?;
    demo.run(&mut Unseen)?;
    Ok(Carried {
        source: Source::of(Workspace::open(&root)?, false)?,
        _dir: dir,
    })
}
