//! The words by which assertions are known, and how much each would notice.

use crate::lex::{Kind, Token};

/// Beginnings of macros of Rust that assert.
pub(super) const RUST_MACROS: [&str; 7] = [
    "assert",
    "debug_assert",
    "prop_assert",
    "panic",
    "unreachable",
    "expect",
    "check",
];
/// Beginnings of macros of C and C++ that assert.
pub(super) const C_MACROS: [&str; 8] = [
    "ASSERT",
    "EXPECT",
    "REQUIRE",
    "CHECK",
    "assert",
    "BOOST_CHECK",
    "BOOST_REQUIRE",
    "TEST_ASSERT",
];
/// Methods of `t` in ava, tap and QUnit.
pub(super) const TAP: [&str; 18] = [
    "is",
    "not",
    "deepEqual",
    "true",
    "false",
    "truthy",
    "falsy",
    "throws",
    "throwsAsync",
    "equal",
    "same",
    "ok",
    "notOk",
    "match",
    "like",
    "snapshot",
    "fail",
    "strictEqual",
];
/// What fails by itself.
pub(super) const FAILS: [&str; 8] = [
    "fail",
    "panic",
    "unreachable",
    "flunk",
    "XCTFail",
    "AssertionError",
    "throw",
    "die",
];
/// What holds a value against one expected value.
pub(super) const EXACT: [&str; 59] = [
    "assert_eq",
    "assert_equal",
    "assertEqual",
    "assertEquals",
    "assertIs",
    "assertListEqual",
    "assertDictEqual",
    "assertSetEqual",
    "assertTupleEqual",
    "assertCountEqual",
    "assertSequenceEqual",
    "assertMultiLineEqual",
    "assertSame",
    "assertJsonStringEqualsJsonString",
    "assertArrayEquals",
    "assertContentEquals",
    "equal",
    "equals",
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "same",
    "toBe",
    "toEqual",
    "toStrictEqual",
    "toHaveLength",
    "toMatchSnapshot",
    "toMatchInlineSnapshot",
    "toHaveBeenCalledWith",
    "toHaveBeenCalledTimes",
    "toHaveBeenNthCalledWith",
    "eq",
    "eql",
    "equal?",
    "isEqualTo",
    "containsExactly",
    "containsExactlyInAnyOrder",
    "match_array",
    "contain_exactly",
    "hasSize",
    "shouldBe",
    "shouldEqual",
    "must_equal",
    "must_be_nil",
    "Equal",
    "EqualValues",
    "DeepEqual",
    "Diff",
    "Len",
    "JSONEq",
    "Equals",
    "AreEqual",
    "assert_snapshot",
    "matches",
    "AreSame",
    "equalTo",
    "EqualTo",
    "EqualError",
    "assert_output",
];
/// Beginnings of such names.
pub(super) const EXACT_STARTS: [&str; 15] = [
    "EXPECT_THAT",
    "ASSERT_THAT",
    "REQUIRE_THAT",
    "EXPECT_EQ",
    "ASSERT_EQ",
    "EXPECT_STREQ",
    "ASSERT_STREQ",
    "EXPECT_DOUBLE_EQ",
    "XCTAssertEqual",
    "assert_matches",
    "assertAlmostEqual",
    "toBeCloseTo",
    "assert_called_once_with",
    "assert_called_with",
    "assert_array_equal",
];
/// What looks at a part, a bound or a kind.
pub(super) const PARTIAL: [&str; 44] = [
    "in",
    "contains",
    "assertIn",
    "assertNotIn",
    "assertContains",
    "assertRegex",
    "assertGreater",
    "assertGreaterEqual",
    "assertLess",
    "assertLessEqual",
    "assertIsInstance",
    "assertNotEqual",
    "assertNotEquals",
    "assert_ne",
    "assert_match",
    "assert_includes",
    "assert_includes",
    "include",
    "toContain",
    "toContainEqual",
    "toMatch",
    "toMatchObject",
    "toBeGreaterThan",
    "toBeLessThan",
    "toBeGreaterThanOrEqual",
    "toBeLessThanOrEqual",
    "toBeInstanceOf",
    "toHaveProperty",
    "match",
    "starts_with",
    "ends_with",
    "startsWith",
    "endsWith",
    "startswith",
    "endswith",
    "is_match",
    "Contains",
    "Is",
    "As",
    "ErrorIs",
    "ErrorContains",
    "isInstanceOf",
    "containsString",
    "must_include",
];
/// What expects an error.
pub(super) const RAISES: [&str; 24] = [
    "raises",
    "assertRaises",
    "assertRaisesRegex",
    "assertThrows",
    "assertThrowsExactly",
    "toThrow",
    "toThrowError",
    "toThrowErrorMatchingSnapshot",
    "throws",
    "throwsAsync",
    "raise_error",
    "assert_raises",
    "assert_raise",
    "must_raise",
    "should_panic",
    "assertFailsWith",
    "shouldThrow",
    "expectException",
    "expectExceptionMessage",
    "assertThatThrownBy",
    "isInstanceOf",
    "rejects",
    "Throws",
    "ThrowsAsync",
];
/// Names of errors that every error is.
pub(super) const ANY_ERROR: [&str; 9] = [
    "Exception",
    "BaseException",
    "Throwable",
    "Error",
    "StandardError",
    "RuntimeException",
    "object",
    "ThrowsAny",
    "RuntimeError",
];
/// Values that are there or not, so or not.
pub(super) const CONSTANTS: [&str; 9] = [
    "true",
    "false",
    "True",
    "False",
    "None",
    "nil",
    "null",
    "undefined",
    "NULL",
];
/// Words that name nothing of what is tested.
const OTHER: [&str; 60] = [
    "assert",
    "self",
    "this",
    "t",
    "is",
    "not",
    "and",
    "or",
    "with",
    "pytest",
    "expect",
    "to",
    "be",
    "if",
    "else",
    "Assert",
    "require",
    "assertTrue",
    "assertFalse",
    "assert_true",
    "assert_false",
    "isTrue",
    "isFalse",
    "toBeTruthy",
    "toBeFalsy",
    "toBeDefined",
    "ok",
    "truthy",
    "falsy",
    "should",
    "have",
    "been",
    "debug_assert",
    "prop_assert",
    "assertThat",
    "True_",
    "IsTrue",
    "EXPECT_TRUE",
    "ASSERT_TRUE",
    "XCTAssertTrue",
    "XCTAssert",
    "be_truthy",
    "be_falsy",
    "be_true",
    "refute",
    "assertNotNull",
    "assertNull",
    "assertNotNone",
    "assertIsNotNone",
    "isNotNull",
    "NotNil",
    "NoError",
    "resolves",
    "assertions",
    "hasAssertions",
    "REQUIRE",
    "CHECK",
    "Errorf",
    "Error",
    "Fatal",
];

