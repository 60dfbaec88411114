// How the functions on data are called: by programs that may be wrong in what they ask for.

#pragma once

#include "base/log.hpp"
#include "fenix/group.hpp"
#include "fenix/job.hpp"
#include "fenix/regions.hpp"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

namespace mend::fenix {

/// What is wrong with an argument, as a code and in words.
class Refused : public std::exception {
 public:
  Refused(int code, std::string sentence) : code_(code), sentence_(std::move(sentence)) {}
  int code() const { return code_; }
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  int code_;
  std::string sentence_;
};

/// As mend::fenix::guarded, with arguments that may be refused.
template <class Work>
Outcome checked(const char* function, const Work& work) {
  return guarded(function, [&]() -> int {
    try {
      return work();
    } catch (const Refused& refused) {
      mend::log::warn(fmt::format("{}: {}", function, refused.what()));
      return refused.code();
    }
  });
}

/// The same for functions that need no job, or that only look: nothing can fail but the arguments.
template <class Work>
int local(const char* function, const Work& work) {
  return checked(function, work).code;
}

/// Throws Refused when there is none.
Group& group_of(int id);
Definition& member_of(Group& group, int id);

/// How many bytes an element of this type takes. Throws Refused.
std::size_t element_size(MPI_Datatype type);

/// Which elements of that member a subset means. Throws Refused.
Regions regions_of(const Fenix_Data_subset& subset, const Definition& definition);

}  // namespace mend::fenix
