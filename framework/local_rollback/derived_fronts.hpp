// The communicators that the application makes of session.comm() under local rollback: by MPI_Comm_dup, MPI_Comm_split,
// MPI_Comm_split_type, MPI_Comm_create(_group), MPI_Cart_create, MPI_Cart_sub, MPI_Graph_create and
// MPI_Dist_graph_create(_adjacent). Each is a front (front.hpp). Beneath it are communicators of the epoch.
//
// Which ranks are in which part is found out by logged messages, so a process that takes over a rank comes to the same.
// But it comes to the call alone, when the others are long past it. So each rank that has made a communicator keeps its
// recipe. After a failure all ranks tell each other their recipes, and make what is beneath all of them anew, also for
// the newcomers, which find it when they come to the call. A communicator that was being made when the failure came is
// made in the same way if one rank had finished, and by the call again otherwise.
//
// A newcomer makes what its predecessor has made since the entry of the body up to restore(), and since the last
// commit. So those made in between must be freed before the next commit. Recipes of the setup are kept for the whole
// job, those of an interval until it ends.

#pragma once

#include "framework/epoch/left_communicators.hpp"
#include "framework/local_rollback/front.hpp"

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
  /// Of a distributed graph, by rank: 1 if it is weighted, the number of sources, the sources, their weights, and the
  /// same of the destinations. Weights are 0 where there are none.
  std::vector<std::vector<int>> links{};
  auto operator<=>(const Topology&) const = default;
};

/// The arguments of a rank when communicators are made.
struct Wish {
  int color = 0;  ///< MPI_UNDEFINED: it is in none
  int key = 0;
  Topology topology{};
  bool by_node = false;  ///< one for the ranks of each node; the color is not used, unless it is MPI_UNDEFINED
};

/// How derived communicators are made, the same on all ranks of their parent. Ranks are numbered as in session.comm().
struct Recipe {
  std::uint32_t number = 0;             ///< of the fronts; no rank has two of one number
  std::vector<int> parent;              ///< the ranks of the communicator that they are made of
  std::vector<std::vector<int>> parts;  ///< the ranks of each, by their numbers in it
  Topology topology{};
  std::vector<int> nodes{};  ///< of the parts, if there is one for each node
  auto operator<=>(const Recipe&) const = default;
};

class DerivedFronts {
 public:
  /// `self`: this rank.
  explicit DerivedFronts(int self) : self_(self) {}

  /// The front that the application holds as `handle`, if there is one. Local.
  const Front* find(MPI_Comm handle) const;
  /// The front of this number that this rank is in, freed or not, if there is one. Local.
  const Front* find(std::uint32_t number) const;
  /// Returns true if the recipe was carried out. Local.
  bool knows(const Recipe& recipe) const;

  /// Makes what the recipe says, or makes it anew. `over`: a communicator of which all of the recipe's ranks are
  /// members. `left` gets the communicators that were there before. Collective over `over`. Throws ProcessFailure; then
  /// nothing is changed.
  void make(const Recipe& recipe, MPI_Comm over, LeftCommunicators& left);
  /// Gives up all communicators beneath. Local.
  void leave(LeftCommunicators& left);
  /// The recipe that the application has to come to next of those that are made of `parent`, one for each node. It was
  /// carried out before this process took over the rank. Local.
  const Recipe* next_by_node(const std::vector<int>& parent) const;
  /// The application comes to the call that makes it: returns what it holds from now on, MPI_COMM_NULL if this rank is
  /// in no part. Local.
  MPI_Comm claim(const Recipe& recipe);
  /// The application frees it. Local.
  void free(MPI_Comm handle);

  /// Returns the recipes that were carried out. Local.
  std::vector<Recipe> recipes() const;
  /// The number for the next, as far as this rank knows. Local.
  std::uint32_t next_number() const { return next_number_; }
  void set_next_number(std::uint32_t number) { next_number_ = number; }

  /// Returns the recipe of `front`. Local.
  const Recipe& recipe_of(const Front& front) const;

  /// Returns true if the application holds one that it has made since restore(). Local.
  bool holds_any_of_interval() const;
  /// The setup is over: what was claimed until now is kept. Local.
  void end_setup();
  /// All have committed: recipes of the interval are forgotten. Local.
  void end_interval();
  /// Calls `work` with each communicator beneath. Local.
  template <class Work>
  void for_each_comm(Work work) const {
    for (const Derived& one : all_)
      for (const Communicator& comm : one.comms)
        if (comm) work(comm.get());
  }

 private:
  struct Derived {
    Recipe recipe;
    Front front;
    std::array<Communicator, 2> comms;
    bool is_claimed = false;
    bool is_of_setup = false;
  };

  /// Returns what was made of the recipe in `all` (which is all_), or null if it was not carried out.
  static auto* find_made(auto& all, const Recipe& recipe) {
    const auto known = std::ranges::find(all, recipe, &Derived::recipe);
    return known == all.end() ? nullptr : &*known;
  }

  int self_;
  std::list<Derived> all_;  // receives point to their fronts
  std::uint32_t next_number_ = 1;
};

}  // namespace mend
