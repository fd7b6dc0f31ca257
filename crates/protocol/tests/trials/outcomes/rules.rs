//! Rules that hold for all runners.

use cook_protocol::trials::outcomes::names;
use cook_protocol::trials::{Material, Outcomes, Report};

fn read_lines(stdout: &str) -> Outcomes {
    Outcomes::read(&Material {
        stdout,
        ..Material::default()
    })
}

#[test]
fn an_output_that_was_cut_is_partial() {
    for output in [
        "1..7\nok 1 - a\nok 2 - b\n",
        "1..2\nok 1 - a\nBail out!  the database is gone\n",
        "TAP version 13\nok 1 - a\n# the process ended\n",
        "ok 1 - a\n    1..3\n    ok 1 - inner\nok 2 - outer\n1..2\n",
        "1..1\nok 1\n1..2\nok 1\n",
        "test a ... ok\n[cook: 900 bytes left out]\ntest b ... ok\n",
        "running 3 tests\ntest a ... ok\n",
    ] {
        let outcomes = read_lines(output);
        assert!(outcomes.is_partial, "{output}");
        assert_eq!(
            outcomes.ends_early,
            !output.contains("left out"),
            "{output}"
        );
    }
    for output in [
        "1..2\nok 1 - a\nok 2 - b # SKIP why\n",
        "TAP version 14\nok 1 - a\nnot ok 2 - b # TODO\n1..2\n",
        "1..0 # SKIP nothing here\n",
        "1..1\nok 1\n1..2\nok 1\nnot ok 2\n",
        "1..7\ntest a::b ... ok\n",
        "Bail out! is what it says\ntest a::b ... ok\n",
        "1..x\nok 1 - a\n",
        "",
    ] {
        assert!(!read_lines(output).is_partial, "{output}");
    }
}

#[test]
fn a_name_is_the_whole_or_the_last_parts() {
    for (full, claimed) in [
        ("a::b::c", "a::b::c"),
        ("a::b::c", "b::c"),
        ("pkg a::b", "a::b"),
        ("example.com/m/a.TestX/sub", "TestX/sub"),
        ("example.com/m/a.TestX/sub", "a.TestX/sub"),
        ("a.test.js > calc > adds", "calc > adds"),
        ("CalcTest#test_add", "test_add"),
        ("m.T.test_mul", "test_mul (m.T.test_mul)"),
        ("m.T.test_mul", "test_mul (m.T)"),
    ] {
        assert!(names(full, claimed), "{full} {claimed}");
    }
    for (full, claimed) in [
        ("a::bc", "c"),
        ("a::b", "a"),
        ("a::b", ""),
        ("m.T.test_mul", "test_mul (other.T.test_mul)"),
    ] {
        assert!(!names(full, claimed), "{full} {claimed}");
    }
}

/// Every recorded output cut, doubled, and with bytes exchanged at places that a fixed sequence picks.
#[test]
fn no_text_makes_it_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut pick = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    let mut all = Vec::new();
    for file in std::fs::read_dir(super::directory()).expect("outputs") {
        let path = file.expect("a file").path();
        all.push(std::fs::read(path).expect("bytes"));
    }
    let odd = [
        "\u{1b}[",
        "\r",
        "\0",
        "\u{2713} ",
        "<",
        ">",
        "\"",
        "1..",
        " ... ",
        "::",
        "(",
        " - ",
        "\u{e9}",
    ];
    for _ in 0..400 {
        let mut bytes = all[pick(all.len())].clone();
        let other = &all[pick(all.len())];
        bytes.truncate(pick(bytes.len()) + 1);
        bytes.extend_from_slice(&other[pick(other.len())..]);
        for _ in 0..8 {
            let at = pick(bytes.len());
            let word = odd[pick(odd.len())].bytes();
            bytes.splice(at..at, word);
            let at = pick(bytes.len());
            bytes[at] = bytes[at].wrapping_add(1);
        }
        let text = String::from_utf8_lossy(&bytes);
        Outcomes::read(&Material {
            root: "/tree",
            stdout: &text,
            stderr: &text,
            records: &text,
            reports: &[Report {
                path: "a.xml",
                text: &text,
            }],
        });
    }
}
