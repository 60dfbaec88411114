// The program that the framework's tests run: it runs the scenario that its first argument names.

#pragma once

#include "framework/mend.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace subject {

/// Prints one line on standard output, with the rank: "rank 2: <text>".
void say(const mend::Session& session, std::string_view text);

/// Ends this process as kill -9 does.
[[noreturn]] void die();

/// Returns true in the first holder of `rank`, before any failure.
bool is_first(const mend::Session& session, int rank);

/// One step of count(), with a commit when due.
void count_step(mend::Session& session, long& step, long& total);

/// A computation whose result shows whether anything was lost: every step adds one to a protected counter, and the sum
/// of all ranks' counters to a protected total. Commits when due. `at_step(step)` runs before each step. At the end it
/// prints "total T after S steps in epoch E".
void count(mend::Session& session, long steps, const std::function<void(long)>& at_step);

/// The bodies, by scenario name.
using Scenarios = std::map<std::string, mend::Body, std::less<>>;
Scenarios error_scenarios();
Scenarios data_scenarios();
Scenarios communicator_scenarios();
Scenarios repair_scenarios();
Scenarios stall_scenarios();
Scenarios wrong_uses();
Scenarios disk_scenarios();
Scenarios file_scenarios();
Scenarios fewer_ranks_scenarios();
Scenarios local_rollback_scenarios();

/// Rank 1 dies, and then rank 3 when it reaches this fault point; the remaining ranks continue in place.
mend::Body give_up_two(std::string_view point);

/// Process 5, a spare of 4 ranks, dies, and rank 1 dies when all know of that. Rank 0 reports whether the recovery
/// began later.
mend::Body die_long_after_a_spare();

/// A body whose result shows whether anything was lost. `deaths`: "1,2;3@restore.vote" if ranks 1 and 2 die together,
/// and 3 when it then reaches this fault point; either part may be missing.
mend::Body evolve_while_these_die(std::string_view deaths);
mend::Body commit_asynchronously_while_these_die(std::string_view deaths);
/// The same with a redundancy for the field before the deaths, "xor:4;1,2;"; the other members have that of the job.
mend::Body evolve_in_two_groups(std::string_view what);

/// Rank 1 dies when all spares have memory ready for a rank's blocks, which are larger than large_page. "FOLDER;3":
/// each spare leaves a file in this folder when it has it; process 3 does so and dies before it has. With "none" for
/// the folder, no spare is waited for. The newcomer reports whether it found and used this memory.
mend::Body die_when_a_spare_is_ready(std::string_view what);

/// Rank 0 works until a spare has been parked for "SECONDS;FOLDER", and says what the kernel has counted of each of the
/// spare's threads in that time, and how many heartbeats its detector has sent and received.
mend::Body watch_a_parked_spare(std::string_view what);

/// Rank 1 dies; then, with "FOLDER;2", rank 2 dies when there is a file "go" in that folder. If there is a file "stop",
/// a started process removes it and stops before it connects.
mend::Body keep_a_pool(std::string_view what);

/// A table that all ranks share evolves, cell by cell, up to a number of steps, and continues from where an earlier job
/// has left it on disk. "30;2@disk.write": up to step 30, and in the first epoch rank 2 dies at this fault point, if
/// one is given; with "+3" after it, when it comes there for the fourth time. Prints the versions from which and to
/// which it has come, and a hash of the table.
mend::Body evolve_a_table(std::string_view what);

/// Counts steps until it is asked to leave. "asks": calls should_exit(); "asks_and_dies": rank 1 dies at the commit at
/// which it would have left; "asks_and_dies_when_told": rank 1 dies when should_exit() is true; "ignores": does not
/// call it; "never_commits"; "ends": ends five steps after its beginning. Prints "goes" after three steps, and its step
/// at the end.
mend::Body run_until_asked(std::string_view what);

/// For --mend-rollback local. "1@5,2@7": rank 1 dies before step 5, and rank 2 before step 7. A step of -1: before
/// restore(). "2@5+recovery.begin": from that step on, when it reaches this fault point. "1'@5": the process that has
/// taken over rank 1. Prints its result, the number of its steps, and how often it entered the body.
mend::Body roll_back_locally(std::string_view what);
mend::Body roll_back_with_requests(std::string_view what);
mend::Body roll_back_with_begun_collectives(std::string_view what);
mend::Body roll_back_with_neighbours(std::string_view what);
/// Logs of messages grow by 100 KiB a step; "commits:" or "goes_on:" when commit_due() says so.
mend::Body fill_logs(std::string_view what);
/// The same in a program that receives from any source.
mend::Body roll_back_from_any(std::string_view what);

}  // namespace subject
