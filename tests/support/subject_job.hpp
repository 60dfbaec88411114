// Jobs of the subject (subject.hpp), and the lines that their ranks print.

#pragma once

#include "tests/support/job.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

/// Runs `scenario` under mend run, in the subject or another program.
support::JobEnd play(const std::string& scenario, int ranks, int spares, const std::vector<std::string>& options = {},
                     const std::string& program = MEND_SUBJECT);

/// The lines that the ranks printed, in rank order: "rank 0: ...". Other lines are left out.
std::vector<std::string> said(const support::JobEnd& end);

/// The lines of all `ranks` ranks after count() to `steps` without loss.
std::vector<std::string> counted(int ranks, long steps, int epoch);

/// Fails the current test unless the job ended successfully and printed mend's options, once.
void expect_help(const support::JobEnd& end);

/// Fails the current test unless the job ended with `code` and one sentence on standard error that matches `regex`, and
/// no rank printed anything.
void expect_end(const support::JobEnd& end, int code, const std::string& regex);
