//! `cook init --tick`: the boxes of a plan that was taken in say what holds now.

use crate::cli::taken_plans::{begin_with_list, build, slices};
use crate::support::Repo;
use serde_json::json;

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

fn ask(repo: &Repo) {
    let policy = json!({"to": "await_user_input", "question": "is this wanted?"});
    let report = repo.regrounder_report(&json!({"policy": policy}));
    repo.record("regrounder", report).ok();
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

#[test]
fn the_tick_of_a_slice_that_was_opened_again_is_taken_back() {
    let (repo, path) = make_built();
    repo.git(&["rm", "-q", &path]);
    repo.commit("Take it away", None);
    ask(&repo);
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("removed the tick in TODO.md: Write b.txt: it was opened again");
    assert_eq!(repo.read("TODO.md"), LIST);
}

/// Other text in the place of the proof is not what was accepted.
#[test]
fn the_tick_of_what_was_rewritten_is_taken_back_and_comes_again_with_its_text() {
    let (repo, path) = make_built();
    repo.write(&path, "somebody wrote another line\n");
    repo.commit("Rewrite", None);
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("removed the tick in TODO.md: Write b.txt: `");
    assert_eq!(repo.read("TODO.md"), LIST);
    repo.git(&["checkout", "-q", "--", "TODO.md"]);
    repo.git(&["revert", "--no-edit", "HEAD"]);
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("nothing to tick");
    assert_eq!(
        repo.read("TODO.md"),
        LIST.replace("[ ]  Write b", "[x]  Write b")
    );
}

/// What the list called done, and was shown once, is taken back when it is lost; a tick may be longer
/// than one byte.
#[test]
fn the_tick_of_what_was_there_and_is_lost_is_taken_back() {
    let repo = begin_with_list(LIST);
    repo.write("c.txt", "the file c.txt is here\n");
    repo.commit("Before", None);
    let there = &slices(&repo)[1];
    let block = json!({
        "plan": {"cancel": [{"slice_id": there.0, "reason": "already satisfied"}]},
        "evidence": [{"slice_id": there.0, "criterion": there.2[0], "anchor": "c.txt:1"}],
    });
    let report = repo.regrounder_report(&block);
    repo.record("regrounder", report).ok();
    repo.cook(&["init", "--tick", "--as-user"])
        .ok()
        .says("nothing to tick");
    repo.git(&["rm", "-q", "c.txt"]);
    repo.commit("Take it away", None);
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("removed the tick in TODO.md: Write c.txt: `");
    assert_eq!(repo.read("TODO.md"), LIST.replace("✓", " "));
}
