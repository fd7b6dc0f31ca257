//! A worktree with the fake tracker in it.

use cook::tracker::{Actor, Beads, Bounds, Found};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// The shapes, with the program that speaks each: br 0.1.12, br from 0.1.30 on, bd.
pub const SHAPES: [(&str, &str); 3] = [("br", "flat"), ("br", "paged"), ("bd", "envelope")];

/// The fake, compiled once a test program.
pub fn fake() -> &'static Path {
    static FAKE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = FAKE.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("fake");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/fake_tracker.rs");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Command::new(rustc)
            .args(["--edition", "2024", "-C", "debuginfo=0", "-o"])
            .arg(&path)
            .arg(source)
            .status()
            .unwrap();
        assert!(built.success());
        (dir, path)
    });
    path
}

/// A directory on PATH that holds the fake under a program's name.
pub fn install(bin: &Path, name: &str) -> PathBuf {
    std::fs::create_dir_all(bin).unwrap();
    let path = bin.join(name);
    std::fs::copy(fake(), &path).unwrap();
    path
}

/// The issues of a worktree.
pub struct Issues {
    /// The worktree.
    pub root: PathBuf,
}

impl Issues {
    /// A workspace that answers in this shape.
    pub fn at(root: &Path, shape: &str) -> Self {
        let issues = Self {
            root: root.to_owned(),
        };
        issues.write("shape", shape);
        issues
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(".beads/fake").join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// An open issue; `needs` are lines of `type id`.
    pub fn add(&self, id: &str, title: &str, needs: &str) {
        for (name, value) in [
            ("title", title),
            ("status", "open"),
            ("type", "task"),
            ("priority", "2"),
            ("deps", needs),
        ] {
            self.set(id, name, value);
        }
    }

    pub fn set(&self, id: &str, name: &str, value: &str) {
        self.write(&format!("issues/{id}/{name}"), value);
    }

    pub fn get(&self, id: &str, name: &str) -> String {
        self.read(&format!("issues/{id}/{name}"))
    }

    /// What this command does from now on; empty for what it should.
    pub fn fault(&self, command: &str, fault: &str) {
        self.write(&format!("faults/{command}"), fault);
    }

    pub fn comments(&self, id: &str) -> Vec<String> {
        (0..)
            .map(|number| self.get(id, &format!("comment-{number:04}")))
            .take_while(|text| !text.is_empty())
            .collect()
    }

    /// The argument vectors the fake was called with.
    pub fn calls(&self) -> Vec<Vec<String>> {
        self.read("log")
            .lines()
            .map(|line| line.split('\u{1f}').map(str::to_owned).collect())
            .collect()
    }

    /// How often a command was called.
    pub fn count(&self, words: &[&str]) -> usize {
        let calls = self.calls();
        calls
            .iter()
            .filter(|call| {
                call.starts_with(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
            })
            .count()
    }
}

/// A workspace of its own, with the tracker that speaks to it.
pub struct Desk {
    pub dir: TempDir,
    pub issues: Issues,
    pub tracker: Beads,
}

impl Desk {
    pub fn new(program: &'static str, shape: &str) -> Self {
        Self::with(program, shape, bounds())
    }

    pub fn with(program: &'static str, shape: &str, bounds: Bounds) -> Self {
        let dir = super::room();
        let root = dir.path().join("work");
        let issues = Issues::at(&root, shape);
        let found = Found {
            name: program,
            program: install(&dir.path().join("bin"), program),
        };
        let actor = Actor {
            name: "me".to_owned(),
            also: vec!["me@example.org".to_owned()],
        };
        let tracker = Beads::new(&found, &root, actor, bounds);
        Self {
            dir,
            issues,
            tracker,
        }
    }

    pub fn git_dir(&self) -> &Path {
        self.dir.path()
    }
}

/// Generous, for a busy machine; tests of hangs have their own.
pub fn bounds() -> Bounds {
    Bounds {
        call: Duration::from_secs(20),
        lock: Duration::from_millis(300),
        bytes: 1 << 20,
        ..Bounds::command()
    }
}

/// Short enough to wait for.
pub fn hasty() -> Bounds {
    Bounds {
        call: Duration::from_millis(1500),
        flush: false,
        ..bounds()
    }
}
