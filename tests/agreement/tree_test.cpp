#include "agreement/era/tree.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <random>

namespace mend::agreement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::uint32_t> children(const Tree& tree, std::uint32_t member, const ProcessSet& dead) {
  std::vector<Member> found;
  tree.children({member}, dead, found);
  std::vector<std::uint32_t> numbers;
  for (Member child : found) numbers.push_back(child.value);
  return numbers;
}

ProcessSet set_of(std::initializer_list<std::uint32_t> numbers) {
  ProcessSet set;
  for (std::uint32_t number : numbers) set.insert(Member{number});
  return set;
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> layouts;
  for (const char* name : {"binary", "star", "chain", "3-ary", "bin/bin:4", "bin/star:5", "star/chain:3", "chain/bin:7",
                           "4-ary/3-ary:16"}) {
    layouts.push_back(Layout::parse(name));
  }
  return layouts;
}

TEST(Tree, a_binary_tree_is_mended_as_in_figure_1b) {
  const Tree tree(7, Layout::binary());
  EXPECT_THAT(children(tree, 0, {}), ElementsAre(1, 2));
  const ProcessSet dead = set_of({1});
  EXPECT_THAT(children(tree, 0, dead), ElementsAre(2, 3, 4));
  EXPECT_THAT(children(tree, 2, dead), ElementsAre(5, 6));
  EXPECT_EQ(tree.parent({3}, dead), Member{0});
}

TEST(Tree, a_star_is_mended_by_leaving_the_dead_out) {
  const Tree tree(4, Layout::star());
  EXPECT_THAT(children(tree, 0, set_of({1})), ElementsAre(2, 3));
}

