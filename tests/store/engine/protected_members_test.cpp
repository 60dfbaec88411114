#include "store/engine/protected_members.hpp"

#include "base/error.hpp"
#include "tests/store/member_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace {

using mend::ProtectedMembers;
using mend::UsageError;
using mend::Version;
using testing::HasSubstr;

std::string sentence_of(const std::function<void()>& wrong) {
  try {
    wrong();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ProtectedMembers, have_a_name_each_which_another_takes_over_on_request_alone) {
  ProtectedMembers members;
  int first = 0;
  int second = 0;
  double other = 0;
  members.protect("x", member_of(first));
  members.protect("x", member_of(first));
  EXPECT_THAT(sentence_of([&] { members.protect("x", member_of(second)); }), HasSubstr("store.replace(\"x\", object)"));
  EXPECT_EQ(members.all().at("x")->address(), &first);
  members.replace("x", member_of(second));
  EXPECT_EQ(members.all().at("x")->address(), &second);
  EXPECT_THAT(sentence_of([&] { members.protect("x", member_of(first)); }), HasSubstr("store.replace"));
  EXPECT_THAT(sentence_of([&] { members.replace("x", member_of(other)); }), HasSubstr("cannot take its place"));
  EXPECT_THAT(sentence_of([&] { members.replace("y", member_of(other)); }), HasSubstr("'y' to be replaced"));
  members.unprotect("x");
  EXPECT_NO_THROW(members.protect("x", member_of(other)));
  members.forget();
  EXPECT_NO_THROW(members.protect("x", member_of(first)));
}

TEST(ProtectedMembers, may_be_named_anew_in_an_epoch_until_they_are_restored) {
  ProtectedMembers members;
  int first = 0;
  int second = 0;
  members.protect("x", member_of(first));
  members.begin_epoch();
  members.protect("x", member_of(second));
  EXPECT_THAT(sentence_of([&] { members.protect("x", member_of(first)); }), HasSubstr("store.replace"));
  members.begin_epoch();
  members.note_restored(Version{1}, {"x"});
  EXPECT_THAT(sentence_of([&] { members.protect("x", member_of(first)); }), HasSubstr("store.replace"))
      << "the second was filled";
}

TEST(ProtectedMembers, know_of_those_that_came_too_late_for_a_restore) {
  ProtectedMembers members;
  int value = 0;
  members.note_restored(Version{4}, {"a", "b"});
  members.protect("new", member_of(value));
  members.protect("a", member_of(value));
  EXPECT_THAT(sentence_of([&] { members.require_restored(); }), HasSubstr("'a' was protected after restore()"));
  EXPECT_THAT(sentence_of([&] { members.require_restored(); }), HasSubstr("version 4"));
  members.note_restored(Version{4}, {"a", "b"});
  EXPECT_THAT(sentence_of([&] { members.require_restored(); }), HasSubstr("version 4 has data of 'b'"))
      << "'a' was restored by now";
  members.unprotect("b");  // gives up its data
  EXPECT_NO_THROW(members.require_restored());
  members.protect("b", member_of(value));
  EXPECT_NO_THROW(members.require_restored());
  EXPECT_THROW(members.unprotect("c"), UsageError);
  members.note_restored(Version{5}, {"c"});
  members.forget();
  members.protect("c", member_of(value));
  EXPECT_NO_THROW(members.require_restored()) << "the body is entered again, and restores once more";
}

}  // namespace
