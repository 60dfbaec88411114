#include "framework/options.hpp"

#include "base/error.hpp"
#include "tests/support/scoped_environment.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using mend::Options;
using support::ScopedEnvironment;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A command line as main gets it. The test sees what is left of it.
class CommandLine {
 public:
  explicit CommandLine(std::vector<std::string> arguments) : words_(std::move(arguments)) {
    words_.insert(words_.begin(), "program");
    for (std::string& word : words_) argv_.push_back(word.data());
    argv_.push_back(nullptr);
    argc_ = static_cast<int>(words_.size());
  }

  Options take() { return mend::take_options(argc_, argv_.data()); }
  std::vector<std::string> left() const { return {argv_.begin() + 1, argv_.begin() + argc_}; }
  bool ends_with_null() const { return argv_[static_cast<std::size_t>(argc_)] == nullptr; }

 private:
  std::vector<std::string> words_;
  std::vector<char*> argv_;
  int argc_ = 0;
};

Options take(const std::vector<std::string>& arguments) { return CommandLine(arguments).take(); }

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    take(arguments);
  } catch (const mend::UsageError& error) {
    return error.what();
  }
  return "(accepted)";
}

class TomlFile {
 public:
  explicit TomlFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("mend-options-" + std::to_string(::getpid()) + ".toml")) {
    std::ofstream(path_) << text;
  }
  ~TomlFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Options, have_defaults) {
  const Options options = take({});
  EXPECT_EQ(options.spares, 0);
  EXPECT_EQ(options.commit_every.steps, 1);
  EXPECT_FALSE(options.mtbf);
  EXPECT_EQ(options.redundancy, (mend::Redundancy{1, 1}));
  EXPECT_EQ(options.versions, 2);
  EXPECT_EQ(options.log_level, mend::LogLevel::notice);
  EXPECT_EQ(options.stall, std::chrono::seconds(10));
  EXPECT_EQ(options.stall_limit, std::chrono::seconds(0));
  EXPECT_EQ(options.stuck_limit, std::chrono::seconds(15));
  EXPECT_TRUE(options.trace.empty());
}

TEST(Options, say_how_data_is_kept) {
  const Options options = take({"--mend-redundancy=rs:4+2", "--mend-versions", "3"});
  EXPECT_EQ(options.redundancy, (mend::Redundancy{4, 2}));
  EXPECT_EQ(options.versions, 3);
}

TEST(Options, are_values_of_their_own_types) {
  const Options options = take({"--mend-on-failure", "spare,spawn,shrink", "--mend-spare-memory", "none",
                                "--mend-find-changes", "writes", "--mend-disk", "dir,every=3", "--mend-agreement",
                                "validate-all", "--mend-detector", "runtime", "--mend-spawn-on", "one, two ,three"});
  EXPECT_EQ(options.on_failure, (mend::Policy{.spare = true, .spawn = true, .shrink = true}));
  EXPECT_EQ(options.spare_memory, mend::SpareMemory::none);
  EXPECT_EQ(options.find_changes, mend::FindChanges::by_writes);
  EXPECT_EQ(options.disk, (mend::DiskOptions{"dir", 3}));
  EXPECT_EQ(options.agreement, mend::agreement::Protocol::validate_all);
  EXPECT_EQ(options.detector, mend::Detection::runtime);
  EXPECT_THAT(options.spawn_on, ElementsAre("one", "two", "three"));
  EXPECT_EQ(take({"--mend-agreement", "mpi"}).agreement, std::nullopt);
}

TEST(Options, that_are_texts_are_read_as_they_are_written) {
  for (const char* text : {"1", "17", "auto"}) EXPECT_EQ(to_string(mend::CommitInterval::parse(text)), text);
  for (const char* text : {"spare", "spawn", "spare,spawn,shrink", "spare,blank"}) {
    EXPECT_EQ(to_string(mend::Policy::parse(text)), text);
  }
  for (const char* text : {"debug", "notice", "off"}) EXPECT_EQ(to_string(mend::parse_log_level(text)), text);
}

TEST(ClusterChoice, is_read_and_written_in_the_same_words) {
  for (const char* text : {"rank", "node", "4", "auto", "auto:16"})
    EXPECT_EQ(to_string(mend::ClusterChoice::parse(text)), text);
  const TomlFile file("0-2\n3, 4 # and\n");
  const auto choice = mend::ClusterChoice::parse(file.path());
  EXPECT_EQ(to_string(choice), file.path());
  EXPECT_EQ(choice.lines, (std::vector<std::vector<int>>{{0, 1, 2}, {3, 4}}));
}

