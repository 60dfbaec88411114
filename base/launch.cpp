#include "base/launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace mend::launch {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? std::nullopt : std::optional<std::string>(text);
}

std::optional<std::uint32_t> number_in(const char* name) {
  const std::string digits = variable(name).value_or("");
  const char* const end = digits.data() + digits.size();
  std::uint32_t found = 0;
  const auto [stop, error] = std::from_chars(digits.data(), end, found);
  return error == std::errc{} && stop == end ? std::optional(found) : std::nullopt;
}

}  // namespace

std::optional<ProcessId> self() {
  for (const char* name : {process_variable, "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (const auto process = number_in(name)) return ProcessId{*process};
  }
  return std::nullopt;
}

std::string job() { return variable(job_variable).value_or(variable("PMIX_NAMESPACE").value_or("")); }

std::optional<std::string> host_address() { return variable(host_address_variable); }

std::optional<std::uint32_t> processes() { return number_in(processes_variable); }
int number() { return static_cast<int>(number_in(number_variable).value_or(1)); }

bool must_continue() { return variable(restart_variable).has_value(); }

std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    names.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
    if (list.empty()) names.emplace_back();
  }
  return names;
}

std::string components(const std::string& users, const std::string& own) {
  if (!users.starts_with('^')) return users;
  const auto named = names_in(std::string_view(users).substr(1));
  std::string all = users;
  for (const std::string_view one : names_in(std::string_view(own).substr(1))) {
    if (std::ranges::find(named, one) == named.end()) all.append(",").append(one);
  }
  return all;
}

std::string machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool speaks_for_all() { return self().value_or(ProcessId{0}) == ProcessId{0}; }

}  // namespace mend::launch
