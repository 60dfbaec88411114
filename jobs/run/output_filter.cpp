#include "jobs/run/output_filter.hpp"

#include <utility>

namespace mend::jobs {
namespace {

constexpr std::size_t longest_frame = 8192;

bool is_frame(std::string_view line) {
  return line.size() >= 60 && line.find_first_not_of('-') == std::string_view::npos;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool framed_noise(std::string_view text) {
  if (contains(text, "is not tested for post-failure")) return true;
  // From a process that has died in MPI_Init.
  if (contains(text, "failed during shared memory initialization") && contains(text, "open(2)") &&
      contains(text, "No such file or directory")) {
    return true;
  }
  // mpirun and the processes remove the same shared memory at the end.
  return contains(text, "We attempted to remove a file") && contains(text, "pmix-gds") &&
         contains(text, "No such file or directory");
}

/// From the library when it makes communicators. An empty line follows the first of these.
bool interrupted_collective(std::string_view line) {
  return line.starts_with("NBC_Progress: an error ") && contains(line, "aborting the schedule");
}

/// From mpirun when it is asked to end a second time, for example by timeout(1), which also signals the whole process
/// group. An empty line follows.
bool impatience(std::string_view line) { return line.starts_with("Abort is in progress...hit ctrl-c again to "); }

bool line_noise(std::string_view line) {
  if (impatience(line)) return true;
  if (contains(line, " more process") && contains(line, "sent help message help-opal-shmem-mmap.txt / sys call fail"))
    return true;
  // From libevent, without end, in a process that has closed all its descriptors. mend reports that in a sentence.
  if (line.starts_with("[warn] epoll_wait: Bad file descriptor")) return true;
  // From libevent in mpirun, when it learns of a death after it has closed the streams of the dead process.
  if (line.starts_with("[warn] Epoll ") && line.ends_with("Bad file descriptor")) return true;
  if (interrupted_collective(line) || line.starts_with("Error in NBC_Start_round() (")) return true;
  // From Open MPI 6, whose own collectives cancel their sends after a failure.
  if (line.starts_with('[') && contains(line, "MPI_Cancel for a request created by a non-blocking send is deprecated"))
    return true;
  // From the runtime's daemon, when it reports a death to a dead process.
  if (line.starts_with('[') && contains(line, "] pmix_ptl_base: send_msg: write failed: ") &&
      (contains(line, "Connection reset by peer") || contains(line, "Broken pipe"))) {
    return true;
  }
  // From mpirun, when a process dies while it connects.
  if (line.starts_with('[') && contains(line, "] PMIX ERROR: PMIX_ERR_UNREACH in file ") &&
      contains(line, "ptl_base_connection_hdlr.c")) {
    return true;
  }
  // From mpirun, when the process that it starts on another machine is already another program.
  if (line.starts_with('[') && contains(line, "] plm:ssh: Warning: setpgid(") &&
      contains(line, "failed in parent with errno=Permission denied")) {
    return true;
  }
  // From the library in MPI_Finalize, when another process has ended without calling it. The library continues.
  if (line.starts_with('[') && contains(line, "] OPAL ERROR: ") && contains(line, "ompi_mpi_finalize.c")) return true;
  if (!line.starts_with('[') || !contains(line, "] PRTE ERROR: ")) return false;
  return (contains(line, "Unknown error") && contains(line, "odls_default_module.c")) ||
         (contains(line, "contact information is unknown") && contains(line, "iof_hnp.c"));
}

}  // namespace

std::string OutputFilter::feed(std::string_view bytes) {
  std::string shown;
  for (const char byte : bytes) take(byte, shown);
  return shown;
}

void OutputFilter::take(char byte, std::string& shown) {
  if (line_starts_ && byte == '\0') {  // written by mpirun after some of its help texts, often with a line break
    empty_line_follows_ = true;
    return;
  }
  if (std::exchange(line_starts_, false)) {
    if (std::exchange(empty_line_follows_, false) && byte == '\n') {
      line_starts_ = true;
      return;
    }
    line_at_ = held_.size();
    passing_ = !in_frame_ && byte != '-' && byte != '[' && byte != 'N' && byte != 'E' && byte != 'A';
  }
  if (byte == '\n') line_starts_ = true;
  if (passing_) {
    shown += byte;
    return;
  }
  held_ += byte;
  if (byte == '\n') end_line(shown);
  // Too long for a help text, so it was not in a frame.
  if (held_.size() > longest_frame) shown += flush();
}

void OutputFilter::end_line(std::string& shown) {
  const std::string_view line = std::string_view(held_).substr(line_at_, held_.size() - line_at_ - 1);
  if (in_frame_) {
    if (!is_frame(line)) return;
    if (framed_noise(held_)) held_.clear();
    shown += flush();
  } else if (is_frame(line)) {
    in_frame_ = true;
  } else {
    empty_line_follows_ = interrupted_collective(line) || impatience(line);
    if (line_noise(line)) held_.clear();
    shown += flush();
  }
}

std::string OutputFilter::flush() {
  if (!in_frame_ && line_noise(held_)) held_.clear();
  in_frame_ = false;
  passing_ = !line_starts_;  // the rest of a line whose beginning was shown
  return std::exchange(held_, {});
}

}  // namespace mend::jobs
