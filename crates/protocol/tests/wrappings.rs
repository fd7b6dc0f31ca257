//! The ways in which models wrap a report: each is read as the plain one is, or refused with the
//! way to mend it, and never read as another one.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use cook_protocol::diagnostic::Code;
use cook_protocol::model::{Reground, ReportRecord, Role};
use cook_protocol::report::{DIMENSIONS, Kind, fields, has_block, has_rubric, parse};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Values {
    Short,
    /// Lists with empty lines between their items, indented lines, fences.
    Long,
}

fn value(role: Role, key: &str, values: Values) -> String {
    let kind = fields(role)
        .iter()
        .find(|field| field.key == key)
        .unwrap()
        .kind;
    let long = values == Values::Long;
    match (key, kind) {
        ("mission_anchor", _) => "Ship the thing: soon".to_owned(),
        ("commit_sha" | "latest_completed_slice_commit", _) => "0123456789abcdef".to_owned(),
        ("slice_id", _) => "s-1".to_owned(),
        ("plan_adjustment_required", _) => "no".to_owned(),
        ("smallest_follow_up_slice" | "next_mandatory_slice" | "worktree_blockers", _)
        | ("open_top_level_contract_ids" | "exact_remaining_open_top_level_contract_ids", _)
        | ("reconciled_slice_id" | "reopened_slices" | "current_selected_slice", _) => {
            "none".to_owned()
        }
        (_, Kind::YesNo) => if long { "**Yes**" } else { "yes" }.to_owned(),
        (_, Kind::Count) => "0".to_owned(),
        (_, Kind::Choice(_)) => "none".to_owned(),
        (_, Kind::List) if long => {
            "\n- one: a\n\n- two\n  and more\n\n  and a paragraph".to_owned()
        }
        (_, Kind::Text) if long => "\n    if x:\n        y\n\n    Findings: quoted".to_owned(),
        _ => "none".to_owned(),
    }
}

fn plain(role: Role, values: Values) -> String {
    let mut out = String::new();
    for (place, field) in fields(role)
        .iter()
        .filter(|field| field.required)
        .enumerate()
    {
        if place == 2 && has_rubric(role) {
            out.push_str("Rubric:\n");
            for dimension in DIMENSIONS {
                out.push_str(&format!("- {}: pass - it holds\n", dimension.label));
            }
        }
        let value = value(role, field.key, values);
        let blank = if value.starts_with('\n') { "" } else { " " };
        out.push_str(&format!("{}:{blank}{value}\n", field.label));
    }
    if has_block(role) {
        out.push_str("\n```json\n{\n  \"select\": \"s-2\"\n}\n```\n");
    }
    out
}

fn as_json(role: Role) -> String {
    let mut object = Map::new();
    for field in fields(role).iter().filter(|field| field.required) {
        object.insert(
            field.key.to_owned(),
            json!(value(role, field.key, Values::Short)),
        );
    }
    if has_rubric(role) {
        let entry = json!({"verdict": "pass", "why": "it holds"});
        let rubric = DIMENSIONS.map(|dimension| (dimension.key.to_owned(), entry.clone()));
        object.insert("rubric".to_owned(), Value::Object(Map::from_iter(rubric)));
    }
    if has_block(role) {
        object.insert("block".to_owned(), json!({"select": "s-2"}));
    }
    serde_json::to_string_pretty(&Value::Object(object)).unwrap()
}

/// Another whole report of the same role.
fn another(role: Role) -> String {
    plain(role, Values::Short)
        .replace("Remaining contract IDs", "REMAINING contract ids")
        .replacen(": none", ": c-other", 1)
}

type Read = (ReportRecord, Option<Reground>);

fn read(role: Role, text: &str) -> Result<Read, Vec<cook_protocol::diagnostic::Finding>> {
    let parsed = parse(role, text.as_bytes());
    match parsed.report {
        Some(report) => Ok((report.record(), report.block().cloned())),
        None => Err(parsed.findings),
    }
}

fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