TEST(ClusterChoice, refuses_what_names_no_clusters) {
  for (const char* nonsense : {"", "0", "-3", "nodes", "auto:", "auto:0", "auto:x", "99999999999999", "/"})
    EXPECT_THROW(mend::ClusterChoice::parse(nonsense), mend::UsageError) << "'" << nonsense << "'";
}

TEST(CommitInterval, refuses_what_is_no_interval) {
  for (const char* nonsense : {"", "0", "-1", "1.5", "3 ", " 3", "often", "Auto", "99999999999999999999"}) {
    EXPECT_THROW(mend::CommitInterval::parse(nonsense), mend::UsageError) << "'" << nonsense << "'";
  }
}

TEST(Options, come_from_flags_with_a_blank_or_an_equals_sign) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--mend-spares", "3", "--mend-commit-every", "auto", "--mend-mtbf", "2", "--mend-log",
                                 "debug", "--mend-trace", "/tmp/t", "--mend-trace-detail", "messages"},
        std::vector<std::string>{"--mend-spares=3", "--mend-commit-every=auto", "--mend-mtbf=2", "--mend-log=debug",
                                 "--mend-trace=/tmp/t", "--mend-trace-detail=messages"}}) {
    const Options options = take(arguments);
    EXPECT_EQ(options.spares, 3);
    EXPECT_EQ(options.commit_every.steps, std::nullopt);
    EXPECT_EQ(options.mtbf, std::chrono::hours(2));
    EXPECT_EQ(options.log_level, mend::LogLevel::debug);
    EXPECT_EQ(options.trace, "/tmp/t");
    EXPECT_EQ(options.trace_detail, mend::TraceDetail::messages);
  }
}

TEST(Options, come_from_the_environment) {
  const ScopedEnvironment environment{{"MEND_SPARES", "3"},
                                      {"MEND_COMMIT_EVERY", "7"},
                                      {"MEND_MTBF", "0.5"},
                                      {"MEND_LOG", "off"},
                                      {"MEND_TRACE", "/tmp/t"}};
  const Options options = take({});
  EXPECT_EQ(options.spares, 3);
  EXPECT_EQ(options.commit_every.steps, 7);
  EXPECT_EQ(options.mtbf, std::chrono::minutes(30));
  EXPECT_EQ(options.log_level, mend::LogLevel::off);
  EXPECT_EQ(options.trace, "/tmp/t");
}

TEST(Options, come_from_a_TOML_file_that_a_flag_or_the_environment_names) {
  const TomlFile file("spares = 3\ncommit-every = \"auto\"\nmtbf = 2\nlog = \"info\"\n");
  const auto expect_all = [](const Options& options) {
    EXPECT_EQ(options.spares, 3);
    EXPECT_EQ(options.commit_every.steps, std::nullopt);
    EXPECT_EQ(options.mtbf, std::chrono::hours(2));
    EXPECT_EQ(options.log_level, mend::LogLevel::info);
  };
  expect_all(take({"--mend-config", file.path()}));
  expect_all(take({"--mend-config=" + file.path()}));
  const ScopedEnvironment environment{{"MEND_CONFIG", file.path()}};
  expect_all(take({}));
}

TEST(Options, in_a_TOML_file_may_stand_beside_the_applications_own) {
  const TomlFile file("[mend]\nspares = 3\n\n[solver]\ntolerance = 1e-8\n");
  EXPECT_EQ(take({"--mend-config", file.path()}).spares, 3);
}

TEST(Options, that_take_no_value_are_true_or_false_in_a_TOML_file) {
  const TomlFile yes("check-determinism = true\n");
  EXPECT_TRUE(take({"--mend-config", yes.path()}).checks_determinism);
  const TomlFile no("check-determinism = false\n");
  EXPECT_FALSE(take({"--mend-config", no.path()}).checks_determinism);
}

TEST(Options, on_the_command_line_win_over_the_environment_and_that_over_the_file) {
  const TomlFile file("spares = 1\ncommit-every = 10\nlog = \"info\"\n");
  const ScopedEnvironment environment{{"MEND_SPARES", "2"}, {"MEND_COMMIT_EVERY", "20"}};
  const Options options = take({"--mend-config", file.path(), "--mend-spares", "3"});
  EXPECT_EQ(options.spares, 3);
  EXPECT_EQ(options.commit_every.steps, 20);
  EXPECT_EQ(options.log_level, mend::LogLevel::info);
}

