#include "framework/replay/derived_fronts.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace mend {
namespace {

using testing::Eq;

const std::vector<Recipe> two_recipes{{1, {0, 1, 2, 3}, {{2, 0}, {3, 1}}, {{1, 2}, {0, 1}, {}, {}, {}}, {4, 9}},
                                      {7, {2, 0}, {{2}}, {{}, {}, {1, 2}, {1, 0}, {{1, 1, 0, 5, 0}, {0, 0, 0}}}, {}}};

TEST(Recipes, are_the_same_after_they_were_sent) {
  std::vector<std::uint64_t> words{17};
  put(words, two_recipes);
  words.push_back(18);
  std::size_t at = 1;
  EXPECT_THAT(recipes_from(words, at), Eq(two_recipes));
  EXPECT_EQ(words.at(at), 18);
}

TEST(Recipes, that_break_off_are_refused) {
  std::vector<std::uint64_t> words;
  put(words, two_recipes);
  for (std::size_t length = 0; length < words.size(); ++length) {
    std::size_t at = 0;
    EXPECT_THROW(recipes_from({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(length)}, at),
                 std::out_of_range);
  }
}

}  // namespace
}  // namespace mend