/// Each line that begins a field, its label and its value.
fn each_label(role: Role, text: &str, change: impl Fn(&str, &str) -> String) -> String {
    each_line(text, |line| {
        let known = |label: &&str| {
            *label == "Rubric" || fields(role).iter().any(|field| field.label == *label)
        };
        match line.split_once(':').filter(|(label, _)| known(label)) {
            Some((label, value)) => change(label, value.trim()),
            None => line.to_owned(),
        }
    })
}

type Wrap = fn(Role, &str) -> String;

/// Each is read as the plain report is.
const READ: &[(&str, Wrap)] = &[
    ("prose before", |_, r| format!("Here is my report:\n\n{r}")),
    ("thoughts after words", |_, r| {
        format!("OK.\n<think>\nFindings: hm\n</think>\n{r}")
    }),
    ("thoughts in capitals", |_, r| {
        format!("<THINK>\nBlocker count: 7\n</Think>\n{r}")
    }),
    ("reasoning", |role, r| {
        format!("<reasoning>\n{}</reasoning>\n{r}", another(role))
    }),
    ("thoughts behind it", |_, r| {
        format!("{r}\n<thinking>\nBlocker count: 7\n</thinking>\n")
    }),
    ("a terminal's title", |_, r| format!("\u{1b}]0;t\u{7}{r}")),
    ("set in as a whole", |_, r| {
        each_line(r, |line| format!("    {line}"))
    }),
    ("prose right before", |_, r| {
        format!("Here is my report:\n{r}")
    }),
    ("prose after", |_, r| {
        format!("{r}\nI hope this helps! Note: all is well.\n\n- and a list\n")
    }),
    ("prose around", |_, r| {
        format!("I looked: all holds.\n\n{r}\nLet me know.\n")
    }),
    ("a heading", |_, r| {
        format!("# Report\n\n{r}\n## Notes\n\nnone\n")
    }),
    ("rules", |_, r| {
        format!("Done.\n\n---\n{r}---\nThat is all.\n")
    }),
    ("progress", |_, r| {
        format!("PROGRESS: reading\nVERIFYING: tests\n\n{r}")
    }),
    ("progress after", |_, r| format!("{r}\nPROGRESS: done\n")),
    ("a fence", |_, r| format!("```\n{r}```\n")),
    ("a fence with a language", |_, r| {
        format!("Here:\n```markdown\n{r}```\nBye.\n")
    }),
    ("a fence of text", |_, r| format!("```text\n{r}\n```")),
    ("tildes", |_, r| format!("So:\n~~~\n{r}~~~\n")),
    ("a long fence", |_, r| format!("So:\n````md\n{r}````\nBye.")),
    ("an indented fence", |_, r| {
        format!(
            "1. The report:\n\n   ```\n{}   ```\n",
            each_line(r, |line| format!("   {line}"))
        )
    }),
    ("a fence without an end", |_, r| format!("```text\n{r}")),
    ("an end without a fence", |_, r| format!("{r}```\n")),
    ("a quote", |_, r| {
        format!("My report:\n\n{}", each_line(r, |line| format!("> {line}")))
    }),
    ("a fence in a quote", |_, r| {
        each_line(&format!("```\n{r}```"), |line| format!("> {line}"))
    }),
    ("tags", |_, r| format!("<report>\n{r}</report>\n")),
    ("tags and words", |_, r| {
        format!("Sure.\n<answer>\n{r}</answer>\nDone.")
    }),
    ("thoughts", |_, r| {
        format!("<think>Findings: many?\nMISSION ANCHOR: no</think>\n{r}")
    }),
    ("thoughts that drafted", |role, r| {
        format!("<think>\n{}\n</think>\n\n{r}", another(role))
    }),
    ("the end of thoughts", |role, r| {
        format!("{}\n</think>\n{r}", another(role))
    }),
    ("thinking", |_, r| {
        format!("<thinking>\nhm\n</thinking>\nHere it is:\n\n{r}")
    }),
    ("CRLF and a mark", |_, r| {
        format!("\u{feff}Hello.\n\n{r}").replace('\n', "\r\n")
    }),
    ("blanks", |_, r| format!("\n\n  \n{r}\n\n \n")),
    ("two blanks before each line", |_, r| {
        each_line(r, |line| format!("  {line}"))
    }),
    ("code before", |_, r| {
        format!("I ran\n\n```sh\ncargo test # Findings: x\n```\n\n{r}")
    }),
    ("code after", |_, r| {
        format!("{r}\nI ran\n\n```sh\ncargo test\n```\n")
    }),
    ("braces", |_, r| {
        format!("The set {{a, b}} of [1] holds.\n\n{r}\nSee [2] and x{{}}.\n")
    }),
    ("the anchor said first", |_, r| {
        format!("MISSION ANCHOR: Ship the thing: soon\n\nNow:\n\n{r}")
    }),
    ("said twice", |_, r| format!("{r}\nOnce more:\n\n{r}")),
    ("said twice, once in a fence", |_, r| {
        format!("{r}\nOnce more:\n\n````\n{r}````\n")
    }),
    ("two equal fences", |_, r| {
        format!("````\n{r}````\nAgain:\n````\n{r}````\n")
    }),
    ("another one set in by four blanks", |role, r| {
        format!(
            "They wrote:\n\n{}\n{r}",
            each_line(&another(role), |line| format!("    {line}"))
        )
    }),
];

