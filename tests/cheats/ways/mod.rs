//! The ways, each a script that commits work whose gate fails in a clone and then makes it look otherwise;
//! by what they turn against cook.

mod environment;
mod evidence;
mod gates;
mod links;
mod objects;
mod settings;
mod time;
mod users;
mod worktree;
mod worktrees;

/// What keeps a way from working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// cook, wherever it runs.
    Everywhere,
    /// The sandbox of the gate: it hides what a command reaches by a whole path, or over the network.
    BySandbox,
    /// A session of `cook run`, which is measured and whose processes are ended: by hand nobody can tell an
    /// agent from the user whose account it has.
    ByRun,
    /// The sandbox of such a session: without it what it leaves outside of the repository stays.
    BySandboxedRun,
}

/// One way.
pub struct Way {
    pub name: &'static str,
    pub script: &'static str,
    pub held: Held,
}

const fn make_way(name: &'static str, script: &'static str, held: Held) -> Way {
    Way { name, script, held }
}

const fn way(name: &'static str, script: &'static str) -> Way {
    make_way(name, script, Held::Everywhere)
}

const fn outside(name: &'static str, script: &'static str) -> Way {
    make_way(name, script, Held::BySandbox)
}

const fn by_hand(name: &'static str, script: &'static str) -> Way {
    make_way(name, script, Held::ByRun)
}

const fn only_apart(name: &'static str, script: &'static str) -> Way {
    make_way(name, script, Held::BySandboxedRun)
}

/// All of them.
pub fn all() -> Vec<&'static Way> {
    let classes = [
        worktree::WAYS,
        settings::WAYS,
        objects::WAYS,
        links::WAYS,
        environment::WAYS,
        gates::WAYS,
        evidence::WAYS,
        users::WAYS,
        time::WAYS,
        worktrees::WAYS,
    ];
    classes.into_iter().flatten().collect()
}

/// Work whose gate passes in a clone, in shapes that a check might take for a cheat.
pub const HONEST: &[Way] = &[
    way("plain", "good; work"),
    way(
        "with ignored files about",
        "good; echo junk >>.gitignore; work; touch junk",
    ),
    way(
        "with a submodule left alone",
        "good; mkdir -p 'a dir/b'; echo x >'a dir/b/c d'; work",
    ),
    way(
        "with line ends",
        "good; printf '*.sh text eol=lf\\n' >.gitattributes; work",
    ),
    way("with a link inside", "good; ln -s a.txt link; work"),
    way(
        "that builds into its cache",
        "good; echo 'mkdir -p target; cat results; grep -qx two a.txt && touch target/built' >test.sh; work",
    ),
    way(
        "with packs, bitmaps, an index of them and a commit graph",
        "good; work; git repack -qadb; git multi-pack-index write; git commit-graph write --reachable",
    ),
];

/// The same for what a session of `cook run` may not do, or cannot leave outside.
pub const HONEST_BY_HAND: &[Way] = &[
    way(
        "with history and tags that it reads",
        "good; echo 'cat results; git describe --tags && git cat-file -e HEAD~1:README.md' >test.sh; work; git tag v1",
    ),
    way(
        "with a submodule of a remote",
        r#"git init -q "$OUT/sub"; touch "$OUT/sub/helper"; git -C "$OUT/sub" add helper; git -C "$OUT/sub" commit -q -m x; git -c protocol.file.allow=always submodule -q add "$OUT/sub" sub; good; echo 'cat results; test -e sub/helper' >test.sh; work"#,
    ),
];