TEST(Options, that_make_no_sense_are_refused_with_the_name_and_the_value) {
  EXPECT_THAT(refusal({"--mend-spares", "-1"}), HasSubstr("--mend-spares"));
  EXPECT_THAT(refusal({"--mend-spares", "two"}), HasSubstr("two"));
  EXPECT_THAT(refusal({"--mend-spares"}), HasSubstr("--mend-spares"));
  EXPECT_THAT(refusal({"--mend-commit-every", "0"}), HasSubstr("'0' is not a commit interval"));
  EXPECT_THAT(refusal({"--mend-commit-every", "often"}), HasSubstr("'often' is not a commit interval"));
  EXPECT_THAT(refusal({"--mend-mtbf", "0"}), HasSubstr("--mend-mtbf"));
  EXPECT_THAT(refusal({"--mend-mtbf", "-3"}), HasSubstr("--mend-mtbf"));
  EXPECT_THAT(refusal({"--mend-spawn-limit", "0"}),
              HasSubstr("a number of seconds above 0 and up to 86400 (a day) is expected"));
  EXPECT_THAT(refusal({"--mend-spawn-limit", "1e300"}), HasSubstr("1e300"));
  EXPECT_THAT(refusal({"--mend-tries", "0"}), HasSubstr("a number from 1 up is expected, not 0"));
  EXPECT_THAT(refusal({"--mend-spawn-tries", "0"}), HasSubstr("a number from 1 up is expected, not 0"));
  EXPECT_EQ(take({"--mend-tries=5"}).tries, 5);
  EXPECT_EQ(take({"--mend-spawn-tries=5"}).tries, 5);
  EXPECT_THAT(refusal({"--mend-redundancy", "mirror"}), HasSubstr("'mirror' is not a redundancy"));
  EXPECT_THAT(refusal({"--mend-versions", "1"}), HasSubstr("one version is kept while the next is made"));
  EXPECT_THAT(refusal({"--mend-versions", "99999999"}), HasSubstr("a number up to 1000 is expected, not 99999999"));
  EXPECT_THAT(refusal({"--mend-disk", "x,evry=3"}),
              HasSubstr("'x,evry=3' is not a place on disk: give a folder, or DIR,every=N"));
  EXPECT_THAT(refusal({"--mend-stall", "-1"}), HasSubstr("--mend-stall"));
  EXPECT_THAT(refusal({"--mend-stall-limit", "soon"}), HasSubstr("or 0 for never, not soon"));
  EXPECT_THAT(refusal({"--mend-log", "loud"}), HasSubstr("loud"));
  EXPECT_EQ(refusal({"--mend-config", "/nonexistent.toml"}),
            "--mend-config: the file /nonexistent.toml cannot be read");
  EXPECT_EQ(refusal({"--mend-config", "/tmp"}), "--mend-config: the file /tmp cannot be read");
  EXPECT_THAT(refusal({"--mend-sparse", "2"}), HasSubstr("--mend-sparse"));
  EXPECT_THAT(refusal({"--mend-sparse=2"}), HasSubstr("--mend-sparse"));
  const ScopedEnvironment environment{{"MEND_SPARES", "many"}};
  EXPECT_THAT(refusal({}), HasSubstr("many"));
}

TEST(Options, of_the_site_are_overridden_by_all_others) {
  const TomlFile file("spares = 3\nversions = 4\nheartbeat = 50\ntimeout = 500\n");
  const ScopedEnvironment site{{"MEND_SITE_CONFIG", file.path()}};
  EXPECT_EQ(take({}).spares, 3);
  const auto users = std::filesystem::path(file.path()).replace_extension(".users.toml");
  std::ofstream(users) << "versions = 5\nheartbeat = 60\n";
  const ScopedEnvironment variable{{"MEND_HEARTBEAT", "70"}};
  const Options options = take({"--mend-timeout", "900", "--mend-config", users.string()});
  std::filesystem::remove(users);
  EXPECT_EQ(options.spares, 3);
  EXPECT_EQ(options.versions, 5);
  EXPECT_EQ(options.heartbeat, std::chrono::milliseconds(70));
  EXPECT_EQ(options.timeout, std::chrono::milliseconds(900));
  EXPECT_EQ(take({"--mend-site-config=none"}).spares, 0);
}

