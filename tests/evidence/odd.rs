//! Places that are no text, and tests that do not come to an end.

use crate::evidence::job::Job;

#[test]
fn a_link_to_the_renamed_file_leads_to_the_text() {
    let job = Job::finish_by("lib.sh:5");
    std::fs::create_dir(job.repo.root.join("src")).unwrap();
    job.git(&["mv", "lib.sh", "src/lib.sh"]);
    std::os::unix::fs::symlink("src/lib.sh", job.repo.root.join("lib.sh")).unwrap();
    job.repo.commit("Link to it", None);
    job.holds();
    assert_eq!(job.record("a")["anchor"], "src/lib.sh:5");
}
