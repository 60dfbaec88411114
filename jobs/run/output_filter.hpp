// Filters Open MPI's standard error: known texts that are of no use to the user are left out, all other output passes
// unchanged.
//
// The texts are of two kinds, each seen in runs without problems:
//   - help texts, framed by lines of dashes: that a component is untested after failures (mend makes new communicators
//     after each failure, and never uses one that has met a failure), or that a file of the runtime was already gone
//     when it was to be removed;
//   - single lines: complaints of the runtime about processes that ended while it was starting or ending others, and of
//     the library about a collective that a failure has interrupted, and mpirun's advice on a second Ctrl-C that was
//     never typed. If a start really fails, there is also a help text, which is shown.

#pragma once

#include <string>
#include <string_view>

namespace mend::jobs {

/// Takes the output of a program piece by piece, and returns the part to be shown. A line that may begin a known text
/// is held back until that is decided; every other byte is returned at once.
class OutputFilter {
 public:
  std::string feed(std::string_view bytes);
  /// Returns the text that is held back. Call it when nothing has come for a while, and at the end.
  std::string flush();
  bool holds_back() const { return !held_.empty(); }

 private:
  void take(char byte, std::string& shown);
  void end_line(std::string& shown);

  std::string held_;                 ///< a line that may be noise, or a framed text so far
  std::size_t line_at_ = 0;          ///< the position in held_ where its last line begins
  bool line_starts_ = true;          ///< the next byte begins a line
  bool passing_ = false;             ///< the present line is not noise: passed on byte by byte
  bool in_frame_ = false;            ///< held_ begins with a line of dashes
  bool empty_line_follows_ = false;  ///< an empty line that follows belongs to the text that was left out
};

}  // namespace mend::jobs
