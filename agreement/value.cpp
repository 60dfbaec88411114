#include "agreement/value.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace mend::agreement {
namespace {

constexpr std::size_t first_user = static_cast<std::size_t>(Operation::first_user);

template <class Function>
void each_word(Value& into, const Value& from, Function function) {
  for (std::size_t i = 0; i < into.words.size(); ++i) into.words[i] = function(into.words[i], from.words[i]);
}

}  // namespace

Operation Operations::add(Combine function) {
  if (first_user + user_.size() > 255) throw UsageError("a group has room for 252 operations of its user's own");
  user_.push_back(function);
  return static_cast<Operation>(first_user + user_.size() - 1);
}

void Operations::combine(Operation operation, Value& into, const Value& from) const {
  switch (operation) {
    case Operation::bitwise_and: return each_word(into, from, [](std::uint64_t a, std::uint64_t b) { return a & b; });
    case Operation::bitwise_or: return each_word(into, from, [](std::uint64_t a, std::uint64_t b) { return a | b; });
    case Operation::minimum:
      return each_word(into, from, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
    case Operation::maximum:
      return each_word(into, from, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
    default: break;
  }
  const std::size_t index = static_cast<std::size_t>(operation) - first_user;
  if (index >= user_.size()) {
    throw UsageError("this operation was not added at this member: add the same ones, in the same order, everywhere");
  }
  user_[index](into, from);
}

}  // namespace mend::agreement
