//! Which test holds which situation of `protocol/completion.md#evidence-through-history`: for each what is
//! measured, with an honest report that is taken and a dishonest one that is refused. No test stands
//! beside the tables.

use crate::events::EVENTS;
use std::collections::BTreeSet;

/// Number, situation, tests of an honest report, tests of a dishonest one.
type Row = (
    u8,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ROWS: [Row; 18] = [
    (
        1,
        "the same tree in another commit",
        &[
            "the_same_tree_in_another_commit_changes_nothing",
            "a_reported_commit_that_is_amended_stays_the_slices_without_a_trailer_too",
            "a_review_carries_over_to_the_same_tree_on_the_same_basis",
            "what_was_rewritten_is_asked_about_again_in_any_clone",
            "own_commits_after_a_report_stay_own_when_they_are_committed_anew",
            "what_stands_on_top_of_a_report_takes_nothing_from_it",
            "a_copy_that_others_put_on_top_of_a_report_takes_nothing_from_it",
            "own_work_that_is_squashed_with_what_came_after_it_stays_its_own",
        ],
        &[
            "a_squash_with_somebody_elses_work_is_not_the_slices",
            "what_another_slice_put_on_top_is_not_its_own_when_it_is_squashed_with_it",
            "an_amend_with_another_text_is_answered",
            "what_stood_at_a_basis_that_was_committed_anew_is_nobody_s_proof",
            "what_came_after_a_report_is_nobody_s_when_it_is_committed_anew",
            "a_file_of_others_is_theirs_whoever_squashes_it",
        ],
    ),
    (
        2,
        "rebase, squash, cherry-pick on another basis",
        &[
            "a_rebase_a_squash_and_a_cherry_pick_on_a_moved_base_are_followed",
            "what_a_squash_without_a_trailer_holds_stays_its_own_when_it_is_reopened",
            "work_on_a_basis_that_was_committed_anew_is_the_slices",
        ],
        &[
            "a_review_of_another_tree_or_basis_is_due_again",
            "what_a_rebase_rewrites_is_not_the_slices_in_work",
            "what_a_rebase_brings_is_nobody_s_proof",
            "a_cherry_pick_of_somebody_else_s_work_is_nobody_s_proof",
        ],
    ),
    (
        3,
        "the same with conflicts",
        &[
            "a_rebase_with_a_conflict_keeps_a_part_with_a_reason",
            "a_line_that_both_wrote_in_a_rebase_is_answered",
        ],
        &[
            "a_rebase_with_a_conflict_keeps_a_part_with_a_reason",
            "a_line_that_both_wrote_in_a_rebase_is_answered",
        ],
    ),
    (
        4,
        "formatter, line ends",
        &[
            "a_formatter_is_followed",
            "a_section_that_is_wrapped_otherwise_stands",
            "line_ends_are_followed",
        ],
        &[
            "a_formatter_does_not_make_every_line_a_place_for_proof",
            "what_was_only_shaped_otherwise_is_no_ones_work",
            "what_stood_at_a_basis_that_was_left_is_nobody_s_in_another_shape",
        ],
    ),
    (
        5,
        "rename, move",
        &[
            "a_rename_with_edits_and_a_move_are_followed",
            "an_entry_and_a_section_follow_their_renamed_file",
            "work_in_a_file_that_was_renamed_on_the_way_is_its_own",
            "the_place_that_is_named_for_text_that_moved_and_was_rewritten_is_taken",
            "own_text_that_was_moved_before_the_slice_was_reported_is_its_own",
            "own_text_that_was_moved_within_its_file_is_its_own",
            "a_part_of_own_text_that_was_moved_is_its_own",
            "a_block_that_was_moved_apart_stands_whole",
            "a_part_that_was_moved_is_kept_when_the_slice_is_reopened",
        ],
        &[
            "of_two_possible_places_the_report_says_which",
            "the_edit_that_came_with_a_rename_is_nobody_s_proof",
            "what_somebody_writes_beside_moved_text_is_nobody_s_proof",
            "text_that_stood_there_before_was_not_moved_there",
            "beside_a_part_that_was_moved_nobody_else_s_text_counts",
            "a_part_that_was_moved_is_kept_when_the_slice_is_reopened",
        ],
    ),
    (
        6,
        "rewritten lines",
        &[
            "a_test_that_stands_as_it_was_reviewed_is_accepted_beside_what_others_write",
            "rewritten_lines_are_anchored_again_in_their_place_or_the_slice_is_reopened",
            "a_line_beside_a_rewritten_one_proves_what_it_is",
            "lines_beside_one_that_is_deleted_are_its_own_and_stand",
        ],
        &[
            "a_test_that_is_gutted_after_its_review_is_not_accepted",
            "lines_that_others_rewrote_after_the_review_are_not_accepted",
            "lines_of_a_renamed_file_are_held_to_their_review",
            "rewritten_lines_are_anchored_again_in_their_place_or_the_slice_is_reopened",
            "a_text_is_not_replaced_by_a_run",
            "a_proof_that_another_criterion_has_is_not_given_again_by_a_longer_range",
            "the_line_that_proves_a_slice_proves_no_other_in_the_same_report",
        ],
    ),
    (
        7,
        "merges, commits of others",
        &[
            "the_lines_that_only_the_merge_has_are_its_own",
            "own_commits_stay_own_behind_a_merge_into_a_colleagues_branch",
            "work_stays_its_own_when_it_is_merged_into_a_branch_that_began_amid_it",
            "a_named_commit_is_the_slice_s",
            "a_commit_beside_the_basis_is_not_asked_for",
            "a_commit_without_a_change_is_not_asked_for",
            "a_test_that_waited_for_the_work_proves_it",
        ],
        &[
            "a_test_that_a_merge_brought_is_nobody_s_proof",
            "a_colleague_s_test_that_the_slice_names_otherwise_is_nobody_s_proof",
            "what_a_merge_brings_in_is_somebody_elses",
            "text_that_the_slice_left_alone_proves_nothing",
            "what_a_slice_puts_back_whole_is_not_all_its_own",
            "a_trailer_of_somebody_else_makes_nothing_the_slice_s",
        ],
    ),
    (
        8,
        "revert, whole or in part",
        &["a_revert_reopens_whatever_a_receipt_says"],
        &[
            "a_revert_is_seen_through_a_formatter",
            "a_move_that_is_taken_back_is_a_revert",
            "a_revert_is_seen_beside_a_change_of_the_next_line",
            "equal_lines_that_stood_elsewhere_before_hold_nothing_up",
            "proof_that_is_lost_is_not_replaced_by_other_work_of_the_slice",
            "a_text_that_is_no_text_any_more_is_gone",
            "a_section_that_is_put_back_opens_its_slice",
            "a_test_that_is_put_back_opens_its_slice",
        ],
    ),
    (
        9,
        "revert of a revert, work that is taken up again",
        &[
            "a_revert_of_a_revert_is_reported_as_it_is",
            "a_reopened_slice_is_closed_again_at_the_commit_that_holds_its_work",
            "a_squashed_slice_keeps_its_basis_when_it_is_reopened",
            "a_commit_that_left_head_is_not_asked_for",
        ],
        &[
            "a_reopened_slice_is_closed_again_at_the_commit_that_holds_its_work",
            "a_revert_holds_no_work_to_reopen_at",
            "what_stands_as_one_slice_left_it_proves_no_other",
        ],
    ),
    (
        10,
        "reset before the slice, or to a rejected attempt",
        &[
            "a_reset_before_the_slice_or_to_a_rejected_attempt_reopens",
            "a_reset_that_is_taken_back_changes_nothing",
        ],
        &[
            "a_reset_before_the_slice_or_to_a_rejected_attempt_reopens",
            "the_text_of_a_rejected_attempt_proves_nothing_wherever_it_is_committed",
        ],
    ),
    (
        11,
        "deletions",
        &[
            "a_slice_that_only_deletes_is_proved_by_what_is_gone",
            "a_removal_is_whose_who_removed_it",
            "a_line_is_taken_out_of_a_file_whose_rename_git_does_not_see",
        ],
        &[
            "a_line_is_taken_out_of_a_file_whose_rename_git_does_not_see",
            "a_slice_that_only_deletes_is_proved_by_what_is_gone",
            "a_removal_is_whose_who_removed_it",
            "a_line_that_is_back_in_a_renamed_file_is_back",
            "a_line_that_is_back_in_a_file_renamed_before_the_acceptance_is_lost",
            "a_line_that_is_back_in_a_new_file_is_lost",
            "a_line_that_is_back_as_a_part_of_one_in_a_new_file_is_lost",
            "a_line_that_is_back_in_a_file_of_its_former_name_is_lost",
            "lines_that_are_back_in_another_shape_are_lost",
        ],
    ),
    (
        12,
        "binary, mode, link, submodule, generated file",
        &[
            "what_has_no_lines_is_proved_as_an_entry",
            "a_link_is_proved_as_an_entry",
            "a_submodule_is_proved_by_the_commit_it_was_moved_to",
            "a_file_without_lines_is_taken_away_as_a_whole",
        ],
        &[
            "a_generated_file_alone_proves_nothing",
            "an_entry_that_is_as_before_is_no_proof_when_it_is_named_again",
            "a_submodule_that_is_gone_is_no_proof",
            "a_mode_that_is_put_back_is_lost",
            "a_submodule_is_proved_by_the_commit_it_was_moved_to",
        ],
    ),
    (
        13,
        "docs, config, symbols",
        &[
            "a_section_and_a_symbol_stand_by_their_content",
            "a_symbol_whose_body_stands_is_followed",
        ],
        &[
            "a_section_and_a_symbol_stand_by_their_content",
            "a_symbol_whose_body_says_something_else_is_answered",
            "a_symbol_without_the_slice_s_body_opens_it",
        ],
    ),
    (
        14,
        "a test that is gone or renamed",
        &[
            "a_test_under_another_name_is_known_by_its_body",
            "a_short_name_that_several_tests_have_now_is_named_in_full",
            "a_test_that_runs_others_by_name_is_followed",
            "a_test_is_followed_whichever_part_of_its_name_is_new",
        ],
        &[
            "a_short_name_of_several_tests_does_not_answer",
            "another_file_s_test_of_the_same_name_is_not_the_slice_s",
            "a_test_that_no_gate_runs_any_more_is_not_another_one_of_its_name",
            "a_test_that_says_something_else_is_answered",
            "a_test_that_is_gone_reopens_its_slice_whatever_else_is_green",
            "a_test_that_the_slice_did_not_write_is_held_to_its_body_too",
            "a_run_is_replaced_by_a_test_of_the_slice_alone",
            "a_line_is_not_followed_to_another_test",
        ],
    ),
    (
        15,
        "receipts",
        &["a_receipt_that_held_at_the_basis_is_no_news"],
        &[
            "a_slice_without_one_new_proof_is_not_accepted",
            "a_line_that_is_no_longer_printed_reopens_whatever_else_is_green",
            "what_cannot_be_told_holds_up_the_end",
            "one_line_of_output_is_no_proof_of_two_criteria",
        ],
    ),
    (
        16,
        "a dropped criterion",
        &[
            "a_dropped_criterion_is_held_to_its_proof_to_the_end",
            "what_is_cancelled_as_there_already_is_shown_by_another_text_in_one_report",
        ],
        &[
            "a_test_that_shows_what_is_there_already_is_held_as_well",
            "what_is_cancelled_as_there_already_is_held_to_its_proof_to_the_end",
            "a_criterion_is_dropped_with_a_text_or_a_receipt_at_head",
            "what_is_committed_keeps_its_criteria",
            "a_committed_slice_keeps_its_criteria_while_something_is_asked",
        ],
    ),
    (
        17,
        "a commit that is gone",
        &[
            "a_commit_that_is_gone_is_followed_by_its_digests",
            "a_named_part_is_followed_by_its_digests",
            "what_another_commit_has_the_tree_of_is_followed_as_if_it_were_there",
            "a_history_that_was_written_anew_from_its_root_is_followed",
            "a_history_that_is_cut_off_is_followed_by_its_digests",
        ],
        &[
            "a_revert_is_seen_though_the_commit_is_gone",
            "a_history_that_is_cut_off_is_followed_by_its_digests",
            "a_history_that_was_written_anew_without_the_work_opens_it",
        ],
    ),
    (
        18,
        "`commit:`, `doc:` without a section, `user@`",
        &["two_criteria_may_swap_their_anchors"],
        &[
            "a_commit_shows_nothing_of_what_it_holds",
            "text_that_the_slice_left_alone_proves_nothing",
        ],
    ),
];

/// What else was found to lead to a false end, or to none.
const BESIDE: [(&str, &[&str]); 6] = [
    (
        "what quotes or repeats the work",
        &[
            "a_text_that_is_put_back_and_quoted_is_put_back",
            "a_text_that_is_put_back_and_quoted_in_its_file_is_put_back",
            "a_text_that_is_deleted_after_somebody_quoted_it_is_asked_about",
            "a_text_that_went_into_a_generated_file_is_gone",
            "a_file_that_a_program_writes_from_now_on_proves_nothing",
            "two_proofs_that_meet_in_one_place_are_asked_about",
            "a_proof_does_not_move_onto_that_of_another_slice",
            "a_file_that_stood_beside_it_is_not_its_new_name",
            "text_that_stood_below_the_work_did_not_replace_it",
            "text_that_was_copied_before_it_was_cut_is_anchored_where_it_is",
            "only_what_came_into_the_place_of_the_work_is_its_proof",
            "a_symbol_with_another_one_in_its_place_did_not_move",
            "one_entry_proves_one_slice",
            "one_section_under_two_spellings_is_one_proof",
            "one_section_proves_one_slice",
            "a_test_that_is_gutted_beside_a_copy_is_asked_about",
            "a_test_is_held_wherever_else_its_name_stands",
            "prose_that_names_a_test_may_change",
            "another_one_of_the_name_is_asked_about",
            "another_call_of_the_name_is_asked_about",
            "a_line_that_names_a_test_is_no_other_one",
            "a_name_that_several_tests_end_in_is_asked_for_in_full",
            "a_test_that_is_not_indented_is_held",
            "a_section_under_another_heading_is_followed",
            "a_title_that_two_suites_have_is_given_with_its_suite",
            "a_title_of_another_suite_is_not_the_slice_s",
            "a_test_that_is_quoted_runs_no_more",
            "a_title_is_followed_where_another_suite_has_it_too",
            "a_name_that_fewer_tests_bear_is_answered_otherwise",
            "a_name_that_others_bear_too_is_not_given_anew",
            "a_remark_in_a_colleague_s_test_makes_it_nobody_s_proof",
            "a_line_that_names_a_test_is_followed_without_what_stands_behind_it",
            "a_body_under_another_class_is_not_the_test_of_the_first",
            "a_test_is_not_followed_to_the_name_of_another",
            "a_method_that_is_put_into_a_class_is_asked_about",
            "code_does_not_move_into_prose",
            "code_that_is_set_aside_is_gone",
        ],
    ),
    (
        "the contract",
        &[
            "a_mission_that_somebody_edits_stops_the_work_until_it_is_taken_in_or_put_back",
            "a_profile_that_is_broken_or_edited_stops_the_work",
            "undo_of_a_refocus_brings_the_mission_back",
            "a_user_s_commit_of_the_contract_before_the_work_is_not_the_slice_s",
        ],
    ),
    (
        "commits and worktrees of readers and users",
        &[
            "a_commit_of_a_reader_is_named_before_its_report_is_taken",
            "a_user_s_commit_amid_a_session_is_the_user_s",
            "a_pause_launders_nothing",
            "a_ticket_of_a_dirty_worktree_holds_that_worktree",
        ],
    ),
    (
        "plans, and what a prompt says of them",
        &[
            "nothing_waits_for_a_cancelled_slice",
            "what_is_listed_for_selection_can_be_selected",
            "a_prompt_speaks_of_the_history_that_is_there",
            "lost_work_is_told_once_and_goes_to_no_judge",
        ],
    ),
    (
        "what reaches whom when work is taken back, or held up",
        &[
            "a_revert_before_the_reconciliation_is_told_and_sends_the_slice_back",
            "a_committed_slice_that_is_amended_is_told_of_in_one_way",
            "no_judge_is_asked_once_accepted_work_is_taken_back",
            "judges_stay_due_where_somebody_else_takes_nothing_away",
            "a_slice_that_a_shared_red_gate_opens_holds_nobody_up_and_is_taken_up_as_it_stands",
            "a_dirty_worktree_is_said_to_hold_selections_up_and_by_whom_it_ends",
            "a_record_names_as_changed_only_what_its_plan_changes",
        ],
    ),
    (
        "odd input",
        &[
            "a_commit_serves_one_slice",
            "a_slice_whose_basis_is_gone_is_selected_anew",
            "a_basis_that_was_reworded_and_thrown_away_is_found_by_its_tree",
            "two_slices_do_not_claim_one_commit",
            "a_file_too_large_to_read_is_proved_as_a_whole",
            "text_in_two_bytes_a_character_has_no_lines",
            "carriage_returns_alone_end_no_line",
            "a_long_text_is_followed_where_its_lines_are_in_another_order",
            "thousands_of_pieces_are_followed_through_a_long_text",
            "a_storm_of_renames_is_followed",
            "a_storm_of_fifty_thousand_renames_is_followed",
            "a_storm_of_renames_before_the_report_is_followed",
            "a_storm_of_fifty_thousand_renames_before_the_report_is_followed",
        ],
    ),
];

const SOURCES: [&str; 21] = [
    include_str!("accepting.rs"),
    include_str!("again.rs"),
    include_str!("beside.rs"),
    include_str!("bodies.rs"),
    include_str!("chance.rs"),
    include_str!("contract.rs"),
    include_str!("events.rs"),
    include_str!("following.rs"),
    include_str!("found.rs"),
    include_str!("hand.rs"),
    include_str!("moved.rs"),
    include_str!("odd.rs"),
    include_str!("quoted.rs"),
    include_str!("rebound.rs"),
    include_str!("renames.rs"),
    include_str!("reviewed.rs"),
    include_str!("runs.rs"),
    include_str!("shown.rs"),
    include_str!("suites.rs"),
    include_str!("states.rs"),
    include_str!("taken_back.rs"),
];

#[test]
fn each_row_has_its_tests_and_each_test_its_row() {
    let mut tests = BTreeSet::new();
    for source in SOURCES {
        let mut lines = source.lines();
        while lines.any(|line| line == "#[test]") {
            let name = lines.find_map(|line| line.strip_prefix("fn ")).unwrap();
            tests.insert(name.split('(').next().unwrap());
        }
    }
    let mut listed = BTreeSet::new();
    for (at, (number, what, honest, dishonest)) in ROWS.iter().enumerate() {
        assert_eq!(usize::from(*number), at + 1, "{what}");
        assert!(!honest.is_empty() && !dishonest.is_empty(), "{what}");
        listed.extend(honest.iter().chain(*dishonest));
    }
    for (what, honest, dishonest) in EVENTS {
        assert!(!honest.is_empty() && !dishonest.is_empty(), "{what}");
        for test in honest.iter().chain(dishonest) {
            let mut of_rows = ROWS.iter().flat_map(|row| row.2.iter().chain(row.3));
            assert!(of_rows.any(|known| known == test), "{what}: {test}");
        }
    }
    for (what, of_it) in BESIDE {
        assert!(!of_it.is_empty(), "{what}");
        listed.extend(of_it);
    }
    let apart: Vec<_> = tests.symmetric_difference(&listed).collect();
    assert!(apart.is_empty(), "{apart:?}");
}
