//! Frames at several sizes, and that nobody's words act on a terminal.

use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn draw(watched: &Watched, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| watched.draw(frame)).expect("a frame");
    terminal.backend().to_string()
}

fn slice(number: usize, status: &'static str, proven: usize) -> WatchedSlice {
    WatchedSlice {
        id: format!("slice-{number}"),
        goal: format!("make part {number} of the library work as its users expect"),
        status,
        proven,
        criteria: 4,
    }
}

fn wait(what: &str, exit: &str) -> WatchedWait {
    WatchedWait {
        what: what.to_owned(),
        exit: exit.to_owned(),
    }
}

fn at_work() -> Watched {
    Watched {
        mission: "Extend the library".to_owned(),
        standing: "continue · phase implementation · #17".to_owned(),
        cost: "0.4200 US dollars".to_owned(),
        slices: vec![
            slice(1, "done", 4),
            slice(2, "in_progress", 1),
            slice(3, "planned", 0),
        ],
        run: Run::Driven("driven by pid 12".to_owned()),
        sessions: vec![WatchedSession {
            what: "completion-implementer by claude, pid 13, 4m, tool Bash".to_owned(),
            lines: (1..=9)
                .map(|number| format!("PROGRESS: step {number}"))
                .collect(),
        }],
        moments: (1..=17)
            .map(|seq| make_line(seq, "00:00:00", "reviewed", "role", "slice-1"))
            .collect(),
        ..Watched::default()
    }
}

#[test]
fn the_work_at_80_by_24() {
    insta::assert_snapshot!(draw(&at_work(), 80, 24));
}

#[test]
fn many_slices_leave_room_for_the_session() {
    let mut watched = at_work();
    watched.slices = (1..=50)
        .map(|number| match number {
            ..30 => slice(number, "done", 4),
            30 => slice(number, "selected", 2),
            _ => slice(number, "planned", 0),
        })
        .collect();
    insta::assert_snapshot!(draw(&watched, 80, 24));
}

/// What does not fit says so; what leaves a stop, and what came of a key, stands there whole.
#[test]
fn long_words_at_80_by_24() {
    let long = "words that go on, as those of people and agents do, ".repeat(5);
    let mut watched = at_work();
    watched.mission.clone_from(&long);
    watched.slices[1].id = "a-name-that-is-as-long-as-names-of-tasks-come".to_owned();
    watched.waits = Some(wait(&long, "cook resume --budget attempts=2"));
    watched.run = Run::Killed(
        "the run (pid 4711) was killed in a session of the completion-implementer: `cook run` \
         settles it and goes on"
            .to_owned(),
    );
    watched.sessions[0].lines = vec![format!("PROGRESS: {long}"); 3];
    watched.sessions[0].what = format!("{}, 写写写写写写写写", watched.sessions[0].what);
    watched.moments = vec![make_line(12, "00:00:00", "regrounded", "role", &long); 5];
    watched.note = Some("user_only: only a person may do this: `COOK_ROLE` is set, as it is in a session of an agent".to_owned());
    insta::assert_snapshot!(draw(&watched, 80, 24));
    watched.pane = Pane::Report {
        title: format!("#17 reviewed {long}"),
        lines: vec![long],
        from: 0,
    };
    insta::assert_snapshot!(draw(&watched, 80, 24));
}

#[test]
fn a_question_and_its_answer() {
    let mut watched = at_work();
    watched.sessions.clear();
    watched.run = Run::None;
    watched.waits = Some(wait(
        "which port should it listen on?",
        "cook answer 'TEXT'",
    ));
    watched.asks = true;
    watched.pane = Pane::Answer {
        question: "which port should it listen on?".to_owned(),
        text: "8080".to_owned(),
    };
    insta::assert_snapshot!(draw(&watched, 80, 24));
}

#[test]
fn a_killed_run_and_a_report_in_a_small_terminal() {
    let mut watched = at_work();
    watched.run = Run::Killed("the run was killed: `cook run` settles it".to_owned());
    watched.sessions.clear();
    let killed = draw(&watched, 40, 10);
    watched.pane = Pane::Report {
        title: "#17 reviewed".to_owned(),
        lines: (1..=30)
            .map(|line| format!("field {line}: words"))
            .collect(),
        from: 3,
    };
    insta::assert_snapshot!(format!("{killed}\n{}", draw(&watched, 40, 10)));
}

#[test]
fn no_size_is_too_small_and_no_word_does_anything() {
    let hostile = "a\u{1b}[2J\u{202e}b\u{7}\nc<system-reminder>\u{9b}1m".repeat(40);
    let mut watched = at_work();
    watched.mission = show_words(&hostile);
    watched.sessions[0].lines = vec![show_words(&hostile); 20];
    watched.slices[0].goal = show_words(&hostile);
    watched.slices[0].id = show_words(&hostile);
    watched.note = Some(show_words(&hostile));
    watched.waits = Some(wait(&show_words(&hostile), &show_words(&hostile)));
    for (width, height) in [(1, 1), (2, 3), (10, 4), (80, 24), (300, 100)] {
        let text = draw(&watched, width, height);
        let acts = |c: char| c != '\n' && cook_core::model::is_hidden(c);
        assert!(!text.contains(acts), "{text:?}");
        assert!(!text.contains("<system-reminder>"), "{text}");
    }
}
