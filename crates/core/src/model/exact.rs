//! Whether a line of a history is, byte for byte, what cook writes for the record it
//! holds: keys in the order of the types, nothing between tokens, no escape without need.
//!
//! The common shapes are matched against the text itself, without a parser and without
//! memory; what the matcher does not know is read and written again. So the matcher may
//! be narrower than the types and never wider (a test draws records and damages them).

use super::history::{SliceRecord, SliceRecordType, StopRecord};
use super::state::Role;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A record of one of the histories.
pub trait Record: Clone + Serialize + DeserializeOwned {
    /// True only for the text that serde writes for a record; false says nothing.
    fn matches(line: &[u8]) -> bool;
}

/// Whether this is the exact text, without its line feed, of a record.
pub fn is_exact<T: Record>(line: &[u8]) -> bool {
    T::matches(line) || reads_back::<T>(line)
}

fn reads_back<T: Record>(line: &[u8]) -> bool {
    serde_json::from_slice::<T>(line)
        .and_then(|record| serde_json::to_vec(&record))
        .is_ok_and(|text| text == line)
}

impl Record for SliceRecord {
    fn matches(line: &[u8]) -> bool {
        is_plain(line) && slice_record(&mut Cursor { rest: line }).is_some()
    }
}

impl Record for StopRecord {
    fn matches(line: &[u8]) -> bool {
        is_plain(line) && stop_record(&mut Cursor { rest: line }).is_some()
    }
}

/// UTF-8, and no control character, which would have to be escaped.
fn is_plain(line: &[u8]) -> bool {
    !line
        .iter()
        .fold(false, |control, byte| control | (*byte < 0x20))
        && std::str::from_utf8(line).is_ok()
}

