// Invalid inputs for readers. A long test (MEND_TEST_LONG=1) tries a million of them.

#pragma once

#include "tests/support/long_tests.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>

namespace support {

/// `otherwise`: the number in tests that are not long. Use fewer if each input takes a connection.
inline int fuzz_inputs(int otherwise = 20'000) { return long_tests() ? 1'000'000 : otherwise; }
constexpr int few_inputs = 4'000;

/// Changes valid inputs: a string, or a vector of bytes. The same sequence in every run.
class Fuzzer {
 public:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// `input` with up to four changes: an element gets another value, the end is cut off, or a piece of the input is
  /// moved to another place, repeated or removed.
  template <class Input>
  Input change(Input input) {
    for (std::uint64_t changes = 1 + below(4); changes > 0 && !input.empty(); --changes) {
      const auto at = [&] { return input.begin() + static_cast<std::ptrdiff_t>(below(input.size())); };
      switch (below(6)) {
        case 0: input.resize(below(input.size() + 1)); break;
        case 1: {
          const Input piece = piece_of(input);
          input.insert(at(), piece.begin(), piece.end());
          break;
        }
        case 2: {
          const auto from = at();
          const auto left = static_cast<std::uint64_t>(input.end() - from);
          input.erase(from, from + static_cast<std::ptrdiff_t>(below(left + 1)));
          break;
        }
        default: *at() = static_cast<typename Input::value_type>(random_() & 0xffU);
      }
    }
    return input;
  }

 private:
  template <class Input>
  Input piece_of(const Input& input) {
    const std::uint64_t from = below(input.size());
    const std::uint64_t length = below(input.size() - from + 1);
    const auto begin = input.begin() + static_cast<std::ptrdiff_t>(from);
    return Input(begin, begin + static_cast<std::ptrdiff_t>(length));
  }

  std::mt19937_64 random_{1};
};

/// Passes many inputs to `read`, which checks what it has read, or refuses the input by an exception of type `Refusal`.
/// `make` makes each with the Fuzzer that it gets. At least one of them must be read.
template <class Refusal, class Make, class Read>
void expect_read_or_refused(const Make& make, const Read& read) {
  Fuzzer fuzzer;
  int read_back = 0;
  for (int i = 0; i < fuzz_inputs(); ++i) {
    const auto input = make(fuzzer);
    try {
      read(input);
      ++read_back;
    } catch (const Refusal&) {
    }
  }
  EXPECT_GT(read_back, 0);
}

}  // namespace support
