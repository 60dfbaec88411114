// The command line of a benchmark or of a simulation. CLI11 reads it; its templates are compiled once, for all of them.

#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace mend::bench {

/// An option of a command line. Functions that say more about it return it again.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option between(int least, int most) const;
  Option between(double least, double most) const;
  Option one_of(const std::vector<std::string>& values) const;
  Option separated_by_commas() const;  ///< a list
  Option needs(Option other) const;
  Option excludes(Option other) const;
  // What the help shows:
  Option with_default() const;
  Option with_type(const std::string& name) const;
  Option in_group(const std::string& name) const;

  std::string name() const;
  bool is_given() const;  ///< after the command line was parsed

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  /// `program`: its name; empty: as it was started.
  CommandLine(std::string program, std::string description);
  ~CommandLine();

  /// Adds an option. `value` holds the default, is set by parse(), and must outlive that. Value: a number or a string,
  /// or a list of them.
  template <class Value>
  Option option(const std::string& name, Value& value, const std::string& text);
  Option flag(const std::string& name, bool& value, const std::string& text);

  // The usual options of benchmarks; those that have a value show its default.

  /// `least` is 0 or 1 if there is no upper bound.
  void add(const std::string& name, int& value, const std::string& text, int least = 1,
           int most = std::numeric_limits<int>::max());
  void add(const std::string& name, double& value, const std::string& text, double least, double most);
  /// A list with commas between its numbers.
  void add(const std::string& name, std::vector<int>& values, const std::string& text, int least, int most);
  void add(const std::string& name, std::string& value, const std::string& text);
  /// An option that the benchmark gives to the processes that it starts. The help does not show it.
  void add_hidden(const std::string& name, std::string& value);
  /// `needs`: the name of another option, which must be given too.
  void add_flag(const std::string& name, bool& value, const std::string& text, const std::string& needs = {});

  /// Ignores unknown arguments: mend::run reads its own options.
  void allow_options_of_mend();
  /// The same in processes that the benchmark has started, which have this option.
  void allow_options_of_mend_beside(const std::string& option);

  /// Returns the exit code that main must return: help was requested, or an argument is wrong, which is printed.
  std::optional<int> parse(int argc, char** argv);
  /// The same for a command of mend: wrong arguments, "nan" among them, have the exit code 2. It also returns a code
  /// after it has printed its description (jobs/manual/description.hpp).
  std::optional<int> parse_as_command(int argc, char** argv);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace mend::bench
