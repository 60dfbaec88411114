// What control threads say of the state of a process, on the wire.

#include "detector/status/status_message.hpp"

#include "base/error.hpp"
#include "tests/detector/written.hpp"
#include "tests/support/fuzz.hpp"

#include <gtest/gtest.h>

namespace mend::detector {
namespace {

using namespace std::chrono_literals;

StatusMessage answer() {
  return {7, ProcessState{4711, Rank{3}, 2, 9, 5ms, 8, 1 << 20, 1 << 24, DiskUse::given_up, Place::commit, 3us,
                          MpiCall::none, "n1"}};
}

TEST(StatusWire, brings_every_message_back) {
  const StatusMessage of_spare{0xffffffff, ProcessState{1, std::nullopt, 0, 0, std::nullopt, 0, 0, 0, DiskUse::none,
                                                        Place::spare, 1h, last_mpi_call, std::string(63, 'n')}};
  for (const StatusMessage& message : {StatusMessage{7, std::nullopt}, answer(), of_spare}) {
    EXPECT_EQ(read_status_message(written(message)), message);
    EXPECT_TRUE(is_about_status(written(message)));
  }
}

TEST(StatusWire, cuts_off_the_name_of_a_machine_that_is_too_long) {
  StatusMessage message = answer();
  message.state->machine.assign(100, 'n');
  EXPECT_EQ(read_status_message(written(message)).state->machine, std::string(63, 'n'));
}

TEST(StatusWire, reads_any_bytes_or_refuses_them) {
  support::expect_read_or_refused<EnvironmentError>(
      [](support::Fuzzer& fuzzer) { return fuzzer.change(written(answer())); },
      [](const std::vector<std::byte>& bytes) {
        const StatusMessage message = read_status_message(bytes);
        EXPECT_EQ(read_status_message(written(message)), message) << "what is read is what was written";
      });
  EXPECT_FALSE(is_about_status({}));
}

}  // namespace
}  // namespace mend::detector
