#pragma once

#include "base/ids.hpp"
#include "store/snapshot/bytes.hpp"
#include "store/placement/combination.hpp"
#include "transport/requests.hpp"

#include <mpi.h>

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace mend {

/// Where a block lies in this process: to be read, or to be written when it is a target.
using FindBlock = std::function<std::span<std::byte>(const Block&)>;

/// Some work, carried out among ranks. Collective over those of `comm` that have a part in it, who must all have its
/// steps in the same order; no target may be a source of the same work.
///
/// Copies go straight from where they lie to where they shall lie. Else what comes from others is combined a slice at a
/// time, while the next slices are under way, so that little memory is needed beside the blocks.
class Exchange {
 public:
  /// Begins: posts all messages for which there is memory. `tag`: such as no other exchange has that is under way
  /// between the same ranks. Blocks must stay where and as they are until finish() has returned or this is destroyed.
  /// Throws ProcessFailure, EnvironmentError.
  Exchange(std::vector<Combination> work, MPI_Comm comm, int tag, FindBlock find);

  /// Waits until this rank's part is done. Throws ProcessFailure, EnvironmentError.
  void finish();

  const std::vector<Combination>& work() const { return work_; }

 private:
  /// A part of a step that is sent, received and combined at a time.
  struct Slice {
    const Combination* step;
    ByteCount begin;
    ByteCount length;

    ByteCount length_in(const Source& source) const;
    ByteCount memory() const;
  };
  /// The slices that arrive together: into memory of their own, or straight to where they shall lie.
  struct Window {
    explicit Window(MPI_Comm comm) : requests(comm) {}
    std::vector<Slice> slices;
    Bytes memory;
    Requests requests;
  };

  static std::vector<Slice> slices_of(const std::vector<Combination>& work);
  void send_all();
  void fill(Window& window);
  void empty(Window& window);
  std::span<std::byte> target_of(const Slice& slice) const;

  std::vector<Combination> work_;
  std::vector<Slice> slices_;
  std::size_t next_ = 0;  // slice that no window has had yet
  FindBlock find_;
  int tag_;  // between two ranks, messages come in the order in which both walk through the work
  Rank self_;
  std::array<Window, 2> windows_;
  Requests sending_;
};

}  // namespace mend
