// Why a job ends that has ranks nobody is there for.

#include "framework/reporting/vacancies.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace {

using mend::DeathCause;
using mend::Policy;
using mend::ProcessId;
using mend::Rank;
using mend::Vacancies;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const DeathCause killed{DeathCause::Kind::signal, SIGKILL};
const DeathCause crashed{DeathCause::Kind::signal, SIGSEGV};

DeathCause unknown(ProcessId) { return {}; }
DeathCause all_but_2_were_killed(ProcessId process) { return process == ProcessId{2} ? crashed : killed; }

const Vacancies one{{{Rank{1}, ProcessId{5}}}, {Rank{1}}};
const Vacancies four{
    {{Rank{0}, ProcessId{0}}, {Rank{1}, ProcessId{1}}, {Rank{2}, ProcessId{2}}, {Rank{3}, ProcessId{3}}},
    {Rank{2}, Rank{3}}};

TEST(AVacantRank, is_named_with_what_would_have_helped) {
  EXPECT_EQ(mend::describe_vacancies(one, Policy::parse("spare"), unknown),
            "rank 1 (process 5) died and no spare is left: start with more spares (mend run --spares N, or "
            "--mend-spares N), or allow to start processes (--mend-on-failure spare,spawn) or to go on with fewer "
            "ranks (--mend-on-failure spare,shrink)");
  EXPECT_THAT(mend::describe_vacancies(one, Policy::parse("spare,spawn"), unknown),
              HasSubstr("nor could a process be started instead"));
}

TEST(VacantRanks, are_named_together_with_all_that_died) {
  const std::string sentence = mend::describe_vacancies(four, Policy::parse("spare"), all_but_2_were_killed);
  EXPECT_THAT(sentence, StartsWith("ranks 0-3 (processes 0-3) died and no spare is left for ranks 2, 3: "));
  EXPECT_THAT(sentence, EndsWith("; cause: ranks 0, 1, 3 by SIGKILL, rank 2 by SIGSEGV"));
}

TEST(AVacantRank, that_has_died_like_this_before_needs_no_spares) {
  Vacancies again = one;
  again.fault = {Rank{1}, 2, crashed};
  EXPECT_THAT(mend::describe_vacancies(again, Policy::parse("spare"), unknown),
              StartsWith("rank 1 died 2 times in a row with no commit in between (SIGSEGV), and no spare is left: the "
                         "program probably fails there by itself"));
  again.tries = 3;
  EXPECT_THAT(mend::describe_vacancies(again, Policy::parse("spare,spawn"), unknown),
              HasSubstr("no more processes are started after 3 recoveries in a row without a commit"));
}

}  // namespace
