#include "base/death/catchable.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

namespace {

using mend::ProcessFailure;

/// Set where the question is asked, as an MPI error handler would do it.
bool answer = false;

[[gnu::noinline]] void ask() { answer = mend::is_catchable(ProcessFailure("a death")); }

struct AsksAtItsEnd {
  ~AsksAtItsEnd() { ask(); }
};

struct MayThrowAtItsEnd {
  ~MayThrowAtItsEnd() noexcept(false) { ask(); }
};

struct CatchesAtItsEnd {
  ~CatchesAtItsEnd() {
    try {
      ask();
    } catch (const std::exception&) {
      answer = false;
    }
  }
};

struct HasAMemberThatAsks {
  ~HasAMemberThatAsks() {}
  AsksAtItsEnd member;
};

/// Returns the answer found by `work` if a caller further up the stack catches everything.
bool is_caught_in(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception&) {
    ADD_FAILURE() << "thrown";
  }
  return answer;
}

TEST(AnException, that_leaves_plain_functions_is_caught) {
  EXPECT_TRUE(is_caught_in([] { ask(); }));
  EXPECT_TRUE(is_caught_in([] {
    const std::string on_the_way(100, 'x');  // has a destructor, which is not a handler
    ask();
    EXPECT_EQ(on_the_way.size(), 100u);
  }));
}

TEST(AnException, that_leaves_a_destructor_ends_the_process) {
  EXPECT_FALSE(is_caught_in([] { const AsksAtItsEnd closing; }));
  EXPECT_FALSE(is_caught_in([] { const HasAMemberThatAsks closing; }));
}

TEST(AnException, that_leaves_a_noexcept_function_ends_the_process) {
  const auto careless = []() noexcept { ask(); };
  EXPECT_FALSE(is_caught_in(careless));
}

TEST(AnException, that_is_caught_inside_a_destructor_or_may_leave_it_is_no_danger) {
  EXPECT_TRUE(is_caught_in([] { const CatchesAtItsEnd closing; }));
  EXPECT_TRUE(is_caught_in([] { const MayThrowAtItsEnd closing; }));
}

TEST(AnException, of_another_type_is_asked_for_alike) {
  bool catchable = true;
  struct Closing {
    bool& answer;
    ~Closing() { answer = mend::is_catchable(mend::EnvironmentError("a full disk")); }
  };
  { const Closing closing{catchable}; }
  EXPECT_FALSE(catchable);
}

}  // namespace