/// Stand-ins that fit every value.
pub(super) const ANYTHING: [&str; 14] = [
    "anything",
    "any",
    "anyString",
    "anyInt",
    "anyLong",
    "ANY",
    "IsAny",
    "notNullValue",
    "nullValue",
    "mock_any",
    "Anything",
    "AnythingOfType",
    "any_args",
    "_any",
];

/// A function of a name such as `assert_frame_equal`, which compares.
pub(super) fn is_named_equality(word: &str) -> bool {
    let lower = word.to_lowercase();
    let equal = ["equal", "_eq", "same", "identical"]
        .iter()
        .any(|part| lower.contains(part));
    is_named_check(word) && equal && !lower.contains("not") && !lower.contains("almost")
}

/// A function that is named so asserts.
pub(super) fn is_named_check(word: &str) -> bool {
    const STARTS: [&str; 8] = [
        "assert", "expect", "verify", "check", "ensure", "should", "require", "Should",
    ];
    let lower = word.strip_prefix(['_', '$']).unwrap_or(word);
    let long = lower.starts_with("assert")
        || lower.starts_with("Assert")
        || lower.starts_with("XCTAssert")
        || lower.starts_with("EXPECT_");
    long || STARTS.iter().any(|start| {
        lower.strip_prefix(start).is_some_and(|rest| {
            matches!(*start, "expect" | "verify" | "Should") && rest.is_empty()
                || rest.starts_with(|c: char| c == '_' || c.is_uppercase())
        })
    })
}

/// A call of something that is tested has such a name too: `expect(ok())`.
pub(super) fn is_called(own: &[Token], at: usize) -> bool {
    const KEYWORDS: [&str; 12] = [
        "is", "not", "and", "or", "in", "if", "else", "with", "expect", "assert", "require", "to",
    ];
    let lower = own[at].text.starts_with(|c: char| c.is_lowercase());
    at > 0
        && lower
        && own[at].kind == Kind::Word
        && !KEYWORDS.contains(&own[at].text)
        && matches!(own[at - 1].text, "(" | ",")
        && own.get(at + 1).is_some_and(|next| next.is("("))
}

pub(super) fn is_vocabulary(word: &str) -> bool {
    CONSTANTS.contains(&word)
        || OTHER.contains(&word)
        || EXACT.contains(&word)
        || EXACT_STARTS.iter().any(|start| word.starts_with(start))
        || PARTIAL.contains(&word) && word != "include"
}
