//! `cook init --tick`: the boxes of a plan that was taken in say what holds now.

use crate::cli::taken_plans::{begin_with_list, build, slices};
use crate::support::Repo;

const LIST: &str = "* [ ]  Write b.txt \r\n* [✓] Write c.txt\r\n* [ ] Write d.txt\r\n";

/// The first of the list is built and ticked; its file.
fn make_built() -> (Repo, String) {
    let repo = begin_with_list(LIST);
    let first = &slices(&repo)[0];
    build(&repo, first);
    let path = format!("{}.txt", first.0);
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("ticked in TODO.md: Write b.txt")
        .says("left as it is in TODO.md: Write c.txt: cook never found it done");
    assert_eq!(
        repo.read("TODO.md"),
        LIST.replace("[ ]  Write b", "[x]  Write b")
    );
    repo.commit("Tick", None);
    (repo, path)
}

/// The log says done until a report is taken; the box says what is.
#[test]
fn the_tick_of_what_was_lost_is_taken_back() {
    let (repo, path) = make_built();
    repo.git(&["rm", "-q", &path]);
    repo.commit("Take it away", None);
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("removed the tick in TODO.md: Write b.txt: `Write b.txt`: its text is gone from");
    assert_eq!(repo.read("TODO.md"), LIST);
    // Nothing is left to do, and what the log still calls done is not ticked again.
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("nothing to tick")
        .says("left as it is in TODO.md: Write b.txt: `Write b.txt`: its text is gone from");
    assert_eq!(repo.read("TODO.md"), LIST);
}
