#include "apps/minife/halo_exchange.hpp"

#include "base/fault_point.hpp"
#include "transport/requests.hpp"

#include <span>

namespace apps::minife {
namespace {

constexpr int halo_tag = 17;

std::span<std::byte> bytes_of(const Vector::HostMirror& values) {
  return std::as_writable_bytes(std::span<double>(values.data(), values.extent(0)));
}

Kokkos::View<int*> local_numbers(const Mesh& mesh, const Box& box) {
  const auto count = static_cast<std::size_t>(box.volume());
  const Kokkos::View<int*> numbers("halo, nodes to send", count);
  const LocalNumbering numbering = mesh.numbering();
  Kokkos::parallel_for(
      "minife list nodes", Kokkos::RangePolicy<>(0, count),
      KOKKOS_LAMBDA(std::size_t i) { numbers(i) = numbering(box.at(static_cast<std::int64_t>(i))); });
  return numbers;
}

void gather(const Vector& from, const Kokkos::View<int*>& nodes, const Vector& to) {
  Kokkos::parallel_for(
      "minife gather halo", Kokkos::RangePolicy<>(0, nodes.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) { to(i) = from(static_cast<std::size_t>(nodes(i))); });
}

}  // namespace

HaloExchange::HaloExchange(const Mesh& mesh, MPI_Comm comm) : comm_(comm) {
  auto next = static_cast<std::size_t>(mesh.owned_count());
  for (const Neighbour& neighbour : mesh.neighbours()) {
    const auto incoming = static_cast<std::size_t>(neighbour.receive.volume());
    const Vector outgoing("halo, outgoing", static_cast<std::size_t>(neighbour.send.volume()));
    channels_.push_back({neighbour.rank.value,
                         local_numbers(mesh, neighbour.send),
                         outgoing,
                         Kokkos::create_mirror_view(outgoing),
                         Vector::HostMirror("halo, incoming", incoming),
                         {next, next + incoming}});
    next += incoming;
  }
}

void HaloExchange::update(const Vector& vector) {
  for (const Channel& channel : channels_) {
    gather(vector, channel.send_nodes, channel.outgoing);
    Kokkos::deep_copy(channel.outgoing_on_host, channel.outgoing);
  }
  mend::Requests messages(comm_);
  for (const Channel& channel : channels_) messages.receive(bytes_of(channel.incoming_on_host), channel.rank, halo_tag);
  for (const Channel& channel : channels_) messages.send(bytes_of(channel.outgoing_on_host), channel.rank, halo_tag);
  mend::reach("halo");
  messages.wait_all();
  for (const Channel& channel : channels_) {
    Kokkos::deep_copy(Kokkos::subview(vector, channel.halo), channel.incoming_on_host);
  }
}

}  // namespace apps::minife
