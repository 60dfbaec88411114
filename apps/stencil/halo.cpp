#include "apps/stencil/halo.hpp"

#include <cstddef>
#include <span>

namespace stencil {
namespace {

int tag_of(std::size_t axis, bool upper) { return static_cast<int>(2 * axis + (upper ? 1 : 0)); }

template <class Buffer>
auto bytes_of(const Buffer& buffer) {
  return std::as_writable_bytes(std::span(buffer.data(), buffer.size()));
}

}  // namespace

Halo::Halo(MPI_Comm cart, const Box& block, int radius) {
  Box own;  // in elements of the field
  for (std::size_t d = 0; d < axes; ++d) {
    own.begin[d] = radius;
    own.end[d] = radius + block.extent(d);
  }

  for (std::size_t d = 0; d < axes; ++d) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    MPI_Cart_shift(cart, static_cast<int>(d), 1, &below, &above);
    for (const bool upper : {false, true}) {
      Face& face = faces_[2 * d + (upper ? 1 : 0)];
      face.neighbour = upper ? above : below;
      // The tag is that of the face which the message leaves: with two blocks along an axis, both messages go to one
      // neighbour.
      face.send_tag = tag_of(d, upper);
      face.receive_tag = tag_of(d, !upper);
      face.layers = face.ghosts = own;
      face.layers.begin[d] = upper ? own.end[d] - radius : own.begin[d];
      face.layers.end[d] = face.layers.begin[d] + radius;
      face.ghosts.begin[d] = upper ? own.end[d] : own.begin[d] - radius;
      face.ghosts.end[d] = face.ghosts.begin[d] + radius;

      const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(face.layers.extent(axis)); };
      face.outgoing = Buffer("halo outgoing", extent(0), extent(1), extent(2));
      face.incoming = Buffer("halo incoming", extent(0), extent(1), extent(2));
      face.outgoing_host = Kokkos::create_mirror_view(face.outgoing);
      face.incoming_host = Kokkos::create_mirror_view(face.incoming);
    }
  }
}

void Halo::begin(const Field& field, mend::Requests& messages) {
  for (Face& face : faces_) messages.receive(bytes_of(face.incoming_host), face.neighbour, face.receive_tag);
  for (Face& face : faces_) {
    Kokkos::deep_copy(face.outgoing, part_of(field, face.layers));
    Kokkos::deep_copy(face.outgoing_host, face.outgoing);
    messages.send(bytes_of(face.outgoing_host), face.neighbour, face.send_tag);
  }
}

void Halo::finish(const Field& field) {
  for (Face& face : faces_) {
    Kokkos::deep_copy(face.incoming, face.incoming_host);
    Kokkos::deep_copy(part_of(field, face.ghosts), face.incoming);
  }
}

}  // namespace stencil
