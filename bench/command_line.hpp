// The command line of a benchmark. CLI11 reads it; its templates are compiled once, for all benchmarks.

#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mend::bench {

class CommandLine {
 public:
  CommandLine(std::string program, std::string description);
  ~CommandLine();

  // Add an option. `value` holds the default, is set by parse(), and must outlive that.

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

  /// Returns the exit code that main must return: help was requested, or an argument is wrong, which is printed.
  std::optional<int> parse(int argc, char** argv);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace mend::bench
