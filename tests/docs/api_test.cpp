// docs/api.md lists the public interface, and C and Fortran have the functions of C++.

#include "tests/docs/api_list.hpp"
#include "tests/docs/documents.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using documents::Declaration;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> public_headers() {
  std::istringstream words(MEND_PUBLIC_HEADERS);
  std::vector<std::string> headers;
  for (std::string header; std::getline(words, header, ' ');) {
    const bool is_a_part =
        header == "store/device_staging.hpp" || header.starts_with("framework/kokkos/");  // of another
    if (!is_a_part) headers.push_back(header);
  }
  return headers;
}

std::vector<Declaration> all_in_cpp() {
  std::vector<Declaration> all;
  for (const std::string& header : public_headers()) {
    const auto declared = documents::declarations_in_cpp(documents::text_of(header));
    all.insert(all.end(), declared.begin(), declared.end());
  }
  return all;
}

TEST(DeclarationsInHeaders, are_those_for_users_with_the_first_sentence_of_their_comments) {
  const auto all = documents::declarations_in_cpp(R"(
#include <vector>
namespace mend {
/// One. And more.
class Thing : public Base {
 public:
  explicit Thing(int& of) : of_(of) {}
  ~Thing();
  /// Says
  /// how many. Local.
  int count() const { return of_; }
  virtual void go(int how = 3) = 0;

 private:
  int of_;
};
enum class Kind : int { good, bad = 3 };  ///< which
struct Settings {
  int first{2};  ///< the first
  double second = 1;
};
namespace detail { void hidden(); }
Kind kind_of(const Thing& thing);
})");
  std::string text;
  for (const auto& [scope, name, declaration, what, is_function] : all) {
    text += fmt::format("{}/{}/{}/{}/{}\n", scope, name, declaration, what, is_function ? "f" : "");
  }
  EXPECT_EQ(text,
            "/Thing/class Thing/One./\n"
            "Thing/count/int count() const/Says how many./f\n"
            "Thing/go/void go(int how = 3)//f\n"
            "/Kind/enum class Kind { good, bad }/which/\n"
            "/Settings/struct Settings//\n"
            "Settings/first/int first/the first/\n"
            "Settings/second/double second = 1//\n"
            "/kind_of/Kind kind_of(const Thing& thing)//f\n");
}

TEST(FunctionsInFortran, are_those_of_users_with_the_first_sentence_of_their_comments) {
  const auto all = documents::functions_in_fortran(R"(
! What the module is. And more.
module mend
  abstract interface
    ! Written by the user.
    integer(c_int) function mend_work(session) bind(C)
    end function
  end interface
  interface
    ! Says
    ! how many. Local.
    integer(c_int) function mend_count(session) bind(C, name="mend_count")
    end function
    type(c_ptr) function mend_next(session)
    end function
  end interface
contains
  ! Not for users.
  function terminated(text)
  end function

  ! Goes there.
  subroutine mend_go(session, &
      how)
    call terminated(how)
  end subroutine
end module)");
  std::string text;
  for (const Declaration& one : all) text += fmt::format("{}/{}/{}\n", one.name, one.text, one.what);
  EXPECT_EQ(text,
            "mend_count/mend_count(session)/Says how many.\n"
            "mend_next/mend_next(session)/\n"
            "mend_go/mend_go(session, how)/Goes there.\n");
}

TEST(TheInterface, is_listed_as_it_is) {
  const std::string list = documents::api_list(public_headers());
  if (std::getenv("MEND_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(std::filesystem::path(MEND_SOURCE_DIR) / "docs/api.md") << list;
    return;
  }
  EXPECT_EQ(documents::text_of("docs/api.md"), list)
      << "set MEND_UPDATE_GOLDEN=1 to write the list again, and review it";
}

/// Functions that only C++ needs: in C, the functions of the store take the session, and no object of C belongs to an
/// entry of the body.
constexpr std::array alone_in_cpp{"Session::store", "Session::of_this_entry"};

TEST(TheInterface, is_in_c_what_it_is_in_cpp) {
  const auto cpp = all_in_cpp();
  std::vector<std::string> in_c;
  for (const Declaration& function : documents::functions_in_c(documents::text_of("bindings/c/mend.h"))) {
    in_c.push_back(documents::counterpart_in_cpp(function.name, cpp));
    EXPECT_TRUE(!in_c.back().empty() || function.name == "mend_error_text") << function.name << " is not in C++";
    EXPECT_NE(function.what, "") << function.name << " has no comment";
  }
  std::vector<std::string> missing;
  int users = 0;
  for (const Declaration& one : cpp) {
    const bool is_for_bodies = one.scope == "Session" || one.scope == "Store" || one.name == "run" ||
                               one.name == "refuse" || one.name == "transaction";
    if (!one.is_function || !is_for_bodies) continue;
    ++users;
    const std::string name = one.scope.empty() ? one.name : one.scope + "::" + one.name;
    const bool is_alone = std::ranges::find(alone_in_cpp, name) != alone_in_cpp.end();
    if (!is_alone && std::ranges::find(in_c, name) == in_c.end()) missing.push_back(name);
  }
  EXPECT_GT(users, 40);
  EXPECT_THAT(missing, IsEmpty());
}

/// Functions that only Fortran needs: C has MPI's own for these conversions.
constexpr std::array alone_in_fortran{"mend_comm_c2f", "mend_comm_f2c", "mend_comm_f08", "mend_comm_f08_of"};

TEST(TheInterface, is_in_c_what_it_is_in_fortran) {
  const auto c = documents::functions_in_c(documents::text_of("bindings/c/mend.h"));
  const std::string list = documents::text_of("docs/api.md");
  std::vector<std::string> alone;
  for (const char* module : {"bindings/fortran/mend.f90", "bindings/fortran/mend_f08.f90"}) {
    for (const Declaration& function : documents::functions_in_fortran(documents::text_of(module))) {
      EXPECT_THAT(list, HasSubstr("`" + function.text + "`"));
      if (std::ranges::find(c, function.name, &Declaration::name) != c.end()) continue;
      alone.push_back(function.name);
      EXPECT_NE(function.what, "") << function.name << " has no comment";
    }
  }
  EXPECT_THAT(alone, ElementsAreArray(alone_in_fortran));
}

TEST(TheInterface, is_in_fortran_what_it_is_in_c) {
  const auto fortran = documents::functions_in_fortran(documents::text_of("bindings/fortran/mend.f90"));
  std::vector<std::string> missing;
  for (const Declaration& function : documents::functions_in_c(documents::text_of("bindings/c/mend.h"))) {
    const bool is_optional_argument = function.name == "mend_protect_with";
    const bool is_there = std::ranges::find(fortran, function.name, &Declaration::name) != fortran.end();
    if (!is_there && !is_optional_argument) missing.push_back(function.name);
  }
  EXPECT_GT(fortran.size(), 50U);
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
