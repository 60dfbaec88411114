// Names the functions that addresses of this process belong to, including functions that are not exported. They are
// looked up in the symbol tables of the loaded files.

#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace mend::detector {

class FunctionNames {
 public:
  /// Returns "main+0x1b (program)"; the file and the offset in it if no name is known. Local; reads files.
  std::string describe(std::uintptr_t address);

 private:
  struct Function {
    std::uint64_t size = 0;
    std::string name;
  };
  /// By the offset at which they begin in the file.
  using Table = std::map<std::uint64_t, Function>;

  static Table read_table(const std::string& file);

  std::map<std::string, Table> tables_;
};

}  // namespace mend::detector
