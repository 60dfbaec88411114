#include "transport/collectives.hpp"

#include <mpi-ext.h>

#include <limits>
#include <sstream>

namespace mend {

std::optional<int> lowest_rank_with(MPI_Comm comm, bool has) {
  constexpr int nobody = std::numeric_limits<int>::max();
  int lowest = nobody;
  if (has) MPI_Comm_rank(comm, &lowest);
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm); }, "MPI_Allreduce");
  return lowest == nobody ? std::nullopt : std::optional(lowest);
}

std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine, char padding) {
  const auto gathered = gather_padded(comm, std::vector<char>(mine.begin(), mine.end()), padding);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto text = gathered.of(rank);
    texts.emplace_back(text.begin(), text.end());
  }
  return texts;
}

std::vector<std::vector<std::string>> gather_lines(MPI_Comm comm, const std::string& mine) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& text : gather_texts(comm, mine, '\n')) {
    std::istringstream left(text);
    auto& of_rank = lines.emplace_back();
    for (std::string line; std::getline(left, line);) {
      if (!line.empty()) of_rank.push_back(line);
    }
  }
  return lines;
}

std::vector<std::uint64_t> exchange_words(MPI_Comm comm, int to, int from, int tag,
                                          const std::vector<std::uint64_t>& words) {
  const std::uint64_t out = words.size();
  std::uint64_t in = 0;
  call_mpi(
      [&] {
        return PMPI_Sendrecv(&out, 1, MPI_UINT64_T, to, tag, &in, 1, MPI_UINT64_T, from, tag, comm, MPI_STATUS_IGNORE);
      },
      "MPI_Sendrecv");
  std::vector<std::uint64_t> got(in);
  call_mpi(
      [&] {
        return PMPI_Sendrecv(words.data(), static_cast<int>(out), MPI_UINT64_T, to, tag, got.data(),
                             static_cast<int>(in), MPI_UINT64_T, from, tag, comm, MPI_STATUS_IGNORE);
      },
      "MPI_Sendrecv", (words.size() + got.size()) * sizeof(std::uint64_t));
  return got;
}

std::vector<std::vector<std::uint64_t>> exchange_words_with_all(
    MPI_Comm comm, int tag, const std::function<std::vector<std::uint64_t>(int rank)>& words_for) {
  int self = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &self);
  MPI_Comm_size(comm, &ranks);
  std::vector<std::vector<std::uint64_t>> words(static_cast<std::size_t>(ranks));
  words[static_cast<std::size_t>(self)] = words_for(self);
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (self + distance) % ranks;
    const int from = (self - distance + ranks) % ranks;
    words[static_cast<std::size_t>(from)] = exchange_words(comm, to, from, tag, words_for(to));
  }
  return words;
}

Communicator shrink_until_agreed(MPI_Comm comm, const std::function<bool(MPI_Comm)>& attempt) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  for (int deaths = 0; deaths <= size; ++deaths) {
    MPI_Comm shrunk = MPI_COMM_NULL;
    int done = MPIX_Comm_shrink(comm, &shrunk) == MPI_SUCCESS ? 1 : 0;
    Communicator living(shrunk);
    if (done == 1) {
      MPI_Comm_set_errhandler(shrunk, MPI_ERRORS_RETURN);
      done = attempt(shrunk) ? 1 : 0;
    }
    MPIX_Comm_agree(comm, &done);  // the flag is valid even if a process has died
    if (done == 1) return living;
  }
  return {};
}

}  // namespace mend
