//! `cook report --html`: the page of a finished job, of open work, and of a log that was fetched.

use crate::verify::formats::HOSTILE;
use crate::verify::job::{make_finished, make_sent_back};

/// Nothing of it runs or loads, and nothing acts on whoever looks at its text.
#[track_caller]
fn stands_by_itself(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    let small = page.to_lowercase();
    // Words of somebody's stand outside the tags: no `<` of theirs is one.
    for tag in small.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let name = tag.split(' ').next().unwrap();
        let runs = [
            "script",
            "img",
            "link",
            "iframe",
            "object",
            "embed",
            "form",
            "base",
            "use",
            "image",
            "audio",
            "video",
            "foreignobject",
            "a:script",
        ];
        assert!(!runs.contains(&name), "<{tag}>");
        let loads = [
            " src=", " srcset=", " on", " style=", "xlink", "href=\"h", "href=\"/", "href=\"j",
        ];
        let found = loads.iter().find(|it| tag.contains(**it) && name != "meta");
        assert!(found.is_none(), "<{tag}>");
    }
    assert!(!small.contains("@import") && !small.contains("url(h"));
    assert!(small.contains("content=\"default-src 'none'; style-src 'sha256-"));
    let hidden = ['\u{1b}', '\u{202e}', '\u{7}', '\u{85}', '\u{2028}'];
    assert!(!page.contains(hidden));
}

/// The verdict is the first heading.
#[track_caller]
fn says_first(page: &str, verdict: &str) {
    let body = page.split("<body>").nth(1).unwrap();
    let heading = body.split("<h1>").nth(1).unwrap();
    assert!(heading.starts_with(verdict), "{body}");
}

#[test]
fn the_page_is_a_file_that_appears_whole_and_replaces_nothing_else() {
    let repo = make_finished();
    let out = repo.outside();
    let file = out.join("report.html");
    let name = file.to_str().unwrap();
    let told = repo.cook(&["report", "--html", name, "--json"]).ok().json();
    assert_eq!(told["file"], name);
    assert_eq!(told["proven"], true);
    let page = std::fs::read_to_string(&file).unwrap();
    assert_eq!(told["bytes"], page.len());
    says_first(&page, "DONE AND PROVEN");
    // Once more over itself: a file is replaced.
    repo.cook(&["report", "--html", name]).ok().says("wrote ");
    let left: Vec<_> = std::fs::read_dir(&out).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    // One that nobody may write is somebody's.
    let mut bits = std::fs::metadata(&file).unwrap().permissions();
    bits.set_readonly(true);
    std::fs::set_permissions(&file, bits).unwrap();
    repo.cook(&["report", "--html", name])
        .fails(3, "not_writable")
        .says("is read-only");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), page);

    let dir = out.to_str().unwrap();
    repo.cook(&["report", "--html", dir])
        .exits(2)
        .says("is a directory")
        .says("report.html");
    let nowhere = out.join("none/report.html");
    repo.cook(&["report", "--html", nowhere.to_str().unwrap()])
        .exits(2)
        .says("there is no directory");
    repo.cook(&["report", "--html", "-", "--json"])
        .exits(2)
        .says("--html report.html");
    repo.cook(&["report"]).exits(2).says("--html");
    #[cfg(unix)]
    {
        repo.cook(&["report", "--html", "/dev/null"])
            .exits(2)
            .says("is not a file");
        let link = out.join("link.html");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        repo.cook(&["report", "--html", link.to_str().unwrap()])
            .exits(2)
            .says("is not a file");
    }
    #[cfg(target_os = "linux")]
    repo.cook(&["report", "--html", "/proc/report.html"])
        .fails(3, "not_writable")
        .says("free space or correct the permissions");
}

#[test]
fn open_work_and_hostile_words_are_said_and_do_nothing() {
    let repo = make_sent_back(HOSTILE, &format!("Do it {HOSTILE}\u{202e}\u{1b}[2J"));
    let page = repo.cook(&["report", "--html", "-"]).ok().out;
    stands_by_itself(&page);
    says_first(&page, "NOT DONE");
    for part in [
        "&lt;img src=x onerror=z&gt;",
        "a review said no",
        "the review sends it back",
        "the sum is wrong",
        "… open",
        "not_done",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}
