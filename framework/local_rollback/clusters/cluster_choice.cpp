#include "framework/local_rollback/clusters/cluster_choice.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace mend {

ClusterChoice ClusterChoice::parse(std::string_view text) {
  if (text == "rank") return {};
  if (text == "node") return {Kind::node, 0, {}, {}};
  if (text == "auto") return {Kind::traffic, 0, {}, {}};
  if (constexpr std::string_view with_bound = "auto:"; text.starts_with(with_bound)) {
    const std::string_view bound = text.substr(with_bound.size());
    int most = 0;
    const auto [end, error] = std::from_chars(bound.data(), bound.data() + bound.size(), most);
    if (error != std::errc{} || end != bound.data() + bound.size() || most < 1)
      throw UsageError(fmt::format("'{}' is not auto:M with a number M of ranks from 1 up", text));
    return {Kind::traffic, most, {}, {}};
  }
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (end == text.data() + text.size() && !text.empty()) {
    if (error != std::errc{} || count < 1)
      throw UsageError(fmt::format("{} is not a number of clusters: give a number from 1 up", text));
    return {Kind::blocks, count, {}, {}};
  }
  const std::filesystem::path file(text);
  std::error_code unknown;  // of a file that does not exist
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file, unknown)) {
    throw UsageError(
        fmt::format("'{}' is not a number of clusters, nor rank, node or auto, and cannot be read as a file with a "
                    "line for each cluster",
                    text));
  }
  std::ostringstream contents;
  contents << in.rdbuf();
  return {Kind::file, 0, std::string(text), replay::read_cluster_lines(contents.str(), text)};
}

replay::Clusters clusters_at_start(const ClusterChoice& choice, std::span<const NodeId> nodes) {
  using Kind = ClusterChoice::Kind;
  const int ranks = static_cast<int>(nodes.size());
  switch (choice.kind) {
    case Kind::rank:
    case Kind::traffic: return replay::single_ranks(ranks);
    case Kind::blocks: return replay::blocks_of_ranks(ranks, choice.count);
    case Kind::node: return replay::ranks_of_nodes(nodes);
    case Kind::file: return replay::clusters_from(choice.lines, ranks, choice.file);
  }
  return {};
}

std::string to_string(const ClusterChoice& choice) {
  switch (choice.kind) {
    case ClusterChoice::Kind::rank: return "rank";
    case ClusterChoice::Kind::blocks: return fmt::format("{}", choice.count);
    case ClusterChoice::Kind::node: return "node";
    case ClusterChoice::Kind::file: return choice.file;
    case ClusterChoice::Kind::traffic: return choice.count == 0 ? "auto" : fmt::format("auto:{}", choice.count);
  }
  return "?";
}

}  // namespace mend
