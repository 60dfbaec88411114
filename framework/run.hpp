#pragma once

#include "framework/options.hpp"
#include "framework/session.hpp"

#include <functional>
#include <string>

namespace mend {

/// What the application does: entered on every rank at the start and, after each failure, again on every rank, with
/// a repaired communicator. It is left by ProcessFailure, which it must let pass: destructors run. The job is
/// finished when it has returned on all ranks.
using Body = std::function<void(Session&)>;

/// Runs `body` under mend and returns what main should return (an ExitCode).
///
/// Every process that was launched must call it, once. Initialises MPI (MPI_THREAD_FUNNELED) and finalises it, unless
/// the caller has initialised it with at least that level; then the caller finalises. Of the processes launched, the
/// options' `spares` wait at no cost and take over the ranks of those that die. The body may throw: an exception
/// other than ProcessFailure ends the job on all ranks; its text is printed once.
int run(const Options& options, const Body& body);

/// The same, with options taken from the command line and the environment (take_options). `argv` is left as it is, with
/// mend's options in it: a program that parses its arguments itself calls take_options first.
int run(int argc, char** argv, const Body& body);

/// Ends a program that cannot start, because of its arguments or its input: every process launched calls this instead
/// of run, with the same sentence. One of them says it on standard error, and none exits before that: the launcher
/// may end all as soon as one has failed. Returns what main should return (ExitCode::usage).
int refuse(const std::string& sentence);

}  // namespace mend
