#include "jobs/run/output_filter.hpp"

#include <gtest/gtest.h>

namespace mend::jobs {
namespace {

const std::string frame = std::string(74, '-') + "\n";
const std::string untested = frame +
                             "WARNING: The selected 'topo' module 'basic' is not tested for post-failure\n"
                             "operation, yet you have requested support for fault tolerance.\n" +
                             frame;
const std::string cleared_twice = frame +
                                  "We attempted to remove a file, but were unable to do so:\n\n"
                                  "  Path:  /tmp/prterun.node.1.0/1/pmix-gds-shmem2.node-prterun@1.session.1\n"
                                  "  Error: No such file or directory\n" +
                                  frame + std::string("\0\n", 2);
const std::string segment_of_the_dead = frame +
                                        "A system call failed during shared memory initialization that should\n"
                                        "not have.  It is likely that your MPI job will now either abort or\n"
                                        "experience performance degradation.\n\n"
                                        "  Local host:  node\n"
                                        "  System call: open(2) \n"
                                        "  Error:       No such file or directory (errno 2)\n" +
                                        frame + std::string("\0\n", 2);
const std::string real_help = frame + "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n" + frame;
const std::string complaint =
    "[warn] Epoll MOD(1) on fd 21 failed. Old events were 6; read change was 0 (none); write change was 2 (del); "
    "close change was 0 (none): Bad file descriptor\n"
    "[node:123] PRTE ERROR: Unknown error in file odls_default_module.c at line 328\n"
    "[node:123] WARNING: Calling MPI_Cancel for a request created by a non-blocking send is deprecated.\n"
    "[node:123] plm:ssh: Warning: setpgid(124,124) failed in parent with errno=Permission denied(13)\n"
    "[node:123] PMIX ERROR: PMIX_ERR_UNREACH in file ../src/mca/ptl/base/ptl_base_connection_hdlr.c at line 121\n"
    "[node:123] OPAL ERROR: (null) in file /build/openmpi/ompi/runtime/ompi_mpi_finalize.c at line 170\n"
    "[node:123] pmix_ptl_base: send_msg: write failed: Connection reset by peer (104) [sd = 24]\n"
    "[node:123] pmix_ptl_base: send_msg: write failed: Broken pipe (32) [sd = 24]\n"
    "NBC_Progress: an error 77 was found during schedule 0x55d2 at row-offset 8 - aborting the schedule\n\n"
    "Error in NBC_Start_round() (-1)\n"
    "Abort is in progress...hit ctrl-c again to forcibly terminate\n\n";

std::string filtered(const std::string& text, std::size_t piece) {
  OutputFilter filter;
  std::string shown;
  for (std::size_t at = 0; at < text.size(); at += piece)
    shown += filter.feed(std::string_view(text).substr(at, piece));
  return shown + filter.flush();
}

TEST(OutputFilter, leaves_out_known_texts_and_nothing_else_however_the_bytes_arrive) {
  const std::string text = "first\n" + untested + "second\n" + complaint + real_help +
                           "[node:5] a line of the program\n" + "Now another\nEven more\nAnd more\n" + "- a dash\n" +
                           untested + cleared_twice + segment_of_the_dead + "no newline at the end";
  const std::string expected =
      "first\nsecond\n" + real_help +
      "[node:5] a line of the program\nNow another\nEven more\nAnd more\n- a dash\nno newline at the end";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{100}, text.size()}) {
    EXPECT_EQ(filtered(text, piece), expected) << piece;
  }
}

TEST(OutputFilter, passes_what_cannot_be_noise_at_once) {
  OutputFilter filter;
  EXPECT_EQ(filter.feed("how much fur"), "how much fur");
  EXPECT_EQ(filter.feed("ther? "), "ther? ");
  EXPECT_FALSE(filter.holds_back());
}

TEST(OutputFilter, holds_a_suspicious_line_until_flushed_and_then_shows_its_rest_at_once) {
  OutputFilter filter;
  EXPECT_EQ(filter.feed("[prompt"), "");
  EXPECT_TRUE(filter.holds_back());
  EXPECT_EQ(filter.flush(), "[prompt");
  EXPECT_EQ(filter.feed(" goes on]"), " goes on]");
}

TEST(OutputFilter, leaves_out_a_zero_byte_with_no_line_after_it) {
  OutputFilter filter;
  EXPECT_EQ(filter.feed(std::string("\0", 1)), "");
  EXPECT_EQ(filter.flush(), "");
  EXPECT_EQ(filter.feed("next\n"), "next\n");
}

TEST(OutputFilter, leaves_out_a_zero_byte_before_a_line) {
  OutputFilter filter;
  EXPECT_EQ(filter.feed(std::string("first\n\0next\n", 12)), "first\nnext\n");
  EXPECT_EQ(filter.feed(std::string("\0\n\nlast\n", 8)), "\nlast\n");
}

TEST(OutputFilter, a_frame_that_never_closes_is_shown) {
  const std::string text = frame + std::string(20000, 'x') + "\nend\n";
  EXPECT_EQ(filtered(text, 4096), text);
}

TEST(OutputFilter, the_runtimes_other_errors_are_shown) {
  const std::string text = "[node:123] PRTE ERROR: Out of resource in file plm_base.c at line 12\n";
  EXPECT_EQ(filtered(text, 10), text);
}

}  // namespace
}  // namespace mend::jobs
