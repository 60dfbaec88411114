// Compressed sparse rows of one rank: a row for each node it owns, columns by local number.

#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace apps::minife {

/// Values at nodes, by local number: at the owned nodes, or at all known nodes.
using Vector = Kokkos::View<double*>;

/// Copies share their data, as Views do. Matrices of one structure share `row_begin` and `columns`.
struct SparseMatrix {
  Kokkos::View<std::int64_t*> row_begin;  ///< rows + 1
  Kokkos::View<int*> columns;             ///< within a row in ascending order of the node's place in the whole mesh
  Kokkos::View<double*> values;

  std::size_t rows() const { return row_begin.extent(0) - 1; }
  std::size_t entries() const { return values.extent(0); }

  /// Returns the index of the entry for `column`, which must be in the row.
  KOKKOS_INLINE_FUNCTION std::int64_t find(int row, int column) const {
    std::int64_t entry = row_begin(static_cast<std::size_t>(row));
    while (columns(static_cast<std::size_t>(entry)) != column) ++entry;
    return entry;
  }
};

/// Returns a matrix with the structure of `matrix` and its own values, all zero.
inline SparseMatrix with_structure_of(const SparseMatrix& matrix) {
  return {matrix.row_begin, matrix.columns, Kokkos::View<double*>("values", matrix.columns.extent(0))};
}

/// Computes y = matrix * x; `x` has the values at all known nodes, `y` those at the owned ones. Each row is summed in
/// the order of its columns, so the bits do not depend on how the mesh is cut.
inline void multiply(const SparseMatrix& matrix, const Vector& x, const Vector& y) {
  Kokkos::parallel_for(
      "minife multiply", Kokkos::RangePolicy<>(0, matrix.rows()), KOKKOS_LAMBDA(std::size_t row) {
        double sum = 0;
        const auto end = static_cast<std::size_t>(matrix.row_begin(row + 1));
        for (auto entry = static_cast<std::size_t>(matrix.row_begin(row)); entry < end; ++entry) {
          sum += matrix.values(entry) * x(static_cast<std::size_t>(matrix.columns(entry)));
        }
        y(row) = sum;
      });
}

}  // namespace apps::minife
