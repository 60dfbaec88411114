#include "jobs/doctor/corrections.hpp"

#include <cstdio>

namespace mend::jobs {
namespace {

constexpr std::array all{
    Correction{
        "agree-survives-late-news",
        "a survivor may crash in MPIX_Comm_agree when news of a death comes late; --mend-agreement era avoids it",
        Release{5, 0, 0}, Release{5, 0, 10}},
    Correction{"all-killed-is-no-success", "mpirun exits with 0 when every process was killed"},
    Correction{"copied-fragments-are-not-registered",
               "with --network uct over shared memory, a survivor of some deaths may crash"},
    Correction{"dead-clients-are-not-listened-to", "a process that is started for a dead rank may wait for ever"},
    Correction{"dead-peers-leave-shared-memory-usable", "a death in MPI_Init may leave the others waiting for ever"},
    Correction{"deferred-agreements-stay-whole",
               "with --network uct, an agreement of the library may have a wrong result"},
    Correction{"duplicates-keep-their-order",
               "MPI_Comm_idup may hang when another communicator is made of the same one meanwhile"},
    Correction{"early-deaths-are-noted", "a death in MPI_Init may never be noticed"},
    Correction{"epochs-do-not-come-again", "recoveries with --mend-on-failure spawn may hang after several deaths"},
    Correction{"errors-of-steps-are-kept", "a death while a communicator is made may hang the job"},
    Correction{"errors-without-statuses-are-returned", "a death may go unnoticed in a call, whose data are wrong then",
               Release{5, 0, 10}},
    Correction{"exits-are-counted-once", "mpirun may hang or abort at the end of a job that has failed",
               Release{5, 0, 0}, Release{6, 0, 0}},
    Correction{"failed-duplicates-can-be-freed", "a survivor may crash after a death in MPI_Comm_idup"},
    Correction{"failed-endpoints-are-not-used", "with --network uct, a process that sends to a dead one may crash"},
    Correction{"failed-messages-are-not-fatal", "a survivor may end itself over a message to the dead"},
    Correction{"failed-numbering-lets-others-go-on",
               "a communicator may wait for ever after another one's making was interrupted"},
    Correction{"failed-steps-are-noticed", "a death while an intercommunicator is made may hang the job"},
    Correction{"fragments-are-sent-once", "with --network uct, messages may arrive without their data"},
    Correction{"intercommunicators-can-be-made", "no process can be started for a dead rank", Release{6, 0, 0}},
    Correction{"kept-acknowledgements-are-whole",
               "a process that receives a long message while it sends many may crash, or wait for ever",
               Release{5, 0, 0}, Release{5, 0, 9}},
    Correction{"kept-news-are-for-all", "a process that is still in MPI_Init may never hear of some deaths"},
    Correction{"lost-daemon-is-survivable", "the loss of a node ends the job"},
    Correction{"network-errors-are-not-fatal", "with --network ofi, a death may end survivors", Release{5, 0, 0},
               Release{6, 0, 0}},
    Correction{"nobody-waits-for-dead-clients", "two deaths in MPI_Init may leave the others waiting for ever"},
    Correction{"numbers-in-use-are-kept",
               "a communicator may receive no more, or wrong messages, after another one's making was interrupted"},
    Correction{"pieces-are-returned-once", "a message of some MiB may never arrive after a death in its exchange"},
    Correction{"receives-from-the-dead-are-over",
               "a survivor may crash after deaths of processes reached over TCP, or lose a message of a living one"},
    Correction{"refused-messages-are-sent-later", "with --network ofi, an agreement of the library may never end"},
    Correction{"runtime-news-do-not-wait", "news of a death from the runtime takes 40 ms more"},
    Correction{"segments-have-names-of-their-own", "two jobs of a user on one machine may crash each other, by chance"},
    Correction{"sends-to-the-dead-are-over",
               "a send to a living process may fail, or end too early, after one to a dead process"},
    Correction{"topologies-do-not-warn", "every MPI_Cart_create prints a warning of a dozen lines"},
    Correction{"unfinished-communicators-may-fail",
               "a survivor may crash when a death meets a communicator in the making"},
    Correction{"waits-leave-no-traces",
               "after a death, MPI_Waitany and MPI_Waitsome may end a receive without its message, or cause a crash"},
    Correction{
        "writers-may-die",
        "a process may receive nothing more after another one of its machine was killed, and is held dead as stuck"},
    Correction{"wrong-numbers-are-no-deaths", "a living process may be taken for dead in MPI_Init"},
};

}  // namespace

Release release_in(const std::string& line) {
  Release release{};
  const auto last = line.find_last_of(' ');
  const char* const text = last == std::string::npos ? "" : line.c_str() + last;
  const int found = std::sscanf(text, " %d.%d.%d", &release[0], &release[1], &release[2]);
  return found >= 2 ? release : Release{5, 0, 0};
}

std::span<const Correction> corrections() { return all; }

bool has_correction(const std::filesystem::path& prefix, std::string_view name) {
  std::error_code ignored;
  return std::filesystem::exists(prefix / "share/mend/corrections" / (std::string(name) + ".patch"), ignored);
}

std::vector<Correction> missing_corrections(const std::filesystem::path& prefix, Release release) {
  std::vector<Correction> missing;
  for (const Correction& correction : all)
    if (correction.is_needed_by(release) && !has_correction(prefix, correction.name)) missing.push_back(correction);
  return missing;
}

}  // namespace mend::jobs
