// Chooses the components of Open MPI that carry a job's messages. Only the point-to-point layer ob1, with the
// transports that it drives, is adapted to failures. Other layers take over networks silently if they are built in. So
// mend names the layer in every job, and refuses or warns of other settings of the user. Pure.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mend::jobs {

enum class Transport {
  automatic,  ///< the library's choice among the transports that are adapted to failures
  tcp,        ///< TCP between nodes, shared memory within
  ofi,        ///< libfabric
  uct,        ///< the lower layer of UCX
};

struct NetworkChoice {
  Transport transport = Transport::automatic;
  std::string interfaces{};   ///< for TCP, mpirun's daemons and mend; empty: all
  std::string for_mpi{};      ///< those of them that lead to other machines, as btl_tcp_if_include takes them
  std::string for_daemons{};  ///< the same, as prte_if_include takes them
};

/// Reads the value of --network: auto, tcp, ofi or uct, and names of interfaces or networks, separated by commas, in
/// any order. Throws UsageError for two transports or an empty name.
NetworkChoice read_network(std::string_view text);

/// Settings of the library: a component framework or a parameter, and its value.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the last setting of this name; nothing if there is none.
std::optional<std::string> value_of(const Settings& settings, std::string_view name);

/// Returns the name of the transport's component in the library; empty if every library has it.
std::string component_of(Transport transport);

/// Returns the user's settings: the options for mpirun (--mca), and those in the environment (OMPI_MCA_...) that
/// neither these options nor `choice` override.
Settings settings_of_user(const NetworkChoice& choice, const std::map<std::string, std::string>& environment,
                          const std::vector<std::string>& mpirun_options);

/// Returns the settings that carry out `choice`. What the `user` has set is left out.
Settings settings_for(const NetworkChoice& choice, const Settings& user);

/// The messages about the choice and the user's settings.
struct Objections {
  std::string refusal{};                ///< why the job cannot survive failures with them; empty: it can
  std::string_view unless_corrected{};  ///< the name of the correction that lifts the refusal; empty if none does
  std::vector<std::string> warnings{};  ///< why it may not survive failures
};
Objections objections_to(const NetworkChoice& choice, const Settings& user);

/// Returns the warning that a fast network is used through TCP because nobody has chosen another transport; empty if
/// that is not so. `devices`: the names of InfiniBand devices of this machine.
std::string slow_choice(const NetworkChoice& choice, const Settings& user, const std::vector<std::string>& devices);

/// Returns the line of mend run --verbose: "MPI: ob1 over self,sm,tcp; interfaces: ib0".
std::string describe(const NetworkChoice& choice, const Settings& user);

}  // namespace mend::jobs
