#include "store/disk/version_folder.hpp"

#include "base/error.hpp"
#include "base/telemetry/json_text.hpp"
#include "store/disk/durable_file.hpp"
#include "store/snapshot/hash.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace mend {
namespace {

using nlohmann::json;

constexpr int format = 1;
constexpr std::string_view version_prefix = "version-";

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::string hash_of_text(const std::string& text) { return hex(hash_of(std::as_bytes(std::span(text)))); }

std::uint64_t number_in(const json& text) {
  if (!text.is_number_unsigned()) throw std::invalid_argument("no number");
  return text.get<std::uint64_t>();
}
std::uint64_t hash_in(const json& text) {
  const auto& digits = text.get_ref<const std::string&>();
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (hex(number) != digits) throw std::invalid_argument("no hash");
  return number;
}

/// Parses JSON; refuses text that is nested deeper than any manifest.
json parse_shallow(std::string_view text) {
  constexpr int deepest = 8;
  return json::parse(text, [](int depth, json::parse_event_t, json&) {
    if (depth > deepest) throw std::length_error("too deep");
    return true;
  });
}

/// Returns the version in a folder of this name; nothing if mend did not name it.
std::optional<Version> version_in(const std::string& folder_name) {
  if (!folder_name.starts_with(version_prefix)) return std::nullopt;
  const char* const last = folder_name.data() + folder_name.size();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(folder_name.data() + version_prefix.size(), last, number);
  if (error != std::errc{} || number == 0 || end == last) return std::nullopt;
  std::uint32_t attempt = 0;
  std::from_chars(end + 1, last, attempt, 16);
  return folder_of({}, Version{number}, attempt) == folder_name ? std::optional(Version{number}) : std::nullopt;
}

/// Returns the folders of all versions, complete or incomplete.
std::vector<CompleteVersion> all_versions(const std::filesystem::path& disk, std::error_code& error) {
  std::vector<CompleteVersion> all;
  for (auto entry = std::filesystem::directory_iterator(disk, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (const auto version = version_in(entry->path().filename().string())) all.push_back({*version, entry->path()});
  }
  const auto key = [](const CompleteVersion& version) { return std::pair(version.version, version.folder); };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) > key(b); });
  return all;
}

enum class Manifested { yes, no, unknown };

/// Returns whether the version has a manifest; `unknown` if the system cannot say.
Manifested state_of(const CompleteVersion& version) {
  std::error_code error;
  const bool exists = std::filesystem::exists(version.folder / manifest_name, error);
  if (error) return Manifested::unknown;
  return exists ? Manifested::yes : Manifested::no;
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::error_code& error) {
  throw EnvironmentError(path.string() + ": " + error.message());
}

}  // namespace

void prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error)
    throw UsageError(
        fmt::format("the folder {} for checkpoints on disk cannot be made: {}", folder.string(), error.message()));
  std::string probe = folder / ".mend-XXXXXX";
  const int handle = ::mkstemp(probe.data());
  if (handle < 0) {
    const auto why = std::generic_category().message(errno);
    throw UsageError(fmt::format("the folder {} for checkpoints on disk cannot be used: {}", folder.string(), why));
  }
  ::close(handle);
  ::unlink(probe.c_str());
}

void require_name_for_disk(std::string_view name) {
  try {
    static_cast<void>(json(name).dump());
  } catch (const json::type_error&) {
    throw UsageError(fmt::format(
        "the name {} of a protected member is not UTF-8, as names on disk have to be: give it another, or do "
        "without --mend-disk",
        json_text(json(name))));
  }
}

std::string to_text(const Manifest& manifest) {
  json files = json::array();
  for (std::size_t rank = 0; rank < manifest.files.size(); ++rank) {
    json arrays = json::object();
    for (const auto& [name, part] : manifest.parts[rank]) arrays[name] = to_string(part);
    files.push_back(
        {{"bytes", manifest.files[rank].bytes}, {"hash", hex(manifest.files[rank].hash)}, {"arrays", arrays}});
  }
  const json contents{{"format", format}, {"version", manifest.version.value}, {"files", files}};
  const std::string written = contents.dump(1);
  return fmt::format("{{\"hash\": \"{}\", \"contents\":\n{}\n}}\n", hash_of_text(json::parse(written).dump()), written);
}

Manifest parse_manifest(std::string_view text, const std::string& name) {
  try {
    const json whole = parse_shallow(text);
    const json& contents = whole.at("contents");
    if (whole.at("hash") != hash_of_text(contents.dump())) throw EnvironmentError(fmt::format("{} is damaged", name));
    if (contents.at("format") != format)
      throw EnvironmentError(fmt::format("{} has another format than this release of mend reads", name));
    Manifest manifest{Version{number_in(contents.at("version"))}, {}, {}};
    const json& files = contents.at("files");
    for (const json& file : files) {
      const Rank rank{static_cast<int>(manifest.files.size())};
      manifest.files.push_back({manifest.version, rank, static_cast<int>(files.size()), number_in(file.at("bytes")),
                                hash_in(file.at("hash"))});
      Parts& parts = manifest.parts.emplace_back();
      for (const auto& [member, part] : file.at("arrays").items())
        parts[member] = parse_array_part(part.get<std::string>()).value();
    }
    return manifest;
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::exception&) {
    throw EnvironmentError(fmt::format("{} is incomplete, or not a manifest of mend", name));
  }
}

std::filesystem::path folder_of(const std::filesystem::path& disk, Version version, std::uint32_t attempt) {
  return disk / fmt::format("{}{:010}-{:08x}", version_prefix, version.value, attempt);
}

std::vector<CompleteVersion> complete_versions(const std::filesystem::path& disk, std::error_code& error) {
  std::vector<CompleteVersion> found = all_versions(disk, error);
  std::erase_if(found, [](const CompleteVersion& version) { return state_of(version) == Manifested::no; });
  return found;
}

std::vector<CompleteVersion> complete_versions(const std::filesystem::path& disk) {
  std::error_code ignored;
  return complete_versions(disk, ignored);
}

void remove_old_versions(const std::filesystem::path& disk, std::size_t kept) {
  std::error_code error;
  const std::vector<CompleteVersion> all = all_versions(disk, error);
  if (error) fail(disk, error);
  for (const CompleteVersion& version : all) {
    const Manifested state = state_of(version);
    if (state == Manifested::unknown) continue;  // it may be complete
    if (state == Manifested::yes && kept > 0) {
      --kept;
      continue;
    }
    // The manifest is removed first, so that a partly removed version is not complete.
    std::filesystem::remove(version.folder / manifest_name, error);
    std::filesystem::remove_all(version.folder, error);
    if (error) fail(version.folder, error);
  }
}

void put_newer_aside(const std::filesystem::path& disk, Version newest) {
  std::error_code error;
  const std::vector<CompleteVersion> all = complete_versions(disk, error);
  if (error) fail(disk, error);
  for (const CompleteVersion& version : all) {
    if (version.version <= newest) break;
    std::filesystem::rename(version.folder, disk / ("aside-" + version.folder.filename().string()), error);
    if (error) fail(version.folder, error);
  }
}

}  // namespace mend
