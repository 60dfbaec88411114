#pragma once

#include "framework/options.hpp"
#include "framework/session.hpp"

#include <functional>
#include <string>

namespace mend {

/// The application's code. mend::run calls it on every rank at the start, and on every rank again after each failure,
/// with a repaired communicator. When a process fails, the body is left by ProcessFailure. The body must let it pass;
/// destructors run. The job is finished when the body has returned on all ranks.
using Body = std::function<void(Session&)>;

/// Runs `body` under mend and returns what main should return (an ExitCode).
///
/// Every process that was launched must call it, once. It initialises MPI (MPI_THREAD_FUNNELED) and finalises it. If
/// the caller has initialised MPI with at least that level, the caller finalises it. Of the processes launched,
/// `options.spares` wait without using CPU, and take over the ranks of processes that die. An exception other than
/// ProcessFailure that leaves the body ends the job on all ranks; its text is printed once. With `options.help` the
/// options are printed once, and the body is not called.
int run(const Options& options, const Body& body);

/// Runs `body` with options from the command line and the environment (take_options). `argv` is unchanged and still has
/// mend's options in it: a program that parses its arguments itself calls take_options first.
int run(int argc, char** argv, const Body& body);

/// Ends a program that cannot start because of its arguments or its input. Every process launched must call it instead
/// of run, with the same sentence. One of them writes it to standard error. No process exits before that, because the
/// launcher may end all processes as soon as one has failed. Returns what main should return (ExitCode::usage).
int refuse(const std::string& sentence);

}  // namespace mend
