//! Clones that record at once with `sync = "each"`: every transition that was acknowledged is in
//! one chain, in whatever order, and no other.

use crate::remote::{LOG, Shared, name, say};
use std::collections::BTreeSet;
use std::time::Instant;

fn race(clones: u8, each: u32) {
    let shared = Shared::make_pushed();
    let first = &shared.first;
    let text = first.read(".agent/cook.toml") + "\n[log]\nsync = \"each\"\n";
    first.write(".agent/cook.toml", text);
    first.commit("Let each transition travel", None);
    first.cook(&["push"]).ok();
    let began = Instant::now();
    let done: Vec<(BTreeSet<String>, u32)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..clones)
            .map(|number| {
                let clone = shared.another(number + 2);
                // Each process has a name of its own, as on machines of their own.
                clone
                    .extra
                    .borrow_mut()
                    .retain(|(key, _)| key != "COOK_WRITER");
                scope.spawn(move || {
                    clone.cook(&["pull"]).ok();
                    let (mut taken, mut late) = (BTreeSet::new(), 0);
                    for at in 0..each {
                        let run = crate::support::run(
                            clone
                                .cook_command(&[
                                    "brief",
                                    "say",
                                    &format!("{number} {at}"),
                                    "--as-user",
                                    "--json",
                                ])
                                .env_remove("COOK_WRITER"),
                            b"",
                        );
                        match run.code {
                            0 => {
                                let new = taken
                                    .insert(run.json()["operation"].as_str().unwrap().to_owned());
                                assert!(new, "one transition was acknowledged twice");
                            }
                            4 => {
                                assert!(run.err.contains("[stale_facts]"), "{}", run.err);
                                late += 1;
                            }
                            _ => panic!("{}{}", run.out, run.err),
                        }
                    }
                    clone.cook(&["doctor", "fsck"]).ok();
                    (taken, late)
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let chain = shared.git(&["rev-list", "--parents", LOG]);
    let held: BTreeSet<&str> = chain
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        chain.lines().all(|line| line.split(' ').count() <= 2),
        "{chain}"
    );
    let acknowledged: usize = done.iter().map(|(taken, _)| taken.len()).sum();
    let late: u32 = done.iter().map(|(_, late)| late).sum();
    for (taken, _) in &done {
        for transition in taken {
            assert!(held.contains(transition.as_str()), "{transition} was lost");
        }
    }
    // One for the set-up.
    assert_eq!(held.len(), acknowledged + 1);
    let last = shared.another(250);
    name(&last, 250);
    last.cook(&["pull"]).ok();
    last.cook(&["verify", "control-plane"]).ok();
    assert!(say(&last, "the end").code == 0);
    println!(
        "{clones} clones of {each}: {acknowledged} acknowledged, all in one chain, {late} gave up after 8 tries, {} s",
        began.elapsed().as_secs()
    );
}

#[test]
fn a_few_clones_lose_nothing() {
    race(3, 6);
}

#[test]
#[ignore = "proofs/race.sh"]
fn eight_clones_lose_nothing() {
    race(8, 200);
}
