// What Open MPI says on standard error that helps nobody: known texts are left out, everything else passes unchanged.
//
// Two kinds, each seen in runs in which all was well:
//   - help texts, framed by lines of dashes, that a component is untested after failures (mend makes communicators
//     anew after each failure, and never uses one that has met a failure), or that a file of the runtime's was gone
//     when it was to be removed;
//   - one-line complaints of the runtime about processes that ended while it was busy starting or ending others, and
//     of the library about a collective that a failure interrupts, and mpirun's advice to type what was never typed. A
//     start that truly fails has a help text besides,
//     which stays.

#pragma once

#include <string>
#include <string_view>

namespace mend::jobs {

/// Fed what a program writes, piece by piece, returns what is to be shown. A line that might begin a known text is held
/// back until that is decided; every other byte is returned at once.
class OutputFilter {
 public:
  std::string feed(std::string_view bytes);
  /// Gives out what is held back: when nothing has come for a while, and at the end.
  std::string flush();
  bool holds_back() const { return !held_.empty(); }

 private:
  void take(char byte, std::string& shown);
  void end_line(std::string& shown);

  std::string held_;                 ///< a suspicious line, or a framed text so far
  std::size_t line_at_ = 0;          ///< where in held_ its last line begins
  bool line_starts_ = true;          ///< the next byte begins a line
  bool passing_ = false;             ///< the present line is harmless: passed on byte by byte
  bool in_frame_ = false;            ///< held_ begins with a line of dashes
  bool empty_line_follows_ = false;  ///< and belongs to what was left out
};

}  // namespace mend::jobs