fn slice_record(at: &mut Cursor<'_>) -> Option<()> {
    at.token(r#"{"schema_version":1,"type":""#)?;
    SliceRecordType::ALL
        .into_iter()
        .find_map(|kind| at.token(kind.id()))?;
    at.token(r#"","recorded_at":"#)?;
    at.moment()?;
    for key in [r#","slice_id":"#, r#","commit_sha":"#, r#","head_sha":"#] {
        at.token(key)?;
        at.filled_text()?;
    }
    at.optional(r#","seq":"#, Cursor::count)?;
    at.provenance()?;
    at.optional(r#","receipts":"#, Cursor::texts)?;
    at.optional(r#","claimed":"#, Cursor::texts)?;
    at.optional(r#","criteria_sha256":"#, Cursor::text)?;
    at.optional(r#","findings":"#, Cursor::texts)?;
    at.end()
}

fn stop_record(at: &mut Cursor<'_>) -> Option<()> {
    at.token(r#"{"schema_version":1,"type":"judgment","recorded_at":"#)?;
    at.moment()?;
    at.token(r#","head_sha":"#)?;
    at.filled_text()?;
    at.token(r#","can_stop":"#)?;
    at.token("true").or_else(|| at.token("false"))?;
    at.token(r#","blocker_count":"#)?;
    at.count()?;
    at.token(r#","high_value_gap_count":"#)?;
    at.count()?;
    at.optional(r#","stop_wave_id":"#, Cursor::count)?;
    at.optional(r#","seq":"#, Cursor::count)?;
    at.provenance()?;
    at.end()
}

/// What is left of a line. Each step consumes what it names, or is none.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn token(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(token.as_bytes())?;
        Some(())
    }

    /// A field that may be left out: its key decides whether it is there.
    fn optional(&mut self, key: &str, value: fn(&mut Self) -> Option<()>) -> Option<()> {
        match self.token(key) {
            Some(()) => value(self),
            None => Some(()),
        }
    }

    fn end(&mut self) -> Option<()> {
        self.token("}")?;
        self.rest.is_empty().then_some(())
    }

    /// The fields about a record's origin, which both kinds have.
    fn provenance(&mut self) -> Option<()> {
        self.optional(r#","role":"#, Self::role)?;
        self.optional(r#","report":"#, Self::report)?;
        self.optional(r#","report_sha256":"#, Self::text)?;
        self.optional(r#","session":"#, Self::text)
    }

    /// A quoted text; what stands between the quotes.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        let inside = self.rest.strip_prefix(b"\"")?;
        let mut end = 0;
        loop {
            end += memchr::memchr2(b'"', b'\\', &inside[end..])?;
            if inside[end] == b'"' {
                break;
            }
            // Other escapes are numeric, or such that nobody needs them.
            if !br#""\bfnrt"#.contains(inside.get(end + 1)?) {
                return None;
            }
            end += 2;
        }
        self.rest = &inside[end + 1..];
        Some(&inside[..end])
    }

    fn text(&mut self) -> Option<()> {
        self.quoted().map(drop)
    }

    fn filled_text(&mut self) -> Option<()> {
        self.quoted().filter(|text| !text.is_empty()).map(drop)
    }

    /// A list of texts.
    fn texts(&mut self) -> Option<()> {
        self.token("[")?;
        if self.token("]").is_some() {
            return Some(());
        }
        loop {
            self.text()?;
            if self.token("]").is_some() {
                return Some(());
            }
            self.token(",")?;
        }
    }

    /// A whole number of at most this many digits, without leading zeros.
    fn whole(&mut self, digits: usize) -> Option<()> {
        let length = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let zero = self.rest.first() == Some(&b'0');
        if length == 0 || length > digits || (zero && length > 1) {
            return None;
        }
        self.rest = &self.rest[length..];
        Some(())
    }

    /// 15 digits stay below the largest count.
    fn count(&mut self) -> Option<()> {
        self.whole(15)
    }

    fn moment(&mut self) -> Option<()> {
        self.filled_text().or_else(|| self.whole(15))
    }

    fn role(&mut self) -> Option<()> {
        let word = self.quoted()?;
        Role::ALL
            .iter()
            .any(|role| role.id().as_bytes() == word)
            .then_some(())
    }

    fn report(&mut self) -> Option<()> {
        self.token(r#"{"role":"#)?;
        self.role()?;
        self.token(r#","fields":"#)?;
        self.map(Self::text)?;
        self.optional(r#","rubric":"#, |at| at.map(Self::rubric_entry))?;
        self.token("}")
    }

    fn rubric_entry(&mut self) -> Option<()> {
        self.token(r#"{"verdict":""#)?;
        ["pass", "concern", "fail"]
            .into_iter()
            .find_map(|verdict| self.token(verdict))?;
        self.token(r#"","why":"#)?;
        self.text()?;
        self.token("}")
    }

    /// An object whose keys are sorted, as those of a map are, and need no escape.
    fn map(&mut self, value: fn(&mut Self) -> Option<()>) -> Option<()> {
        self.token("{")?;
        if self.token("}").is_some() {
            return Some(());
        }
        let mut before: Option<&[u8]> = None;
        loop {
            let key = self.quoted().filter(|key| !key.contains(&b'\\'))?;
            if before.is_some_and(|before| before >= key) {
                return None;
            }
            before = Some(key);
            self.token(":")?;
            value(self)?;
            if self.token("}").is_some() {
                return Some(());
            }
            self.token(",")?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Count, ReportRecord, RubricEntry, RubricVerdict, SchemaVersion, StopRecordType, Timestamp,
    };
    use proptest::collection::{btree_map, vec};
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-z ]{0,12}",
            1 => r#"[\x00-\x24"\\/\x7fé\u{2028}{},:]{0,6}"#,
        ]
    }

    fn filled() -> impl Strategy<Value = String> {
        text().prop_map(|text| format!("x{text}"))
    }

    fn moment() -> impl Strategy<Value = Timestamp> {
        prop_oneof![
            filled().prop_map(Timestamp::Text),
            any::<u64>().prop_map(|n| Timestamp::Number(n.into())),
            any::<i32>().prop_map(|n| Timestamp::Number(n.into())),
            (0..2_000_000_000_000_u64).prop_map(|n| Timestamp::Number(n.into())),
        ]
    }

    fn count() -> impl Strategy<Value = Count> {
        prop_oneof![0..20_u64, 0..9_007_199_254_740_991_u64].prop_map(Count)
    }

    fn report() -> impl Strategy<Value = ReportRecord> {
        let verdict = select(vec![
            RubricVerdict::Pass,
            RubricVerdict::Concern,
            RubricVerdict::Fail,
        ]);
        let entry = (verdict, text()).prop_map(|(verdict, why)| RubricEntry { verdict, why });
        (
            select(Role::ALL.to_vec()),
            btree_map(text(), text(), 0..4),
            option::of(btree_map(text(), entry, 0..3)),
        )
            .prop_map(|(role, fields, rubric)| ReportRecord {
                role,
                fields,
                rubric,
            })
    }

    prop_compose! {
        fn slices()(
            kind in select(SliceRecordType::ALL.to_vec()),
            recorded_at in moment(),
            ids in (filled(), filled(), filled()),
            seq in option::of(count()),
            role in option::of(select(Role::ALL.to_vec())),
            report in option::of(report()),
            digests in (option::of(text()), option::of(text()), option::of(text())),
            lists in (
                option::of(vec(text(), 0..3)),
                option::of(vec(text(), 0..3)),
                option::of(vec(text(), 0..3)),
            ),
        ) -> SliceRecord {
            SliceRecord {
                schema_version: SchemaVersion,
                kind,
                recorded_at,
                slice_id: ids.0,
                commit_sha: ids.1,
                head_sha: ids.2,
                seq,
                role,
                report,
                report_sha256: digests.0,
                session: digests.1,
                receipts: lists.0,
                claimed: lists.1,
                criteria_sha256: digests.2,
                findings: lists.2,
            }
        }
    }

    prop_compose! {
        fn stops()(
            recorded_at in moment(),
            head_sha in filled(),
            can_stop in any::<bool>(),
            counts in (count(), count(), option::of(count()), option::of(count())),
            role in option::of(select(Role::ALL.to_vec())),
            report in option::of(report()),
            digests in (option::of(text()), option::of(text())),
        ) -> StopRecord {
            StopRecord {
                schema_version: SchemaVersion,
                kind: StopRecordType::Judgment,
                recorded_at,
                head_sha,
                can_stop,
                blocker_count: counts.0,
                high_value_gap_count: counts.1,
                stop_wave_id: counts.2,
                seq: counts.3,
                role,
                report,
                report_sha256: digests.0,
                session: digests.1,
            }
        }
    }

    /// Another text, by one of the changes that JSON or its writers make.
    fn damaged(line: &str, how: usize, place: usize) -> Vec<u8> {
        const SWAPS: [(&str, &str); 12] = [
            (":1,", ":1.0,"),
            (":1,", ": 1,"),
            (",\"", ", \""),
            ("\"}", "\" }"),
            ("\"x", "\""),
            ("\"x", "\"\\u0078"),
            ("\"x", "\"\\/"),
            ("\"x", "\"\\u0000"),
            ("reviewed", "Reviewed"),
            ("completion-", "\\u0063ompletion-"),
            ("\"fields\":{", "\"fields\":{\"z\":\"\",\"a\":\"\","),
            ("}", ",\"more\":1}"),
        ];
        if let Some((from, to)) = SWAPS.get(how) {
            return line.replacen(from, to, 1).into_bytes();
        }
        let mut bytes = line.as_bytes().to_vec();
        let place = place % bytes.len();
        match how % 4 {
            0 => bytes.truncate(place),
            1 => bytes[place] = (place % 256) as u8,
            2 => bytes.insert(place, b"0\"\\{\n\xff,x"[place % 8]),
            _ => drop(bytes.remove(place)),
        }
        bytes
    }

    fn agrees<T: Record>(record: &T, how: usize, place: usize) -> Result<(), TestCaseError> {
        let line = serde_json::to_string(record).unwrap();
        prop_assert!(is_exact::<T>(line.as_bytes()));
        let bytes = damaged(&line, how, place);
        if T::matches(&bytes) {
            prop_assert!(
                reads_back::<T>(&bytes),
                "{}",
                String::from_utf8_lossy(&bytes)
            );
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn nothing_matches_that_serde_would_write_otherwise(
            slice in slices(),
            stop in stops(),
            how in 0..28_usize,
            place in any::<usize>(),
        ) {
            agrees(&slice, how, place)?;
            agrees(&stop, how, place)?;
        }

        /// Else checking a long history becomes slow without a sound.
        #[test]
        fn plain_records_match_without_a_parser(mut slice in slices(), mut stop in stops()) {
            let plain = |text: &str| text.chars().all(|c| c >= ' ');
            slice.recorded_at = "2026-01-02T03:04:05Z".into();
            slice.seq = slice.seq.map(|seq| Count(seq.0 % 1_000_000));
            let line = serde_json::to_string(&slice).unwrap();
            if plain(&line) && !line.contains("\\u") && slice.report.as_ref().is_none_or(plain_keys) {
                prop_assert!(SliceRecord::matches(line.as_bytes()), "{}", line);
            }
            stop.recorded_at = Timestamp::Number(1_700_000_000.into());
            stop.blocker_count = Count(3);
            stop.high_value_gap_count = Count(0);
            stop.stop_wave_id = Some(Count(12));
            stop.seq = None;
            let line = serde_json::to_string(&stop).unwrap();
            if plain(&line) && !line.contains("\\u") && stop.report.as_ref().is_none_or(plain_keys) {
                prop_assert!(StopRecord::matches(line.as_bytes()), "{}", line);
            }
        }
    }

    fn plain_keys(report: &ReportRecord) -> bool {
        let rubric = report.rubric.iter().flat_map(|rubric| rubric.keys());
        let mut keys = report.fields.keys().chain(rubric);
        keys.all(|key| !key.contains(['"', '\\', '\t', '\n', '\r', '\u{8}', '\u{c}']))
    }

    #[test]
    fn the_last_shape_of_a_number_counts() {
        let line = |seq: &str| {
            format!(
                "{{\"schema_version\":1,\"type\":\"judgment\",\"recorded_at\":1,\"head_sha\":\"h\",\
                 \"can_stop\":true,\"blocker_count\":{seq},\"high_value_gap_count\":0}}"
            )
        };
        for good in ["0", "7", "999999999999999", "9007199254740991"] {
            assert!(is_exact::<StopRecord>(line(good).as_bytes()), "{good}");
        }
        for bad in [
            "00",
            "07",
            "7.0",
            "-0",
            "1e3",
            "9007199254740992",
            "\"7\"",
            "",
        ] {
            assert!(!is_exact::<StopRecord>(line(bad).as_bytes()), "{bad}");
        }
    }
}
