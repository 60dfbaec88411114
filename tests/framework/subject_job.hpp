// Jobs of the subject (subject.hpp), and what their ranks say.

#pragma once

#include "tests/support/job.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

/// Runs `scenario` under mend run, as the subject has it or another program.
support::JobEnd play(const std::string& scenario, int ranks, int spares, const std::vector<std::string>& options = {},
                     const std::string& program = MEND_SUBJECT);

/// What the ranks said, in rank order: "rank 0: ...". Other lines are left out.
std::vector<std::string> said(const support::JobEnd& end);

/// What every one of `ranks` ranks says after count() to `steps` when nothing was lost.
std::vector<std::string> counted(int ranks, long steps, int epoch);

/// Fails the current test unless the job ended well, and its output is mend's options, once.
void expect_help(const support::JobEnd& end);

/// Fails the current test unless the job ended with `code` and one sentence on standard error that matches `regex`,
/// and no rank said anything.
void expect_end(const support::JobEnd& end, int code, const std::string& regex);
