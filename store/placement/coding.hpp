// The arithmetic of redundancy: computes parities from pieces, and pieces from the rest of a stripe.
//
// A stripe of k pieces has parities that are linear combinations of them over GF(256), byte by byte. The coefficients
// are a Cauchy matrix, so any k of the pieces and parities determine the rest; its rows and columns are scaled so that
// the first row and the first column are ones. So the first parity is the plain XOR of the pieces, and every parity of
// a single piece is a copy.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mend {

using Coefficient = std::uint8_t;

/// Returns the coefficient of piece `column` in parity `row`. row + column must be below 256.
Coefficient coefficient_of(int row, int column);

/// A part of a stripe from which a piece is rebuilt: another piece or a parity.
struct StripePart {
  bool parity = false;
  int index = 0;
  bool operator==(const StripePart&) const = default;
};

/// Returns the coefficients that combine `parts` into piece `wanted`. `parts` must be as many as the stripe has pieces,
/// and all different.
std::vector<Coefficient> coefficients_for(int wanted, std::span<const StripePart> parts);

/// One term of a combination: bytes and their coefficient.
struct Term {
  std::span<const std::byte> bytes;
  Coefficient coefficient = 1;
};

/// result = the sum of all terms; zeros if there are none. Each term is as long as the result and must not overlap it.
void combine(std::span<const Term> terms, std::span<std::byte> result);

}  // namespace mend
