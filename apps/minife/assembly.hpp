// From elements to the sparse operator.
//
// Neighbouring elements add to the same rows. So that many elements can be added at once without atomics, and always in
// the same order, they are painted in eight colours, by whether their place is odd or even on each axis: no two
// elements of a colour share a node. One colour after the other, each row gets its (up to eight) contributions in an
// order that depends only on places in the whole mesh. So the matrix has the same bits on any number of ranks.

#pragma once

#include "apps/minife/mesh/mesh.hpp"
#include "apps/minife/sparse_matrix.hpp"

namespace apps::minife {

/// The matrices of one backward Euler step of the heat equation: (M + dt K) u_new = M (u_old + dt f).
struct HeatOperator {
  SparseMatrix mass;    ///< M
  SparseMatrix system;  ///< M + dt K
};

/// Returns the structure: every node is coupled with the (up to 27) nodes of the elements around it. Values are zero.
/// Local.
SparseMatrix make_structure(const Mesh& mesh);

/// Integrates every element that touches an owned node, and adds it up. `structure` comes from make_structure; the
/// result shares it. Local.
HeatOperator assemble(const Mesh& mesh, const SparseMatrix& structure, double dt);

/// The part of Dirichlet conditions in the right-hand side: the terms subtracted inside because the wall is not zero,
/// and the values of the rows of wall nodes.
struct WallTerms {
  Vector subtract;   ///< by owned node: the sum over wall nodes of system(row, wall node) * wall temperature
  Vector wall_rows;  ///< by owned node: the value of a wall node's row; unused inside
};

/// Makes the temperature at the walls known: removes their rows and columns from `system`, so that it stays symmetric,
/// and moves the contributions of the columns to the right-hand side. A wall node's diagonal is kept, which keeps its
/// row at the scale of the others. Local.
WallTerms apply_dirichlet(const Mesh& mesh, const SparseMatrix& system, double wall_temperature);

}  // namespace apps::minife
