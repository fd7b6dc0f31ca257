//! The variables by which runners in a room find the hooks.

use cook_trials::hooks::{self, HookPlaces};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The directory in a room's home with the hooks, and the file that they append to.
pub(super) const HOOKS: &str = ".trial/hooks";
pub(super) const RECORDS: &str = ".trial/records";

/// Adds the variables that name the hooks, for a program that sees its home and the tree there.
pub(super) fn add_hooks(env: &mut BTreeMap<OsString, OsString>, home: &Path, top: &Path) {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let (hooks, records) = (text(home.join(HOOKS)), text(home.join(RECORDS)));
    let root = text(top.to_owned());
    let places = HookPlaces {
        hooks: &hooks,
        records: &records,
        root: &root,
    };
    let existing = |name: &str| {
        let value = env.get(OsStr::new(name))?;
        Some(value.to_string_lossy().into_owned())
    };
    let added = hooks::variables(&places, existing);
    env.extend(
        added
            .into_iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
}
