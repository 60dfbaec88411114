// Bodies whose state is only in restart files in memory, as in programs that write restart files.

#include "tests/framework/subject/subject.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace subject {
namespace {

/// The state of the program: in each step the number of rows grows.
struct State {
  int step = 0;
  std::vector<std::uint64_t> rows;
};

void read_by_c(std::FILE* file, State& state) {
  std::size_t rows = 0;
  if (std::fscanf(file, "step %d rows %zu", &state.step, &rows) != 2) throw std::runtime_error("no restart file");
  state.rows.resize(rows);
  for (std::uint64_t& row : state.rows) {
    if (std::fscanf(file, "%" SCNu64, &row) != 1) throw std::runtime_error("the restart file is cut off");
  }
  std::fclose(file);
}

void write_by_c(std::FILE* file, const State& state) {
  std::fprintf(file, "step %d rows %zu\n", state.step, state.rows.size());
  for (const std::uint64_t row : state.rows) std::fprintf(file, "%" PRIu64 "\n", row);
  std::fclose(file);
}

void read_by_cpp(std::fstream in, State& state) {
  std::string word;
  std::size_t rows = 0;
  in >> word >> state.step >> word >> rows;
  state.rows.assign(std::istream_iterator<std::uint64_t>(in), {});
  if (state.rows.size() != rows) throw std::runtime_error("the restart file is cut off");
}

void write_by_cpp(std::fstream out, const State& state) {
  out << "step " << state.step << " rows " << state.rows.size() << '\n';
  for (const std::uint64_t row : state.rows) out << row << '\n';
}

void read(const mend::Session& session, const mend::File& restart, State& state) {
  if (!restart.exists()) return;
  if (session.rank().value % 2 == 0)
    read_by_c(restart.open("r"), state);
  else
    read_by_cpp(restart.stream(std::ios::in), state);
}

void write(const mend::Session& session, const mend::File& restart, const State& state) {
  if (session.rank().value % 2 == 0)
    write_by_c(restart.open("w"), state);
  else
    write_by_cpp(restart.stream(std::ios::out), state);
}

void advance(const mend::Session& session, State& state) {
  std::uint64_t sum = 0;
  const auto mine = static_cast<std::uint64_t>(state.step * 10 + session.rank().value);
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, session.comm());
  state.rows.insert(state.rows.end(), 500 + mine, sum);
  ++state.step;
}

/// Rank 1 dies in epoch 0 and rank 0 in epoch 1, both while all ranks are writing their restart files.
void compute(mend::Session& session) {
  const mend::File restart = session.store().file("restart");
  session.store().restore();
  State state;
  read(session, restart, state);
  const int first = state.step;
  while (state.step < 12) {
    advance(session, state);
    if (const int epoch = static_cast<int>(session.epoch().value); epoch < 2 && state.step == 4 * (epoch + 1)) {
      std::FILE* const half = restart.open("w");
      std::fputs("step 1", half);
      if (session.rank().value == 1 - epoch) die();
      MPI_Barrier(session.comm());  // is left by ProcessFailure, and the file stays open
    }
    write(session, restart, state);
    session.store().commit();
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t row : state.rows) sum += row;
  say(session,
      fmt::format("{} rows, sum {}, from step {} in epoch {}", state.rows.size(), sum, first, session.epoch().value));
}

}  // namespace

Scenarios file_scenarios() {
  Scenarios all;
  all["ranks_die_while_they_write_restart_files"] = compute;
  all["commits_while_a_file_is_open"] = [](mend::Session& session) {
    const mend::File restart = session.store().file("restart");
    std::FILE* const open = restart.open("w");
    session.store().commit();
    std::fclose(open);
  };
  return all;
}

}  // namespace subject
