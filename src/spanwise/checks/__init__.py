"""What any learner, cover, window or scheme must satisfy, ours or a stranger's.

Every law is a function that raises AssertionError with what went wrong; the lists at the end name
them all. Check your own learner with

    for check in checks.LEARNER:
        check(MyLearner())

and your own part by putting it into a scheme: a part is right when every scheme law holds with it.
"""

from spanwise.checks.learners import (
    check_a_class_that_comes_late_is_learned,
    check_a_copy_shares_nothing,
    check_a_learner_saved_goes_on_the_same,
    check_fresh_shares_nothing,
    check_logits_are_finite_and_as_wide_as_the_classes_seen,
    check_one_class_and_one_row_are_legal,
    check_seed_repeats_a_learner,
)
from spanwise.checks.parts import (
    check_cover_keeps_logarithmically_many,
    check_intervals_have_an_instance_and_hold_the_round,
    check_no_start_comes_back,
    check_window_estimates_what_it_saw,
)
from spanwise.checks.schemes import (
    check_a_failed_round_changes_nothing,
    check_a_scheme_saved_goes_on_the_same,
    check_predictions_are_distributions,
    check_rows_without_label_are_left_out,
    check_seed_repeats_a_run,
    check_start_1_equals_the_plain_learner,
    check_the_order_of_rows_does_not_matter,
)
from spanwise.checks.toys import POISON, assert_same_report, centroids, toy_batches

__all__ = ["COVER", "LEARNER", "POISON", "SCHEME", "WINDOW", "assert_same_report", "centroids", "toy_batches"]

LEARNER = [
    check_fresh_shares_nothing,
    check_a_copy_shares_nothing,
    check_seed_repeats_a_learner,
    check_logits_are_finite_and_as_wide_as_the_classes_seen,
    check_one_class_and_one_row_are_legal,
    check_a_class_that_comes_late_is_learned,
    check_a_learner_saved_goes_on_the_same,
]
COVER = [
    check_cover_keeps_logarithmically_many,
    check_no_start_comes_back,
    check_intervals_have_an_instance_and_hold_the_round,
]
WINDOW = [check_window_estimates_what_it_saw]
SCHEME = [
    check_seed_repeats_a_run,
    check_predictions_are_distributions,
    check_a_scheme_saved_goes_on_the_same,
    check_a_failed_round_changes_nothing,
    check_the_order_of_rows_does_not_matter,
    check_start_1_equals_the_plain_learner,
    check_rows_without_label_are_left_out,
]
