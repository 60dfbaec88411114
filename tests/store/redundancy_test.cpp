#include "store/redundancy.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace {

using mend::Redundancy;
using testing::HasSubstr;

TEST(Redundancy, is_read_as_it_is_written) {
  EXPECT_EQ(Redundancy::parse("local"), (Redundancy{1, 0}));
  EXPECT_EQ(Redundancy::parse("partner"), (Redundancy{1, 1}));
  EXPECT_EQ(Redundancy::parse("replicas:2"), (Redundancy{1, 2}));
  EXPECT_EQ(Redundancy::parse("xor:4"), (Redundancy{3, 1}));
  EXPECT_EQ(Redundancy::parse("rs:4+2"), (Redundancy{4, 2}));
  for (const char* text : {"local", "partner", "replicas:2", "xor:4", "rs:4+2"}) {
    EXPECT_EQ(to_string(Redundancy::parse(text)), text);
  }
}

TEST(Redundancy, that_is_another_by_name_is_the_same) {
  EXPECT_EQ(Redundancy::parse("replicas:1"), Redundancy::parse("partner"));
  EXPECT_EQ(Redundancy::parse("xor:2"), Redundancy::parse("partner"));
  EXPECT_EQ(Redundancy::parse("rs:3+1"), Redundancy::parse("xor:4"));
  EXPECT_EQ(Redundancy::parse("rs:1+2"), Redundancy::parse("replicas:2"));
}

TEST(Redundancy, that_makes_no_sense_is_refused_with_what_would) {
  for (const char* text :
       {"",         "mirror",   "partner:2", "replicas", "replicas:", "replicas:0", "replicas:-1", "replicas:two",
        "xor:1",    "xor:0",    "xor:4 ",    "rs:4",     "rs:+2",     "rs:4+",      "rs:0+2",      "rs:4+0",
        "rs:4+2+1", "rs:127+2", "rs:200+1",  "local:1",  ":"}) {
    try {
      Redundancy::parse(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const mend::UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("give partner, replicas:K"));
    }
  }
}

TEST(Redundancy, of_other_numbers_than_a_text_gives_is_refused) {
  for (const char* text : {"local", "partner", "replicas:127", "xor:128", "rs:4+2"})
    EXPECT_NO_THROW(Redundancy::parse(text).require_sense()) << text;
  constexpr int most = std::numeric_limits<int>::max();
  for (const Redundancy& none : {Redundancy{2, 0}, Redundancy{0, 0}, Redundancy{0, 1}, Redundancy{-1, 2},
                                 Redundancy{1, -1}, Redundancy{127, 2}, Redundancy{1, most}, Redundancy{most, most}}) {
    EXPECT_THROW(none.require_sense(), mend::UsageError) << none.data << " " << none.parity;
    EXPECT_THROW(none.require_ranks(most), mend::UsageError) << none.data << " " << none.parity;
  }
}

TEST(Redundancy, needs_as_many_ranks_as_a_stripe_has_blocks_and_says_so) {
  EXPECT_NO_THROW(Redundancy::parse("local").require_ranks(1));
  EXPECT_NO_THROW(Redundancy::parse("partner").require_ranks(1));
  EXPECT_NO_THROW(Redundancy::parse("rs:4+2").require_ranks(6));
  try {
    Redundancy::parse("rs:4+2").require_ranks(5);
    ADD_FAILURE() << "5 ranks will not do";
  } catch (const mend::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("redundancy rs:4+2 needs 6 ranks or more, and the job has 5"));
  }
  EXPECT_THROW(Redundancy::parse("replicas:2").require_ranks(2), mend::UsageError);
}

TEST(Redundancy, that_fewer_ranks_cannot_have_becomes_copies) {
  using mend::Redundancy;
  EXPECT_EQ(Redundancy::parse("xor:4").fitting(4), Redundancy::parse("xor:4"));
  EXPECT_EQ(Redundancy::parse("xor:4").fitting(3), Redundancy::parse("partner"));
  EXPECT_EQ(Redundancy::parse("rs:4+2").fitting(5), Redundancy::parse("replicas:2"));
  EXPECT_EQ(Redundancy::parse("replicas:3").fitting(2), Redundancy::parse("partner"));
  EXPECT_EQ(Redundancy::parse("partner").fitting(1), Redundancy::parse("partner"));
  EXPECT_EQ(Redundancy::parse("rs:4+2").fitting(1), Redundancy::parse("local"));
}

}  // namespace
