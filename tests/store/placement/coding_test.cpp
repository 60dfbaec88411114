#include "store/placement/coding.hpp"

#include "base/error.hpp"
#include "tests/store/random_bytes.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace {

using mend::coefficient_of;
using mend::coefficients_for;
using mend::combine;
using mend::StripePart;
using mend::Term;

/// A stripe of `data` random pieces and its parities.
class FilledStripe {
 public:
  FilledStripe(int data, int parity, std::size_t length) {
    for (int i = 0; i < data; ++i) pieces_.push_back(random_bytes(length, static_cast<unsigned>(10 * data + i)));
    for (int row = 0; row < parity; ++row) {
      std::vector<Term> terms;
      for (int i = 0; i < data; ++i) terms.push_back({pieces_[static_cast<std::size_t>(i)], coefficient_of(row, i)});
      parities_.emplace_back(length);
      combine(terms, parities_.back());
    }
  }

  const PlainBytes& at(StripePart part) const {
    return (part.parity ? parities_ : pieces_)[static_cast<std::size_t>(part.index)];
  }

  std::vector<StripePart> parts() const {
    std::vector<StripePart> all;
    for (std::size_t i = 0; i < pieces_.size(); ++i) all.push_back({false, static_cast<int>(i)});
    for (std::size_t i = 0; i < parities_.size(); ++i) all.push_back({true, static_cast<int>(i)});
    return all;
  }

  PlainBytes rebuild(int piece, const std::vector<StripePart>& from) const {
    const auto coefficients = coefficients_for(piece, from);
    std::vector<Term> terms;
    for (std::size_t i = 0; i < from.size(); ++i) terms.push_back({at(from[i]), coefficients[i]});
    PlainBytes result(at({false, piece}).size());
    combine(terms, result);
    return result;
  }

 private:
  std::vector<PlainBytes> pieces_;
  std::vector<PlainBytes> parities_;
};

TEST(Coding, brings_back_every_piece_from_any_parts_that_are_enough) {
  for (int data = 1; data <= 6; ++data) {
    for (int parity = 1; parity <= 4; ++parity) {
      const FilledStripe stripe(data, parity, 97);
      const auto parts = stripe.parts();
      for (unsigned chosen = 0; chosen < 1U << parts.size(); ++chosen) {
        if (std::popcount(chosen) != data) continue;
        std::vector<StripePart> from;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          if ((chosen >> i & 1U) != 0) from.push_back(parts[i]);
        }
        for (int piece = 0; piece < data; ++piece) {
          ASSERT_EQ(stripe.rebuild(piece, from), stripe.at({false, piece}))
              << data << "+" << parity << " from " << chosen;
        }
      }
    }
  }
}

TEST(Coding, of_the_first_parity_is_the_plain_exclusive_or) {
  for (int column = 0; column < 128; ++column) EXPECT_EQ(coefficient_of(0, column), 1);
}

TEST(Coding, of_a_single_piece_is_a_copy) {
  for (int row = 0; row < 128; ++row) EXPECT_EQ(coefficient_of(row, 0), 1);
}

TEST(Coding, of_the_largest_groups_has_no_two_parities_alike) {
  for (int row = 1; row < 128; ++row) {
    for (int column = 1; column < 128; ++column) {
      ASSERT_NE(coefficient_of(row, column), 0);
      ASSERT_NE(coefficient_of(row, column), coefficient_of(row - 1, column));
    }
  }
}

TEST(Coding, of_parts_that_are_not_all_different_is_refused) {
  const StripePart same[] = {{true, 0}, {true, 0}};
  EXPECT_THROW(coefficients_for(0, same), mend::UsageError);
}

TEST(Coding, of_any_length_and_place_is_right_to_the_last_byte) {
  const PlainBytes a = random_bytes(1000, 1);
  const PlainBytes b = random_bytes(1000, 2);
  for (std::size_t offset = 0; offset < 70; ++offset) {
    for (std::size_t length : {0U, 1U, 31U, 63U, 64U, 65U, 500U}) {
      PlainBytes result(length + 1, std::byte{0x5a});
      const Term terms[] = {{std::span(a).subspan(offset, length), 1}, {std::span(b).subspan(offset, length), 1}};
      combine(terms, std::span(result).first(length));
      for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(result[i], a[offset + i] ^ b[offset + i]);
      ASSERT_EQ(result[length], std::byte{0x5a}) << "wrote beyond the end";
    }
  }
}

TEST(Coding, of_nothing_is_zeros) {
  PlainBytes result(10, std::byte{1});
  combine({}, result);
  EXPECT_EQ(result, PlainBytes(10));
}

}  // namespace