TEST(Tree, when_the_root_dies_the_lowest_living_member_adopts_all_who_have_no_living_ancestor) {
  const Tree tree(7, Layout::binary());
  EXPECT_THAT(children(tree, 1, set_of({0})), ElementsAre(2, 3, 4));
  EXPECT_EQ(tree.parent({1}, set_of({0})), std::nullopt);
  EXPECT_EQ(tree.parent({2}, set_of({0})), Member{1});
  EXPECT_THAT(children(tree, 2, set_of({0, 1})), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(children(tree, 3, set_of({0, 1, 2})), ElementsAre(4, 5, 6));
}

TEST(Tree, groups_have_trees_of_their_own_below_their_leaders) {
  const Tree tree(12, Layout::parse("bin/star:4"));
  EXPECT_THAT(children(tree, 0, {}), ElementsAre(1, 2, 3, 4, 8));
  EXPECT_THAT(children(tree, 4, {}), ElementsAre(5, 6, 7));
  EXPECT_THAT(children(tree, 5, {}), IsEmpty());
  EXPECT_EQ(tree.parent({8}, {}), Member{0});
  EXPECT_EQ(tree.parent({6}, set_of({4})), Member{0});
}

TEST(Tree, a_last_group_may_be_smaller) {
  const Tree tree(6, Layout::parse("chain/chain:4"));
  EXPECT_THAT(children(tree, 0, {}), ElementsAre(1, 4));
  EXPECT_THAT(children(tree, 4, {}), ElementsAre(5));
}

TEST(Tree, those_left_out_have_no_place) {
  const Tree tree = Tree(7, Layout::binary()).without(set_of({0, 3}));
  // 1 2 4 5 6 take the places of 0 1 2 3 4.
  EXPECT_THAT(children(tree, 1, {}), ElementsAre(2, 4));
  EXPECT_THAT(children(tree, 2, {}), ElementsAre(5, 6));
  EXPECT_EQ(tree.root({}), Member{1});
}

TEST(Tree, a_group_that_is_left_out_whole_is_no_group) {
  const Tree tree = Tree(12, Layout::parse("chain/star:4")).without(set_of({4, 5, 6, 7, 8}));
  EXPECT_THAT(children(tree, 0, {}), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(children(tree, 9, {}), ElementsAre(10, 11));
}

TEST(Tree, a_group_is_not_left_out_because_its_size_is_near_the_largest_number) {
  const Tree tree(4, Layout::parse("bin/bin:4294967295"), set_of({2, 3}));
  EXPECT_THAT(children(tree, 0, {}), ElementsAre(1));
  EXPECT_EQ(tree.parent({1}, {}), Member{0});
}

TEST(Tree, between_names_those_whose_death_makes_one_the_parent_of_another) {
  const Tree tree(15, Layout::binary());  // 0-1-3-7
  EXPECT_EQ(tree.between({7}, {0}), set_of({1, 3}));
  EXPECT_EQ(tree.between({7}, {3}), ProcessSet{});
  EXPECT_EQ(tree.between({7}, {2}), set_of({0, 1, 3}));  // 2 is no ancestor
}

// Whatever dies: parents and children match, parents have lower numbers, and all living members are below the one root.
TEST(Tree, stays_a_tree_whoever_dies_and_whoever_is_left_out) {
  std::mt19937 random(20150301);
  for (const Layout& layout : all_layouts()) {
    for (int round = 0; round < 60; ++round) {
      const std::uint32_t size = 1 + static_cast<std::uint32_t>(random() % 70);
      ProcessSet dead;
      ProcessSet left_out;
      const std::uint32_t percent = static_cast<std::uint32_t>(random() % 100);
      for (std::uint32_t p = 0; p < size; ++p) {
        if (random() % 100 < percent) (random() % 2 ? dead : left_out).insert(Member{p});
      }
      const Tree tree(size, layout, left_out);
      std::uint32_t roots = 0;
      std::uint32_t links = 0;
      std::uint32_t living = 0;
      for (std::uint32_t p = 0; p < size; ++p) {
        if (dead.contains(Member{p}) || left_out.contains(Member{p})) continue;
        ++living;
        const auto parent = tree.parent({p}, dead);
        if (parent) {
          ASSERT_LT(parent->value, p);
          ASSERT_FALSE(dead.contains(*parent) || left_out.contains(*parent));
        } else {
          ++roots;
          ASSERT_EQ(tree.root(dead), Member{p});
        }
        for (std::uint32_t child : children(tree, p, dead)) {
          ++links;
          ASSERT_EQ(tree.parent({child}, dead), Member{p}) << layout.to_string() << " " << child;
        }
      }
      ASSERT_EQ(roots, living > 0 ? 1U : 0U);
      ASSERT_EQ(links, living > 0 ? living - 1 : 0U) << layout.to_string() << " of " << size;
    }
  }
}

TEST(Tree, degenerates_when_the_dead_leave_one_member_with_too_many_children) {
  const Tree tree(1000, Layout::binary());
  EXPECT_FALSE(tree.degenerated(set_of({1})));
  EXPECT_FALSE(tree.degenerated(set_of({0, 17, 400})));
  EXPECT_TRUE(tree.degenerated(set_of({1, 2, 3, 4, 5})));
  EXPECT_FALSE(tree.without(set_of({1, 2, 3, 4, 5})).degenerated(set_of({1, 2, 3, 4, 5})));
  EXPECT_FALSE(Tree(1000, Layout::star()).degenerated(set_of({0, 1, 2, 3})));
}

TEST(Tree, degenerates_also_if_the_members_of_a_group_form_a_star) {
  const Tree tree(1000, Layout::parse("bin/star:4"));
  const ProcessSet leaders = set_of({4, 8, 12, 16, 20, 24, 28});
  EXPECT_THAT(children(tree, 0, leaders), SizeIs(33));
  EXPECT_TRUE(tree.degenerated(leaders));
  EXPECT_FALSE(tree.degenerated(set_of({4})));
  EXPECT_FALSE(tree.without(leaders).degenerated(leaders));
}

TEST(Tree, degenerates_by_the_children_that_a_small_group_has_room_for) {
  const Tree tree(1000, Layout::parse("bin/bin:2"));
  EXPECT_THAT(children(tree, 0, set_of({2, 4})), SizeIs(7));
  EXPECT_TRUE(tree.degenerated(set_of({2, 4})));  // a new tree gives a member at most 3 children
  EXPECT_FALSE(tree.degenerated(set_of({2})));
}

TEST(Tree, of_a_million_members_knows_their_parents) {
  const Tree tree(1'000'000, Layout::parse("bin/bin:16"), set_of({3, 999'999}));
  EXPECT_EQ(tree.parent({16}, {}), Member{0});
  EXPECT_EQ(tree.parent({999'998}, {}), tree.parent({999'998}, set_of({5})));
}

TEST(Layout, reads_what_it_writes) {
  for (const Layout& layout : all_layouts()) EXPECT_EQ(Layout::parse(layout.to_string()), layout);
}

TEST(Layout, refuses_what_is_no_tree) {
  for (const char* name : {"", "oak", "0-ary", "-1-ary", "bin/bin", "bin/bin:0", "bin:4", "bin/oak:4", "3-ary "}) {
    EXPECT_THROW(Layout::parse(name), UsageError) << name;
  }
  EXPECT_THROW(Tree(0, Layout::binary()), UsageError);
  EXPECT_THROW(Tree(4, Layout::k_ary(0)), UsageError);
}

}  // namespace
}  // namespace mend::agreement
