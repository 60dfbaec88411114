// Regions that find their Views, in jobs whose ranks die.

#include "tests/support/subject_job.hpp"

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

support::JobEnd play_regions(const std::string& what, int ranks, int spares,
                             const std::vector<std::string>& flags = {}) {
  return play(what, ranks, spares, flags, MEND_KOKKOS_SUBJECT);
}

std::vector<std::string> sums_in(const support::JobEnd& end) {
  std::vector<std::string> sums = said(end);
  std::erase_if(sums, [](const std::string& line) { return line.find("sums") == std::string::npos; });
  return sums;
}

/// Plays one scenario with deaths and the other without.
void expect_same_sums(const std::string& with_deaths, const std::string& without, int ranks, const std::string& last,
                      const std::vector<std::string>& flags = {}) {
  const auto disturbed = play_regions(with_deaths, ranks, 2, flags);
  EXPECT_EQ(disturbed.exit_code, 0) << disturbed.errors;
  EXPECT_THAT(disturbed.errors, HasSubstr("died (SIGKILL)")) << "nobody has died";
  const auto undisturbed = play_regions(without, ranks, 0);
  EXPECT_EQ(undisturbed.exit_code, 0) << undisturbed.errors;
  ASSERT_THAT(sums_in(undisturbed), SizeIs(static_cast<std::size_t>(ranks)));
  EXPECT_EQ(sums_in(disturbed), sums_in(undisturbed));
  EXPECT_THAT(sums_in(disturbed), testing::Each(HasSubstr(last)));
}

TEST(Regions, come_to_the_same_whoever_dies_in_them) { expect_same_sums("deaths", "no_deaths", 4, "last 11 11"); }

TEST(Regions, of_kernels_come_to_the_same_whoever_dies_in_them) {
  expect_same_sums("kernels_deaths", "kernels", 3, "last 11");
}

TEST(Regions, keep_the_ranks_that_stay_under_local_rollback) {
  expect_same_sums("kernels_deaths", "kernels", 3, "last 11", {"--mend-rollback", "local,strict"});
}

TEST(Regions, save_what_a_view_of_views_holds_after_the_step) {
  expect_same_sums("swaps_deaths", "swaps", 3, "last 10");
}

TEST(Regions, save_dual_views) { expect_same_sums("duals_deaths", "duals", 3, "last 9"); }

TEST(Regions, pass_over_what_was_restored) {
  const auto end = play_regions("deaths", 4, 2);
  // Step 8 of "heat" was committed before rank 0 died in "history".
  EXPECT_THAT(said(end), Contains(HasSubstr("called 3 times in epoch 2"))) << end.errors;
}

TEST(Regions, go_on_after_a_repair_in_place) {
  const auto end = play_regions("in_place", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  // u becomes 3 u + 3 in each of ten steps.
  double value = 0;
  for (int step = 0; step < 10; ++step) value = 3 * value + 3;
  char text[64];
  std::snprintf(text, sizeof text, "value %a", value);
  EXPECT_THAT(said(end), testing::AllOf(SizeIs(3), testing::Each(HasSubstr(text))));
}

TEST(Regions, that_cannot_be_restored_are_refused_in_a_sentence) {
  expect_end(play_regions("nested", 2, 0), 2, "region 'inner' is in region 'outer'");
  expect_end(play_regions("no_deaths", 2, 0, {"--mend-rollback", "local"}), 2,
             "region 'history' is a second one, and --mend-rollback local covers one");
  expect_end(play_regions("alike", 2, 0), 2, "two Views that regions capture have the label 'v'");
  expect_end(play_regions("late", 3, 1), 2,
             "region 'late' was committed, and is not called before region 'early' goes on");
}

}  // namespace
