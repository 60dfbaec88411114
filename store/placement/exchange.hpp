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

/// Returns the memory of a block in this process, to be read, or written if the block is a target.
using FindBlock = std::function<std::span<std::byte>(const Block&)>;

/// Carries out steps among ranks. Collective over the ranks of `comm` that have a part in them; all must have these
/// steps in the same order. No target may be a source of the same work.
///
/// Copies are received directly at their target. Other steps are combined a slice at a time while the next slices
/// arrive, so little memory is needed in addition to the blocks.
class Exchange {
 public:
  /// Posts all sends, and as many receives as there is memory for. `tag`: no other exchange under way between the same
  /// ranks may have it. Blocks must not move or change until finish() has returned or this object is destroyed. Throws
  /// ProcessFailure, EnvironmentError.
  Exchange(std::vector<Combination> work, MPI_Comm comm, int tag, FindBlock find);

  /// Waits until this rank's part is done. Throws ProcessFailure, EnvironmentError. If this rank's steps are all
  /// copies, this function waits only for messages that the others began to send in their constructors.
  void finish();

  /// Returns true if all copies that this rank makes have arrived. Does not wait. All steps of this rank must be
  /// copies. Throws ProcessFailure, EnvironmentError.
  bool has_received_all();
  /// The same for the whole part of this rank. If it returns true, no block is in use any more.
  bool is_done();

  const std::vector<Combination>& work() const { return work_; }

 private:
  /// A part of a step that is sent, received and combined as one message per source.
  struct Slice {
    const Combination* step;
    ByteCount begin;
    ByteCount length;

    ByteCount length_in(const Source& source) const;
    ByteCount memory() const;
  };
  /// The slices that are received together, into the window's memory or, for copies, into their target.
  struct Window {
    explicit Window(MPI_Comm comm) : requests(comm) {}
    std::vector<Slice> slices;
    Bytes memory;
    Requests requests;
  };

  static std::vector<Slice> slices_of(const std::vector<Combination>& work);
  void send_all();
  void fill(Window& window);
  bool receives_only_copies() const;
  void empty(Window& window);
  std::span<std::byte> target_of(const Slice& slice) const;

  std::vector<Combination> work_;
  std::vector<Slice> slices_;
  std::size_t next_ = 0;  // the first slice that has not been in a window
  FindBlock find_;
  int tag_;  // between two ranks, messages arrive in the order of the work, which is the same on both
  Rank self_;
  std::array<Window, 2> windows_;
  Requests sending_;
};

}  // namespace mend
