// Jobs of programs for Fenix in which processes die at moments of which nobody knows where they fall. Two that hold
// each other's data may die before any of it is copied again. Then the data of a group is lost, which mend tells, and
// the program begins anew.

#pragma once

#include "tests/support/job.hpp"

/// Returns true if mend has told that data of a group is lost, which is right only where ranks have died together:
/// fails the current test unless each of these sentences names two at least, among them those whose data it was, and
/// notes of the job tell of their deaths. Returns false if nothing was lost.
bool lost_data_of_ranks_that_died_together(const support::JobEnd& end);
