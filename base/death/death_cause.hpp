#pragma once

#include <cstdint>
#include <string>

namespace mend {

/// The cause of a process's death, as far as it is known. Sent as it is.
struct DeathCause {
  enum class Kind : std::int32_t {
    unknown,
    signal,     ///< ended by signal `number`
    exit,       ///< it called exit, or MPI_Abort for itself, with code `number`
    left,       ///< it exited in another way, for instance by _exit; `number`: the code, or below 0 if unknown
    silence,    ///< it was silent for `number` ms, and was killed
    stuck,      ///< stuck in the MPI library for `number` ms, and was killed
    terminate,  ///< a process failure left a noexcept function
    replaced,   ///< it has become another program, by exec
  };

  Kind kind = Kind::unknown;
  std::int32_t number = 0;

  bool is_known() const { return kind != Kind::unknown; }
  /// Returns true if the program itself caused the death, so that it is likely to recur at the same place. False for a
  /// process that was killed from outside, or that hung.
  bool is_fault_of_program() const;
  /// Returns true if the process itself or its observer reported the cause, which the runtime cannot know.
  bool is_own_word() const;
  /// Returns "SIGSEGV", "exit(3)", "exited with code 3", "silent for 1000 ms"; empty if the cause is unknown.
  std::string to_string() const;

  bool operator==(const DeathCause&) const = default;

  /// Returns the cause for a status of wait(2). Pure.
  static DeathCause of_wait_status(int status);
};

}  // namespace mend
