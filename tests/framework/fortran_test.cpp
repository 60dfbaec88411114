// The Fortran module, by a program in Fortran whose rank 1 dies.

#include "tests/framework/subject_job.hpp"

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

support::JobEnd play_in_fortran(const std::string& scenario, int spares) {
  return support::run_job(support::mend_run(4, spares, {MEND_FORTRAN_SUBJECT, scenario}));
}

TEST(InFortran, the_body_is_entered_again) {
  const auto end = play_in_fortran("again", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::SizeIs(4));
  EXPECT_THAT(said(end), Each(HasSubstr("totals 240.0 480.0 720.0 after 10 steps in epoch 1, 0 repairs, agreed")));
  EXPECT_THAT(said(end), Each(HasSubstr("taken back")));
}

TEST(InFortran, the_body_goes_on_in_place) {
  const auto end = play_in_fortran("in_place", 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), Each(HasSubstr("totals 240.0 480.0 720.0 after 10 steps in epoch 1")));
  EXPECT_THAT(said(end), ElementsAre(HasSubstr("1 repairs"), HasSubstr("0 repairs"), HasSubstr("1 repairs"),
                                     HasSubstr("1 repairs")));
}

TEST(InFortran, mistakes_end_the_job_with_their_sentence) {
  expect_end(play_in_fortran("wrong", 0), 2, "a protected member needs a name");
}

}  // namespace
