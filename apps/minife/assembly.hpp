// From elements to the sparse operator.
//
// Neighbouring elements add to the same rows. To let many add at once without atomics, and always in the same order,
// the elements are painted in eight colours, by whether their place is odd or even on each axis: no two elements of a
// colour share a node. One colour after the other, each row gets its (up to eight) contributions in an order that
// depends only on places in the whole mesh - so the matrix has the same bits on any number of ranks.

#pragma once

#include "apps/minife/mesh/mesh.hpp"
#include "apps/minife/sparse_matrix.hpp"

namespace apps::minife {

/// What one backward Euler step of the heat equation needs: (M + dt K) u_new = M (u_old + dt f).
struct HeatOperator {
  SparseMatrix mass;    ///< M
  SparseMatrix system;  ///< M + dt K
};

/// The structure: every node is coupled with the (up to 27) nodes of the elements around it. Values are zero. Local.
SparseMatrix make_structure(const Mesh& mesh);

/// Integrates every element that touches an owned node and adds it up. `structure` is make_structure's, and shared
/// by the result. Local.
HeatOperator assemble(const Mesh& mesh, const SparseMatrix& structure, double dt);

/// The right-hand side's share of Dirichlet conditions: what is subtracted inside because the wall is not zero, and
/// what the rows of wall nodes are set to.
struct WallTerms {
  Vector subtract;   ///< by owned node: the sum over wall nodes of system(row, wall node) * wall temperature
  Vector wall_rows;  ///< by owned node: the value of a wall node's row; unused inside
};

/// Makes the temperature at the walls known: their rows and their columns are struck out of `system`, so that it
/// stays symmetric, and what the columns contributed goes to the right-hand side. A wall node's diagonal is kept, which
/// keeps its row at the scale of the others. Local.
WallTerms apply_dirichlet(const Mesh& mesh, const SparseMatrix& system, double wall_temperature);

}  // namespace apps::minife
