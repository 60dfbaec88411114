#include "store/placement/coding.hpp"

#include "base/error.hpp"

#include <isa-l/erasure_code.h>

#include <algorithm>

namespace mend {
namespace {

/// Returns an element of an unscaled Cauchy matrix. Rows and columns stand for disjoint sets of numbers.
Coefficient cauchy(int row, int column) { return gf_inv(static_cast<Coefficient>((255 - row) ^ column)); }

}  // namespace

Coefficient coefficient_of(int row, int column) {
  const Coefficient scaled = gf_mul(cauchy(row, column), cauchy(0, 0));
  return gf_mul(scaled, gf_mul(gf_inv(cauchy(0, column)), gf_inv(cauchy(row, 0))));
}

std::vector<Coefficient> coefficients_for(int wanted, std::span<const StripePart> parts) {
  const std::size_t size = parts.size();
  std::vector<Coefficient> rows(size * size, 0);  // each part as a linear combination of the pieces
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t column = 0; column < size; ++column) {
      const int piece = static_cast<int>(column);
      rows[i * size + column] =
          parts[i].parity ? coefficient_of(parts[i].index, piece) : (parts[i].index == piece ? 1 : 0);
    }
  }
  std::vector<Coefficient> inverse(size * size);
  if (gf_invert_matrix(rows.data(), inverse.data(), static_cast<int>(size)) != 0) {
    throw UsageError("a piece cannot be made of parts that are not all different");
  }
  const auto row = inverse.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(wanted) * size);
  return {row, row + static_cast<std::ptrdiff_t>(size)};
}

void combine(std::span<const Term> terms, std::span<std::byte> result) {
  if (terms.empty()) {
    std::fill(result.begin(), result.end(), std::byte{});
    return;
  }
  constexpr std::size_t table_bytes = 32;                // the size of ISA-L's table for one coefficient
  constexpr std::size_t longest = std::size_t{1} << 30;  // ISA-L takes lengths as int
  std::vector<Coefficient> coefficients;
  std::vector<unsigned char*> sources;
  for (const Term& term : terms) {
    coefficients.push_back(term.coefficient);
    // ISA-L does not write to its sources, although its signature allows it.
    sources.push_back(const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(term.bytes.data())));
  }
  const int count = static_cast<int>(terms.size());
  std::vector<unsigned char> tables(table_bytes * terms.size());
  ec_init_tables(count, 1, coefficients.data(), tables.data());
  auto* target = reinterpret_cast<unsigned char*>(result.data());
  for (std::size_t left = result.size(); left > 0;) {
    const std::size_t length = std::min(left, longest);
    ec_encode_data(static_cast<int>(length), count, 1, tables.data(), sources.data(), &target);
    for (unsigned char*& source : sources) source += length;
    target += length;
    left -= length;
  }
}

}  // namespace mend
