#include "jobs/doctor/checks.hpp"
#include "jobs/doctor/corrections.hpp"
#include "jobs/doctor/program.hpp"
#include "jobs/doctor/reproduction.hpp"
#include "jobs/setup/tested_open_mpi.hpp"
#include "base/files/scratch_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

namespace mend::jobs {
namespace {

using Json = nlohmann::json;

std::filesystem::path prefix_of(const DoctorOptions& options) { return options.mpirun.parent_path().parent_path(); }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// "mpirun (Open MPI) 5.0.7".
std::string version_line(const DoctorOptions& options) {
  return first_line(run_program({options.mpirun.string(), "--version"}, options.patience).output);
}

/// A test job under `mend run`, and its report.
struct Trial {
  ProgramEnd end;
  Json result;

  bool found(const char* key) const { return result.contains("reported") && result["reported"].contains(key); }
  template <class T>
  T reported(const char* key, T otherwise) const {
    return found(key) ? result["reported"][key].get<T>() : otherwise;
  }
  std::size_t recoveries() const { return result.contains("recoveries") ? result["recoveries"].size() : 0; }
};

std::filesystem::path probe_of(const DoctorOptions& options) { return options.programs / "mend-doctor-probe"; }

bool has_probe(const DoctorOptions& options) {
  std::error_code ignored;
  return std::filesystem::exists(probe_of(options), ignored);
}

Finding without_probe(const char* subject) {
  return {Level::fail, subject, "cannot be tried: mend-doctor-probe is not beside mend", "install mend anew"};
}

Trial try_job(const DoctorOptions& options, const ScratchFolder& scratch, int ranks, int spares,
              const std::vector<std::string>& arguments) {
  const auto file = scratch.path() / "result.json";
  std::vector<std::string> line{(options.programs / "mend").string(),
                                "run",
                                "-n",
                                std::to_string(ranks),
                                "--spares",
                                std::to_string(spares),
                                "--start-limit",
                                "20",
                                "--result",
                                file.string(),
                                "--",
                                probe_of(options).string()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  line.push_back(fmt::format("--mend-heartbeat={:g}", options.heartbeat_ms));
  line.push_back(fmt::format("--mend-timeout={:g}", options.timeout_ms));
  Trial trial{run_program(line, options.patience), {}};
  if (std::ifstream in(file); in) trial.result = Json::parse(in, nullptr, false);
  if (!trial.result.is_object()) trial.result = Json::object();
  return trial;
}

/// Returns true if no job starts with this time-out.
bool is_refused(const DoctorOptions& options) { return options.timeout_ms < 2 * options.heartbeat_ms; }

/// `lacks`: what the job has not done if it has ended as it should.
Finding failed_trial(const DoctorOptions& options, const char* subject, const Trial& trial, const char* lacks,
                     std::string remedy) {
  const std::string reason = trial.end.succeeded() ? lacks : trial.end.complaint();
  return {Level::fail, subject, fmt::format("the throw-away job has failed: {}", reason),
          is_refused(options) ? "mend the heartbeat first: mend doctor --only recovery says how" : std::move(remedy)};
}

constexpr const char* no_recovery = "it has lost no process";

double last_recovery_ms(const Trial& trial) {
  double sum = 0;
  for (const char* phase : {"interrupt_ms", "agree_ms", "rebuild_ms", "restore_ms"})
    sum += trial.result["recoveries"].back().value(phase, 0.0);
  return sum;
}

/// Checks that programs load the library to which mpirun belongs.
Finding judge_library(const DoctorOptions& options, const Trial& trial) {
  const std::filesystem::path library = trial.reported<std::string>("mpi_library", "");
  std::error_code error;
  const auto prefix = std::filesystem::weakly_canonical(prefix_of(options), error);
  const std::string version = trial.reported<std::string>("mpi_version", "");
  // In the prefix it may be in lib, lib64 or, on Debian, lib/x86_64-linux-gnu.
  const auto folder = library.lexically_relative(prefix).parent_path();
  const bool is_usual = folder == "lib" || folder == "lib64" || folder.parent_path() == "lib";
  if (!is_usual) {
    return {Level::warn, "MPI loaded",
            fmt::format("programs load {}, which is not in mpirun's prefix {}", library.string(), prefix.string()),
            fmt::format("export LD_LIBRARY_PATH={}, or unset MEND_MPIRUN", (prefix / "lib").string())};
  }
  return {Level::pass, "MPI loaded", fmt::format("{}, {}", version, library.string()), ""};
}

}  // namespace

Findings check_mpi(const DoctorOptions& options) {
  if (!options.wrong_mpirun.empty()) {
    return {{Level::fail, "MPI", options.wrong_mpirun, "name the mpirun of Open MPI 5 or later, or unset MEND_MPIRUN"}};
  }
  if (options.mpirun.empty()) {
    return {{Level::fail, "MPI", "there is no mpirun of Open MPI 5 or later", "jobs/setup.sh, or set MEND_MPIRUN"}};
  }
  const auto info = options.mpirun.parent_path() / "ompi_info";
  const ProgramEnd told = run_program({info.string()}, options.patience);
  const std::string name = fmt::format("{} ({})", version_line(options), options.mpirun.string());
  if (!told.succeeded())
    return {{Level::warn, "MPI", fmt::format("{}: its ompi_info cannot be asked", name), "install it beside mpirun"}};
  const auto at = told.output.find(R"(FT MPI support:)");
  if (at == std::string::npos || !first_line(told.output.substr(at)).starts_with(R"(FT MPI support: yes)")) {
    return {{Level::fail, "MPI", fmt::format("{}: built without fault tolerance", name),
             "jobs/setup.sh builds one with; or configure yours --with-ft=ulfm"}};
  }
  return {{Level::pass, "MPI", name, ""}};
}

Findings check_corrections(const DoctorOptions& options) {
  if (options.mpirun.empty()) return options.reproduce ? check_mpi(options) : Findings{};
  const Release release = release_in(version_line(options));
  const auto missing = missing_corrections(prefix_of(options), release);
  std::vector<Correction> needed;
  std::ranges::copy_if(corrections(), std::back_inserter(needed),
                       [&](const Correction& one) { return one.is_needed_by(release); });
  if (options.reproduce) {
    const auto script = (options.programs / "../share/mend/corrections.sh").lexically_normal();
    return reproduce(script, prefix_of(options), missing.empty() ? needed : missing, !missing.empty());
  }
  if (missing.empty()) return {{Level::pass, "corrections", fmt::format("all {} of mend's", needed.size()), ""}};
  Findings findings;
  for (const Correction& correction : missing) {
    findings.push_back(
        {Level::warn, "corrections", fmt::format("Open MPI lacks {}: {}", correction.name, correction.without), ""});
  }
  findings.back().remedy = fmt::format(
      "the Open MPI that jobs/setup.sh builds has all of them: jobs/setup.sh --open-mpi {}; mend doctor --only "
      "corrections --reproduce tries them (a few minutes)",
      tested_open_mpi);
  return findings;
}

Findings check_recovery(const DoctorOptions& options) {
  if (!has_probe(options)) return {without_probe("recovery")};
  const ScratchFolder scratch("mend-doctor");
  const Trial trial = try_job(options, scratch, 3, 1, {"dies"});
  Findings findings;
  if (!trial.end.succeeded() || trial.recoveries() == 0) {
    findings.push_back(failed_trial(options, "recovery", trial, no_recovery,
                                    "look at the line's reason, and run it alone: mend doctor --only recovery"));
    findings.push_back(judge_heartbeat(0, options.heartbeat_ms, options.timeout_ms));
    if (findings.back().level == Level::pass) findings.pop_back();
    return findings;
  }
  if (trial.reported<long>("data_is_back", 0) == 1) {
    findings.push_back(
        {Level::pass, "recovery", fmt::format("a killed rank was replaced in {:.1f} ms", last_recovery_ms(trial)), ""});
  } else {
    findings.push_back({Level::fail, "recovery", "the data of a killed rank did not come back as it was",
                        "tests/run.sh; report this"});
  }
  if (trial.reported<long>("agreement", 0) == 1) {
    findings.push_back({Level::pass, "agreement",
                        fmt::format("of 3 ranks in {:.3g} ms", trial.reported<double>("agreement_ms", 0)), ""});
  } else {
    findings.push_back(
        {Level::fail, "agreement", "ranks agreed on what one of them refused", "tests/run.sh; report this"});
  }
  findings.push_back(
      judge_heartbeat(trial.reported<double>("wake_up_ms", 0), options.heartbeat_ms, options.timeout_ms));
  findings.push_back(judge_library(options, trial));
  return findings;
}

Findings check_spawn(const DoctorOptions& options) {
  if (!has_probe(options)) return {without_probe("spawn")};
  const ScratchFolder scratch("mend-doctor");
  const Trial trial = try_job(options, scratch, 2, 0, {"dies", "--mend-on-failure=spawn"});
  if (!trial.end.succeeded() || trial.recoveries() == 0) {
    return {failed_trial(options, "spawn", trial, no_recovery,
                         "launch with --spares, and without spawn in --mend-on-failure")};
  }
  return {{Level::pass, "spawn", fmt::format("a killed rank was replaced in {:.0f} ms", last_recovery_ms(trial)), ""}};
}

Findings check_disk(const DoctorOptions& options) {
  if (!has_probe(options)) return {without_probe("HDF5")};
  const ScratchFolder scratch("mend-doctor");
  const auto folder = scratch.path() / "disk";
  const Trial trial =
      try_job(options, scratch, 2, 0, {"lives", fmt::format("--mend-disk={},every=1", folder.string())});
  int versions = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (std::filesystem::exists(entry->path() / "manifest.json")) ++versions;
  }
  if (!trial.end.succeeded() || versions == 0) {
    return {failed_trial(options, "HDF5", trial, "it has written no version",
                         fmt::format("look at the disk of {} (TMPDIR)", scratch.path().parent_path().string()))};
  }
  return {{Level::pass, "HDF5",
           fmt::format("{}; checkpoints were written and found", trial.reported<std::string>("hdf5_version", "")), ""}};
}

Findings check_kokkos(const DoctorOptions& options) {
  const auto program = options.programs / "mend-doctor-kokkos";
  std::error_code ignored;
  if (!std::filesystem::exists(program, ignored)) {
    return {{Level::warn, "Kokkos", "mend was built without Kokkos: Views cannot be protected",
             "install Kokkos and build mend anew, if your program uses it"}};
  }
  const ProgramEnd end = run_program({program.string()}, options.patience);
  if (!end.succeeded())
    return {{Level::fail, "Kokkos", fmt::format("a sum over 1000 numbers has failed: {}", end.complaint()),
             "check the devices that Kokkos was built for"}};
  return {{Level::pass, "Kokkos", first_line(end.output), ""}};
}

}  // namespace mend::jobs