/// Ways to write the labels of the text form, read as the plain report is.
const LABELS: &[(&str, Wrap)] = &[
    ("bold labels", |role, r| {
        each_label(role, r, |label, value| format!("**{label}:** {value}"))
    }),
    ("bold labels, colon outside", |role, r| {
        each_label(role, r, |label, value| format!("**{label}**: {value}"))
    }),
    ("underlined labels", |role, r| {
        each_label(role, r, |label, value| format!("__{label}:__ {value}"))
    }),
    ("code labels", |role, r| {
        each_label(role, r, |label, value| format!("`{label}`: {value}"))
    }),
    ("bullets", |role, r| {
        each_label(role, r, |label, value| format!("- {label}: {value}"))
    }),
    ("stars", |role, r| {
        each_label(role, r, |label, value| format!("* **{label}:** {value}"))
    }),
    ("numbers", |role, r| {
        each_label(role, r, |label, value| format!("1. {label}: {value}"))
    }),
    ("headings", |role, r| {
        each_label(role, r, |label, value| format!("### {label}: {value}"))
    }),
    ("headings alone", |role, r| {
        each_label(role, r, |label, value| format!("## {label}\n\n{value}"))
    }),
    ("bold lines alone", |role, r| {
        each_label(role, r, |label, value| format!("**{label}**\n{value}"))
    }),
    ("values below", |role, r| {
        each_label(role, r, |label, value| format!("{label}:\n{value}"))
    }),
    ("capitals", |role, r| {
        each_label(role, r, |label, value| {
            format!("{}: {value}", label.to_uppercase())
        })
    }),
    ("wide colons", |role, r| {
        each_label(role, r, |label, value| format!("{label}：{value}"))
    }),
    ("blanks between", |role, r| {
        each_label(role, r, |label, value| format!("\n{label}: {value}"))
    }),
];

#[test]
fn wrapped_reports_are_read_as_the_plain_ones() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for role in Role::ALL {
        let (short, long, json) = (
            plain(role, Values::Short),
            plain(role, Values::Long),
            as_json(role) + "\n",
        );
        for plain in [&short, &long, &json] {
            let wanted = read(role, plain);
            assert!(wanted.is_ok(), "{role}: {wanted:?}\n{plain}");
            let labels = if plain == &json { &[] } else { LABELS };
            for (name, wrap) in READ.iter().chain(labels) {
                let text = wrap(role, plain);
                count += 1;
                if read(role, &text) != wanted {
                    wrong.push(format!("{role}, {name}: {:?}\n{text}", read(role, &text)));
                }
            }
            for (name, wrap) in READ {
                for (label, write) in labels {
                    count += 1;
                    let text = wrap(role, &write(role, plain));
                    if read(role, &text) != wanted {
                        wrong.push(format!(
                            "{role}, {name}, {label}: {:?}\n{text}",
                            read(role, &text)
                        ));
                    }
                }
            }
        }
    }
    assert!(count >= 200, "{count}");
    println!("{count} wrappings");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n=====\n")
    );
}

