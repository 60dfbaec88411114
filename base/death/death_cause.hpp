#pragma once

#include <cstdint>
#include <string>

namespace mend {

/// What a process has died of, as far as it is known. Sent as it is.
struct DeathCause {
  enum class Kind : std::int32_t {
    unknown,
    signal,     ///< `number`: which
    exit,       ///< it has called exit, or MPI_Abort for itself; `number`: with which code
    left,       ///< it has exited by another way, as by _exit; `number`: with which code, or below 0
    silence,    ///< it was not heard of for too long, and was killed; `number`: for how long, in ms
    terminate,  ///< a process failure has left a noexcept function
  };

  Kind kind = Kind::unknown;
  std::int32_t number = 0;

  bool is_known() const { return kind != Kind::unknown; }
  /// Whether the program itself has brought it about, so that it will probably come again at the same place. A process
  /// that is killed from outside, or hangs, is no such case.
  bool is_fault_of_program() const;
  /// Whether the process itself or its observer has said so, which the runtime cannot know.
  bool is_own_word() const;
  /// "SIGSEGV", "exit(3)", "exited with code 3", "silent for 1000 ms"; empty when it is unknown.
  std::string to_string() const;

  bool operator==(const DeathCause&) const = default;

  /// What wait(2) says of the end of a process. Pure.
  static DeathCause of_wait_status(int status);
};

}  // namespace mend
