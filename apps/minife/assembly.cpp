#include "apps/minife/assembly.hpp"

#include "apps/minife/mesh/element.hpp"

namespace apps::minife {
namespace {

/// The elements of `box` with odd or even places as the bits of `colour` say.
struct ColouredElements {
  Box lattice;  // place / 2

  ColouredElements(const Box& box, int colour) : colour_(colour) {
    for (int axis = 0; axis < 3; ++axis) {
      const int odd = colour >> axis & 1;
      lattice.lo[axis] = (box.lo[axis] - odd + 1) / 2;
      lattice.hi[axis] = (box.hi[axis] - odd + 1) / 2;
    }
  }
  KOKKOS_INLINE_FUNCTION Triple at(std::int64_t index) const {
    const Triple half = lattice.at(index);
    return {2 * half.x + (colour_ & 1), 2 * half.y + (colour_ >> 1 & 1), 2 * half.z + (colour_ >> 2 & 1)};
  }

 private:
  int colour_;
};

KOKKOS_INLINE_FUNCTION Triple corner_of(Triple element, int corner) {
  return {element.x + (corner & 1), element.y + (corner >> 1 & 1), element.z + (corner >> 2 & 1)};
}

KOKKOS_INLINE_FUNCTION Corners corners_of(const Geometry& geometry, Triple element) {
  Corners corners;
  for (int a = 0; a < corners_per_element; ++a) {
    for (int axis = 0; axis < 3; ++axis) corners.at[a][axis] = geometry.coordinate(corner_of(element, a), axis);
  }
  return corners;
}

/// Adds one element to the rows of those of its corners that this rank owns.
KOKKOS_INLINE_FUNCTION void add_element(Triple element, const Geometry& geometry, const LocalNumbering& numbering,
                                        const HeatOperator& heat, double dt) {
  const ElementMatrices matrices = integrate(corners_of(geometry, element));
  for (int a = 0; a < corners_per_element; ++a) {
    const Triple node = corner_of(element, a);
    if (!numbering.owned.contains(node)) continue;
    const int row = numbering(node);
    for (int b = 0; b < corners_per_element; ++b) {
      const auto entry = static_cast<std::size_t>(heat.mass.find(row, numbering(corner_of(element, b))));
      heat.mass.values(entry) += matrices.mass[a][b];
      heat.system.values(entry) += matrices.mass[a][b] + dt * matrices.stiffness[a][b];
    }
  }
}

/// The nodes of the elements around `node`: a box of up to 3 x 3 x 3.
KOKKOS_INLINE_FUNCTION Box coupled_with(const Geometry& geometry, Triple node) {
  Box box;
  for (int axis = 0; axis < 3; ++axis) {
    box.lo[axis] = node[axis] > 0 ? node[axis] - 1 : 0;
    box.hi[axis] = (node[axis] < geometry.elements[axis] ? node[axis] + 1 : node[axis]) + 1;
  }
  return box;
}

}  // namespace

SparseMatrix make_structure(const Mesh& mesh) {
  const auto rows = static_cast<std::size_t>(mesh.owned_count());
  const Kokkos::View<std::int64_t*> row_begin("row begin", rows + 1);
  const auto places = mesh.places();
  const Geometry geometry = mesh.geometry();
  std::int64_t entries = 0;
  Kokkos::parallel_scan(
      "minife count entries", Kokkos::RangePolicy<>(0, rows),
      KOKKOS_LAMBDA(std::size_t row, std::int64_t & before, bool last_pass) {
        before += coupled_with(geometry, places(row)).volume();
        if (last_pass) row_begin(row + 1) = before;
      },
      entries);

  const Kokkos::View<int*> columns("columns", static_cast<std::size_t>(entries));
  const LocalNumbering numbering = mesh.numbering();
  Kokkos::parallel_for(
      "minife fill columns", Kokkos::RangePolicy<>(0, rows), KOKKOS_LAMBDA(std::size_t row) {
        const Box coupled = coupled_with(geometry, places(row));
        const auto begin = row_begin(row);
        for (std::int64_t i = 0; i < coupled.volume(); ++i) {
          columns(static_cast<std::size_t>(begin + i)) = numbering(coupled.at(i));
        }
      });
  return {row_begin, columns, Kokkos::View<double*>("values", static_cast<std::size_t>(entries))};
}

HeatOperator assemble(const Mesh& mesh, const SparseMatrix& structure, double dt) {
  const HeatOperator heat{with_structure_of(structure), with_structure_of(structure)};
  const Geometry geometry = mesh.geometry();
  const LocalNumbering numbering = mesh.numbering();
  for (int colour = 0; colour < 8; ++colour) {
    const ColouredElements elements(mesh.touching_elements(), colour);
    Kokkos::parallel_for(
        "minife add elements", Kokkos::RangePolicy<>(0, static_cast<std::size_t>(elements.lattice.volume())),
        KOKKOS_LAMBDA(std::size_t i) {
          add_element(elements.at(static_cast<std::int64_t>(i)), geometry, numbering, heat, dt);
        });
  }
  return heat;
}

WallTerms apply_dirichlet(const Mesh& mesh, const SparseMatrix& system, double wall_temperature) {
  const WallTerms terms{Vector("wall, subtracted", system.rows()), Vector("wall, rows", system.rows())};
  const auto places = mesh.places();
  const Geometry geometry = mesh.geometry();
  Kokkos::parallel_for(
      "minife dirichlet", Kokkos::RangePolicy<>(0, system.rows()), KOKKOS_LAMBDA(std::size_t row) {
        const bool row_on_wall = geometry.on_wall(places(row));
        const auto end = static_cast<std::size_t>(system.row_begin(row + 1));
        for (auto entry = static_cast<std::size_t>(system.row_begin(row)); entry < end; ++entry) {
          const auto column = static_cast<std::size_t>(system.columns(entry));
          double& value = system.values(entry);
          if (row_on_wall && column == row) {
            terms.wall_rows(row) = value * wall_temperature;
          } else if (row_on_wall) {
            value = 0;
          } else if (geometry.on_wall(places(column))) {
            terms.subtract(row) += value * wall_temperature;
            value = 0;
          }
        }
      });
  return terms;
}

}  // namespace apps::minife
