// The communicators that the application makes of session.comm() under local rollback: by MPI_Comm_dup, MPI_Comm_split,
// MPI_Comm_split_type, MPI_Comm_create(_group), MPI_Cart_create, MPI_Cart_sub, MPI_Graph_create and
// MPI_Dist_graph_create(_adjacent). Each is a virtual communicator (virtual_comm.hpp). Beneath it are communicators of
// the epoch.
//
// The ranks find out by logged messages which ranks are in which part, so a process that takes over a rank gets the
// same result. But it makes the call alone, long after the others. So each rank that has made a communicator keeps its
// recipe. After a failure all ranks exchange their recipes, and make the communicators beneath all virtual
// communicators again, also for the newcomers, which find them when they make the call. If a failure interrupts the
// making of a communicator, it is made in the same way if one rank had finished, and by repeating the call otherwise.
//
// A newcomer makes the communicators that its predecessor has made from the entry of the body to restore(), and since
// the last commit. So communicators that are made in between must be freed before the next commit. Recipes of the setup
// are kept for the whole job, others until a commit that began after they were freed is published.

#pragma once

#include "framework/epoch/left_communicators.hpp"
#include "framework/local_rollback/virtual_comm.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace mend {

/// The topology of a communicator; at most one kind.
struct Topology {
  std::vector<int> dims{};  ///< Cartesian
  std::vector<int> periods{};
  std::vector<int> index{};  ///< of a graph, as in MPI_Graph_create
  std::vector<int> edges{};
  /// Links of a distributed graph, by rank: 1 if it is weighted, the number of sources, the sources, their weights, and
  /// the same for the destinations. Weights are 0 where there are none.
  std::vector<std::vector<int>> links{};
  auto operator<=>(const Topology&) const = default;
};

/// The arguments of a rank when communicators are made.
struct CommArguments {
  int color = 0;  ///< MPI_UNDEFINED: the rank is in none
  int key = 0;
  Topology topology{};
  bool by_node = false;  ///< one for the ranks of each node; the color is used only if it is MPI_UNDEFINED
};

/// The recipe of derived communicators, the same on all ranks of their parent. Ranks are numbered as in session.comm().
struct Recipe {
  std::uint32_t number = 0;             ///< of the virtual communicators; no rank has two of one number
  std::vector<int> parent;              ///< the ranks of the communicator that they are made of
  std::vector<std::vector<int>> parts;  ///< the ranks of each new communicator, by their rank in it
  Topology topology{};
  auto operator<=>(const Recipe&) const = default;
};

class DerivedComms {
 public:
  /// `self`: this rank.
  explicit DerivedComms(int self) : self_(self) {}

  /// Returns the virtual communicator that the application holds as `handle`; null if there is none. Local.
  const VirtualComm* find(MPI_Comm handle) const;
  /// Returns the virtual communicator of this number that this rank is in, freed or not; null if there is none. Local.
  const VirtualComm* find(std::uint32_t number) const;
  /// Returns true if the recipe was carried out. Local.
  bool knows(const Recipe& recipe) const;

  /// Makes the communicators of the recipe, or makes them again. `over`: a communicator that contains all ranks of the
  /// recipe. `left` gets the communicators that were there before. Collective over `over`. If it throws ProcessFailure,
  /// nothing is changed.
  void make(const Recipe& recipe, MPI_Comm over, LeftCommunicators& left);
  /// Gives up the communicators beneath all virtual communicators. Local.
  void leave(LeftCommunicators& left);
  /// Called when the application makes the call of the recipe. Returns the handle that the application holds from now
  /// on; MPI_COMM_NULL if this rank is in no part. Local.
  MPI_Comm claim(const Recipe& recipe);
  /// Called when the application frees `handle`. Returns it; the callbacks of its attributes may free others. Local.
  Communicator release(MPI_Comm handle);
  /// Frees what the application has not freed. Local.
  void release_all();

  /// Returns the recipes that were carried out. Local.
  std::vector<Recipe> recipes() const;
  /// Returns the number for the next recipe, as far as this rank knows. Local.
  std::uint32_t next_number() const { return next_number_; }
  void set_next_number(std::uint32_t number) { next_number_ = number; }

  /// Returns the recipe of `virtual_comm`. Local.
  const Recipe& recipe_of(const VirtualComm& virtual_comm) const;

  /// Returns true if the application holds a communicator that it has made since restore(). Local.
  bool holds_any_of_interval() const;
  /// Returns true if the application has made `comm` since restore(), and may have freed it. Local.
  bool is_of_interval(const VirtualComm& comm) const;
  /// Ends the setup: the communicators that were claimed until now are kept. Local.
  void end_setup();
  /// Called when a commit begins. The application holds no communicator made since restore(). Local.
  void begin_commit();
  /// Called when that commit is published: forgets the recipes of before its beginning, except for those of the setup.
  /// Local.
  void end_commit();
  /// Calls `work` with each communicator beneath a virtual communicator. Local.
  template <class Work>
  void for_each_comm(Work work) const {
    for (const Derived& one : all_)
      for (const Communicator& comm : one.comms)
        if (comm) work(comm.get());
  }
  /// Calls `work` with each virtual communicator, freed or not. Local.
  template <class Work>
  void for_each(Work work) const {
    for (const Derived& one : all_) work(one.virtual_comm);
  }

 private:
  struct Derived {
    Recipe recipe;
    VirtualComm virtual_comm;
    std::array<Communicator, 2> comms;
    bool is_claimed = false;
    bool is_of_setup = false;
    bool is_past = false;  // the commit that has begun does not need it
  };

  /// Returns the communicator of the recipe in `all` (which is all_), or null if the recipe was not carried out.
  static auto* find_made(auto& all, const Recipe& recipe) {
    const auto known = std::ranges::find(all, recipe, &Derived::recipe);
    return known == all.end() ? nullptr : &*known;
  }

  int self_;
  std::list<Derived> all_;  // receives point to their virtual communicators
  std::uint32_t next_number_ = 1;
};

}  // namespace mend