TEST(Options, of_a_site_that_make_no_sense_are_refused_by_the_name_of_its_file) {
  const TomlFile file("spare = 3\n");
  const ScopedEnvironment site{{"MEND_SITE_CONFIG", file.path()}};
  EXPECT_EQ(refusal({}), fmt::format("--mend-site-config: {}: 'spare' is not an option of mend", file.path()));
  const ScopedEnvironment nowhere{{"MEND_SITE_CONFIG", "/nonexistent.toml"}};
  EXPECT_EQ(refusal({}), "--mend-site-config: the file /nonexistent.toml cannot be read");
}

TEST(Options, in_a_file_that_make_no_sense_are_refused) {
  const TomlFile file("spare = 3\n");
  EXPECT_THAT(refusal({"--mend-config", file.path()}), HasSubstr("spare"));
  const TomlFile other("spares = \"a few\"\n");
  EXPECT_THAT(refusal({"--mend-config", other.path()}), HasSubstr("a few"));
  const TomlFile misspelt("[mnd]\nspares = 3\n");
  EXPECT_EQ(refusal({"--mend-config", misspelt.path()}),
            fmt::format("--mend-config: {}: nothing in it is for mend: put options into a table [mend], or outside of "
                        "all tables",
                        misspelt.path()));
}

TEST(TakeOptions, leaves_the_applications_arguments_alone) {
  CommandLine line(
      {"--steps", "60", "--mend-spares", "2", "-v", "input", "--mend-log=off", "--mendacious", "--x=--mend-spares"});
  line.take();
  EXPECT_THAT(line.left(), ElementsAre("--steps", "60", "-v", "input", "--mendacious", "--x=--mend-spares"));
  EXPECT_TRUE(line.ends_with_null());
}

TEST(TakeOptions, takes_nothing_after_two_dashes) {
  CommandLine line({"--mend-spares", "2", "--", "--mend-spares", "5"});
  EXPECT_EQ(line.take().spares, 2);
  EXPECT_THAT(line.left(), ElementsAre("--", "--mend-spares", "5"));
  EXPECT_TRUE(line.ends_with_null());
}

TEST(TakeOptions, does_not_mistake_two_dashes_for_a_value) {
  EXPECT_THAT(refusal({"--mend-spares", "--", "3"}), HasSubstr("--mend-spares"));
}

TEST(TakeOptions, does_not_mistake_the_next_flag_for_a_value) {
  EXPECT_THAT(refusal({"--mend-disk", "--steps", "5"}), AllOf(HasSubstr("--mend-disk"), HasSubstr("--steps follows")));
  EXPECT_THAT(refusal({"--mend-trace", "--mend-spares", "5"}), HasSubstr("--mend-trace"));
  EXPECT_THAT(refusal({"--mend-config", "--mend-spares"}), HasSubstr("--mend-config"));
}

TEST(TakeOptions, takes_no_value_after_a_flag) {
  CommandLine line({"--mend-help", "input", "--mend-versions", "3"});
  const Options options = line.take();
  EXPECT_TRUE(options.help);
  EXPECT_EQ(options.versions, 3);
  EXPECT_THAT(line.left(), ElementsAre("input"));
}

TEST(DescribeOptions, names_each_with_its_variable) {
  for (const std::string name : {"--mend-help", "--mend-spares", "MEND_SPARES", "Resilience (mend)"})
    EXPECT_THAT(mend::describe_options(), HasSubstr(name));
}

TEST(TakeOptions, bears_an_empty_command_line) {
  char* none[] = {nullptr};
  int argc = 0;
  EXPECT_EQ(mend::take_options(argc, none).spares, 0);
  EXPECT_EQ(argc, 0);
}

TEST(AddOptions, serve_an_applications_own_parser) {
  Options options;
  int steps = 0;
  CLI::App app("an application");
  app.add_option("--steps", steps);
  mend::add_options(app, options);
  app.parse("--steps 5 --mend-spares 2 --mend-commit-every auto");
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(options.spares, 2);
  EXPECT_EQ(options.commit_every.steps, std::nullopt);
  EXPECT_THAT(app.help(), HasSubstr("Resilience (mend)"));
  for (const std::string preset : {"partner", "notice", "era"}) {  // CLI11 writes =partner, later versions [partner]
    EXPECT_THAT(app.help(), testing::AnyOf(HasSubstr("=" + preset), HasSubstr("[" + preset + "]")));
  }
}

TEST(AddOptions, read_the_file_in_an_applications_own_parser_too) {
  const TomlFile file("spares = 3\n");
  Options options;
  CLI::App app("an application");
  mend::add_options(app, options);
  app.parse("--mend-config " + file.path());
  EXPECT_EQ(options.spares, 3);
}

}  // namespace
