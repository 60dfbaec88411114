// Which functions addresses of this process belong to, those that are not exported included: looked up in the symbol
// tables of the files that are loaded.

#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace mend::detector {

class FunctionNames {
 public:
  /// "main+0x1b (program)"; the file and the offset in it where no name is known. Local; reads files.
  std::string describe(std::uintptr_t address);

 private:
  struct Function {
    std::uint64_t size = 0;
    std::string name;
  };
  /// By where they begin, as the file counts.
  using Table = std::map<std::uint64_t, Function>;

  static Table read_table(const std::string& file);

  std::map<std::string, Table> tables_;
};

}  // namespace mend::detector
