#include "framework/replay/derived_fronts.hpp"

#include <algorithm>
#include <utility>

namespace mend {
namespace {

void put(std::vector<std::uint64_t>& words, const std::vector<int>& values) {
  words.push_back(values.size());
  for (const int value : values) words.push_back(static_cast<std::uint64_t>(value));
}

std::vector<int> values_from(const std::vector<std::uint64_t>& words, std::size_t& at) {
  std::vector<int> values(words.at(at++));
  for (int& value : values) value = static_cast<int>(words.at(at++));
  return values;
}

Communicator part_of(MPI_Comm over, int color, int key) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(PMPI_Comm_split(over, color, key, &made), "MPI_Comm_split");
  return Communicator(made);
}

/// What the application holds, which has no traffic.
Communicator handle_of(const Recipe& recipe, MPI_Comm line) {
  MPI_Comm made = MPI_COMM_NULL;
  if (recipe.dims.empty()) {
    check_mpi(PMPI_Comm_dup(line, &made), "MPI_Comm_dup");
  } else {
    check_mpi(PMPI_Cart_create(line, static_cast<int>(recipe.dims.size()), recipe.dims.data(), recipe.periods.data(), 0,
                               &made),
              "MPI_Cart_create");
  }
  return Communicator(made);
}

}  // namespace

void put(std::vector<std::uint64_t>& words, const std::vector<Recipe>& recipes) {
  words.push_back(recipes.size());
  for (const Recipe& one : recipes) {
    words.push_back(one.number);
    put(words, one.parent);
    words.push_back(one.parts.size());
    for (const std::vector<int>& part : one.parts) put(words, part);
    put(words, one.dims);
    put(words, one.periods);
  }
}

std::vector<Recipe> recipes_from(const std::vector<std::uint64_t>& words, std::size_t& at) {
  std::vector<Recipe> recipes(words.at(at++));
  for (Recipe& one : recipes) {
    one.number = static_cast<std::uint32_t>(words.at(at++));
    one.parent = values_from(words, at);
    one.parts.resize(words.at(at++));
    for (std::vector<int>& part : one.parts) part = values_from(words, at);
    one.dims = values_from(words, at);
    one.periods = values_from(words, at);
  }
  return recipes;
}

const Front* DerivedFronts::find(MPI_Comm handle) const {
  if (handle == MPI_COMM_NULL) return nullptr;
  const auto known = std::ranges::find_if(
      all_, [&](const Derived& one) { return one.is_claimed && one.front.handle.get() == handle; });
  return known == all_.end() ? nullptr : &known->front;
}

const Front* DerivedFronts::find(std::uint32_t number) const {
  const auto known = std::ranges::find_if(
      all_, [&](const Derived& one) { return one.recipe.number == number && !one.front.members.empty(); });
  return known == all_.end() ? nullptr : &known->front;
}

bool DerivedFronts::knows(const Recipe& recipe) const { return find_made(all_, recipe) != nullptr; }

void DerivedFronts::make(const Recipe& recipe, MPI_Comm over) {
  Derived made{recipe, {}, {}};
  Front& front = made.front;
  front.number = recipe.number;
  int color = MPI_UNDEFINED;
  for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
    const std::vector<int>& part = recipe.parts[i];
    if (std::ranges::find(part, self_) == part.end()) continue;
    color = static_cast<int>(i);
    front.members = part;
    front.size = static_cast<int>(part.size());
    front.rank = front.rank_of(self_);
  }
  for (Communicator& line : made.lines) line = part_of(over, color, front.rank);
  if (color != MPI_UNDEFINED) front.handle = handle_of(recipe, made.lines[0].get());
  front.lines = {made.lines[0].get(), made.lines[1].get()};
  Derived* const before = find_made(all_, recipe);
  if (before == nullptr) {
    all_.push_back(std::move(made));
    return;
  }
  before->lines = std::move(made.lines);
  before->front.lines = front.lines;  // the application keeps its handle
}

MPI_Comm DerivedFronts::claim(const Recipe& recipe) {
  Derived& one = *find_made(all_, recipe);
  one.is_claimed = true;
  return one.front.handle.get();
}

void DerivedFronts::free(MPI_Comm handle) {
  const ErrorsReturned quiet;
  for (Derived& one : all_)
    if (one.front.handle.get() == handle) one.front.handle.reset();
}

std::vector<Recipe> DerivedFronts::recipes() const {
  std::vector<Recipe> recipes;
  for (const Derived& one : all_) recipes.push_back(one.recipe);
  return recipes;
}

const Recipe& DerivedFronts::recipe_of(const Front& front) const {
  return std::ranges::find_if(all_, [&](const Derived& one) { return &one.front == &front; })->recipe;
}

bool DerivedFronts::holds_any_of_interval() const {
  return std::ranges::any_of(all_,
                             [](const Derived& one) { return one.is_claimed && !one.is_of_setup && one.front.handle; });
}

void DerivedFronts::end_setup() {
  for (Derived& one : all_) one.is_of_setup = one.is_claimed;
}

void DerivedFronts::end_interval() {
  const ErrorsReturned quiet;
  std::erase_if(all_, [](const Derived& one) { return !one.is_of_setup; });
}

}  // namespace mend
