//! Where many tests begin: brought about once, and copied for each of them.
//!
//! What is copied is kept in memory, so that nothing is left behind when the tests end.

use super::repo::Repo;
use super::room;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use tempfile::TempDir;

type Stages = BTreeMap<(&'static Location<'static>, String), Arc<OnceLock<Copied>>>;

static STAGES: Mutex<Stages> = Mutex::new(BTreeMap::new());

/// Directories and files below one directory, a directory before what is in it.
struct Copied(Vec<(PathBuf, Permissions, Option<Vec<u8>>)>);

impl Repo {
    /// The repository that `make` makes, with its home and what is beside it; made at the first call of that
    /// line with that name.
    #[track_caller]
    pub fn stage(name: &str, make: impl FnOnce() -> Self) -> Self {
        Self::stage_in(room(), name, make)
    }

    /// The same in that directory.
    #[track_caller]
    pub fn stage_in(place: TempDir, name: &str, make: impl FnOnce() -> Self) -> Self {
        let mut stages = STAGES.lock().unwrap();
        let stage = Arc::clone(
            stages
                .entry((Location::caller(), name.to_owned()))
                .or_default(),
        );
        drop(stages);
        let stage = stage.get_or_init(|| {
            let mut copied = Copied(Vec::new());
            copied.read(&make().beside(""), Path::new(""));
            copied
        });
        let repo = Self::in_place(place);
        stage.write(&repo.beside(""));
        repo
    }
}

impl Copied {
    fn read(&mut self, from: &Path, below: &Path) {
        for entry in std::fs::read_dir(from.join(below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            let meta = entry.metadata().unwrap();
            assert!(!meta.is_symlink(), "{} cannot be copied", path.display());
            if meta.is_dir() {
                self.0.push((path.clone(), meta.permissions(), None));
                self.read(from, &path);
            } else {
                let bytes = std::fs::read(entry.path()).unwrap();
                self.0.push((path, meta.permissions(), Some(bytes)));
            }
        }
    }

    fn write(&self, to: &Path) {
        for (path, permissions, bytes) in &self.0 {
            let path = to.join(path);
            match bytes {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None => std::fs::create_dir_all(&path).unwrap(),
            }
            std::fs::set_permissions(&path, permissions.clone()).unwrap();
        }
    }
}
