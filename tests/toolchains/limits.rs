//! What a machine does not have.

use crate::support::{Repo, run_alone};
use crate::toolchains::{green, init_green, is_here, make_project, skip};

/// A cache that holds something odd makes a gate red until the room is new.
#[test]
fn a_cache_that_rots_is_emptied() {
    if !is_here(&[&["make", "--version"]]) {
        return;
    }
    let repo = Repo::unborn();
    make_project(&repo, "a.txt");
    repo.commit("Begin", None);
    init_green(&repo);
    // Newer than its source, and not what that makes.
    std::fs::write(crate::toolchains::room(&repo).join("build/b"), "rot\n").unwrap();
    repo.write("a.txt", "other text\n");
    repo.commit("Change one line", None);
    repo.cook(&["gate", "--clean"]).exits(1);
    repo.cook(&["gate", "--clean", "--fresh"]).exits(0);
    repo.cook(&["gate", "--clean"]).exits(0);
    green(&repo);
}

/// A file system of one mebibyte, for as long as this lives.
struct Small {
    place: std::path::PathBuf,
}

impl Small {
    fn mount(repo: &Repo) -> Option<Self> {
        let place = repo.outside().join("small");
        std::fs::create_dir(&place).unwrap();
        let mut command = repo.command("mount");
        command
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(&place);
        let mounted = command.output().is_ok_and(|output| output.status.success());
        if !mounted {
            skip("a file system cannot be mounted here");
        }
        mounted.then_some(Self { place })
    }
}

impl Small {
    /// What lies there, but for notes.
    fn large_files(&self, repo: &Repo) -> String {
        let mut command = repo.command("find");
        command.arg(&self.place);
        run_alone(command.args(["-type", "f", "-size", "+8k"]))
            .ok()
            .out
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg(&self.place)
            .status();
    }
}

#[test]
fn where_a_commit_does_not_fit_nothing_stays() {
    let repo = Repo::with_mission("Keep it green");
    let Some(small) = Small::mount(&repo) else {
        return;
    };
    let noise: Vec<u8> = (0..2 << 20).map(|at: u32| (at % 251) as u8).collect();
    repo.write("large", noise);
    repo.write(
        ".agent/cook.toml",
        format!(
            "[clean_room]\ndir = \"{}\"\n[gates]\ntest = {{ run = \"true\" }}\n",
            small.place.display()
        ),
    );
    repo.commit("Grow", None);
    repo.trust("true");
    let run = repo.cook(&["gate", "--clean"]);
    run.fails(3, "no_space");
    assert_eq!(small.large_files(&repo), "");
    // Where the end rests on it the history is copied too.
    repo.git(&["rm", "-q", "large"]);
    repo.write("noise", random(2 << 20));
    repo.commit("Take another", None);
    repo.git(&["rm", "-q", "noise"]);
    repo.commit("Shrink", None);
    repo.cook(&["gate", "--clean"]).exits(0);
    repo.cook(&["gate", "--clean", "--fresh"])
        .fails(3, "no_space");
    assert_eq!(small.large_files(&repo), "");
}

/// Bytes that no compression makes fewer.
fn random(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}
