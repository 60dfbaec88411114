// Chooses the components of Open MPI that carry a job's messages. Only the point-to-point layer ob1, with the
// transports that it drives, is adapted to failures. Other layers take over networks silently if they are built in. So
// mend names the layer in every job, and refuses or warns of other settings of the user. Pure.

#pragma once

#include <array>
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
  std::string for_mpi{};      ///< those of them that MPI needs, as btl_tcp_if_include takes them
  std::string for_daemons{};  ///< those that lead to other machines, as prte_if_include takes them
  std::string for_mend{};     ///< those of mend's own connections; empty: the processes choose them
};

/// Reads the value of --network: auto, tcp, ofi or uct, and names of interfaces or networks, separated by commas, in
/// any order. Throws UsageError for two transports or an empty name.
NetworkChoice read_network(std::string_view text);

/// Settings of the library: a component framework or a parameter, and its value.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the last setting of this name; nothing if there is none.
std::optional<std::string> value_of(const Settings& settings, std::string_view name);

/// The library's component frameworks for messages. An empty list of components leaves the choice to the library.
inline constexpr std::array<std::string_view, 4> frameworks_for_messages{"pml", "mtl", "btl", "coll"};

/// Returns the name of the transport's component in the library; empty if every library has it.
std::string component_of(Transport transport);

/// Returns the user's settings: the options for mpirun (--mca), and those in the environment (OMPI_MCA_...) that
/// neither these options nor `choice` override, without empty lists of components.
Settings settings_of_user(const NetworkChoice& choice, const std::map<std::string, std::string>& environment,
                          const std::vector<std::string>& mpirun_options);

/// Returns what the settings of the `user` leave of `choice`, which a file of options has made: they override its
/// transport or its interfaces if they name others.
NetworkChoice unless_set_by(const Settings& user, NetworkChoice choice);

/// Returns the settings in the text of one of the library's parameter files, which has a line NAME = VALUE for each.
Settings settings_in_file(std::string_view text);

/// Returns true if the settings name interfaces for MPI over TCP, or exclude some.
bool are_interfaces_in(const Settings& settings);

/// Returns the settings of the `user`, and those `in_files` for transports (btl_...) that neither the user nor mend
/// overrides. Of several with one name, the last counts.
Settings with_files(Settings user, const Settings& in_files, const NetworkChoice& choice);

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
