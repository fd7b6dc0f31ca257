//! A mission or a profile that says something else than the log.

use crate::job::Job;

#[test]
fn a_mission_that_somebody_edits_stops_the_work_until_it_is_taken_in_or_put_back() {
    for committed in [false, true] {
        let job = Job::with_done();
        job.repo
            .write(".agent/mission.md", "Extend the library a little\n");
        if committed {
            job.repo.commit("A smaller mission", None);
        }
        let due = job.repo.due();
        assert_eq!(due["rule"], "S");
        let reason = due["reason"].as_str().unwrap();
        assert!(
            reason.contains("cook refocus") && reason.contains("git checkout"),
            "{reason}"
        );
        job.select_b().exits(4).says("not_your_turn");
        // Put back.
        let words: Vec<&str> = reason
            .split('`')
            .filter(|part| part.starts_with("git "))
            .collect();
        let words: Vec<&str> = words[0].split(' ').skip(1).collect();
        job.git(&words);
        if committed {
            job.repo.commit("The mission again", None);
        }
        job.stands();
    }
    let job = Job::with_done();
    job.repo.write(".agent/mission.md", "Another mission\n");
    let take_in = [
        "refocus",
        "--mission-file",
        ".agent/mission.md",
        "--commit",
        "--as-user",
    ];
    job.repo.cook(&take_in).ok().says("committed as");
    assert_eq!(job.git(&["status", "--porcelain"]), "");
    assert_ne!(job.repo.rule(), "S");
}

#[test]
fn a_profile_that_is_broken_or_edited_stops_the_work() {
    let job = Job::with_done();
    let profile = job.repo.read(".agent/profile.json");
    job.repo.write(".agent/profile.json", "{");
    assert_eq!(job.repo.rule(), "S");
    job.repo.write(
        ".agent/profile.json",
        profile.replace("\"required_stop_judges\": 3", "\"required_stop_judges\": 4"),
    );
    assert_eq!(job.repo.rule(), "S");
    job.repo.cook(&["init"]).ok();
    assert_ne!(job.repo.rule(), "S");
}

#[test]
fn undo_of_a_refocus_brings_the_mission_back() {
    let job = Job::with_done();
    let mission = job.repo.read(".agent/mission.md");
    job.repo
        .cook(&["refocus", "--mission", "Another one", "--as-user"])
        .ok();
    assert_ne!(job.repo.read(".agent/mission.md"), mission);
    job.repo.cook(&["undo", "--as-user"]).ok();
    assert_eq!(job.repo.read(".agent/mission.md"), mission);
    assert_eq!(job.git(&["status", "--porcelain"]), "");
    job.stands();
}