fn list_codes(role: Role, text: &str) -> BTreeSet<Code> {
    let found = read(role, text).expect_err(text);
    found.iter().map(|finding| finding.code).collect()
}

#[test]
fn what_says_otherwise_around_a_report_refuses_it() {
    for role in Role::ALL {
        let (text, json) = (plain(role, Values::Short), as_json(role) + "\n");
        for (plain, is_text) in [(&text, true), (&json, false)] {
            let wanted = read(role, plain);
            for field in fields(role).iter().filter(|field| field.required) {
                let same = value(role, field.key, Values::Short);
                let other = match field.kind {
                    Kind::YesNo if same == "yes" => "no",
                    Kind::YesNo => "yes - after all",
                    Kind::Count => "7",
                    Kind::Choice(_) => "accepted",
                    Kind::Sha => "feedfeedfeed",
                    Kind::Text | Kind::List => "something else",
                };
                let around = |line: &str| {
                    [
                        format!("{line}\n\nNow my report:\n\n{plain}"),
                        format!("{plain}\nOn checking once more:\n\n{line}\n"),
                    ]
                };
                // An anchor would begin another report.
                if field.key != "mission_anchor" {
                    for text in around(&format!("{}: {other}", field.label)) {
                        assert!(
                            list_codes(role, &text).contains(&Code::FieldDuplicated),
                            "{text}"
                        );
                    }
                    for text in around(&json!({ field.key: other }).to_string()) {
                        assert!(
                            list_codes(role, &text).contains(&Code::FieldDuplicated),
                            "{text}"
                        );
                    }
                }
                let [before, after] = around(&format!("{}: {same}", field.label));
                assert_eq!(read(role, &before), wanted, "{before}");
                if !is_text && field.key != "mission_anchor" {
                    assert_eq!(read(role, &after), wanted, "{after}");
                }
            }
            if has_rubric(role) {
                let rated = format!("{plain}\nNo:\n\n- Correctness risk: fail - it overflows\n");
                let codes = list_codes(role, &rated);
                assert!(
                    codes.contains(&Code::RubricDuplicated),
                    "{rated}: {codes:?}"
                );
            }
        }
    }
}

#[test]
fn a_draft_in_thoughts_is_no_report() {
    for role in Role::ALL {
        let plain = plain(role, Values::Short);
        for (open, close) in [
            ("<think>", "</think>"),
            ("OK. <THINK>", "</THINK>"),
            ("<reasoning>", "</reasoning>"),
            ("OK.\n<thinking kind=\"x\">", "</thinking>"),
            ("[THINK]", "[/THINK]"),
        ] {
            let cut = format!("{open}\nI draft it first.\n\n{plain}\nBut wait: it overflows, so");
            assert_eq!(
                list_codes(role, &cut),
                BTreeSet::from([Code::HeaderMissing]),
                "{cut}"
            );
            let found = read(role, &cut).unwrap_err();
            assert!(found[0].message.contains("never end"), "{found:?}");
            // What stands in a quote is no answer while one's own words are missing.
            let quoted = each_line(&another(role), |line| format!("> {line}"));
            assert!(read(role, &format!("{quoted}\n\n{cut}")).is_err());
            let closed = format!("{open}\n{plain}{close}\nI cannot decide this.\n");
            assert_eq!(
                list_codes(role, &closed),
                BTreeSet::from([Code::HeaderMissing])
            );
            let begun = format!("{plain}\n{close}\nI cannot decide this.\n");
            assert_eq!(
                list_codes(role, &begun),
                BTreeSet::from([Code::HeaderMissing])
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]
}
