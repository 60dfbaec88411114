#include "detector/stall/function_names.hpp"

#include <fmt/format.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace mend::detector {
namespace {

template <class T>
std::vector<T> read_at(std::ifstream& in, std::uint64_t offset, std::uint64_t count) {
  constexpr std::uint64_t most = 256 << 20;
  if (count > most / sizeof(T)) return {};
  std::vector<T> items(count);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return in ? items : std::vector<T>{};
}

std::string readable(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                          &std::free);
  return plain != nullptr ? plain.get() : name;
}

/// Returns the file that holds the address. The loader knows the program itself only by the name it was called with.
std::string file_of(const char* name) {
  std::error_code ignored;
  const bool is_there = name != nullptr && std::filesystem::path(name).has_parent_path() &&
                        std::filesystem::is_regular_file(name, ignored);
  return is_there ? name : "/proc/self/exe";
}

}  // namespace

FunctionNames::Table FunctionNames::read_table(const std::string& file) {
  Table table;
  std::ifstream in(file, std::ios::binary);
  const auto header = read_at<ElfW(Ehdr)>(in, 0, 1);
  if (header.empty() || std::string_view(reinterpret_cast<const char*>(header[0].e_ident), SELFMAG) != ELFMAG)
    return {};
  const auto sections = read_at<ElfW(Shdr)>(in, header[0].e_shoff, header[0].e_shnum);
  for (const auto& section : sections) {
    const bool is_table = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (!is_table || section.sh_link >= sections.size()) continue;
    auto names = read_at<char>(in, sections[section.sh_link].sh_offset, sections[section.sh_link].sh_size);
    if (names.empty()) continue;
    names.back() = '\0';
    for (const auto& symbol : read_at<ElfW(Sym)>(in, section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
      const bool is_function = (symbol.st_info & 0xf) == STT_FUNC && symbol.st_value != 0;
      if (is_function && symbol.st_name < names.size())
        table.try_emplace(symbol.st_value, Function{symbol.st_size, names.data() + symbol.st_name});
    }
  }
  return table;
}

std::string FunctionNames::describe(std::uintptr_t address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
    return fmt::format("{:#x}", address);
  const std::string file = file_of(info.dli_fname);
  auto found = tables_.find(file);
  if (found == tables_.end()) found = tables_.emplace(file, read_table(file)).first;
  const Table& table = found->second;
  const std::uint64_t offset = address - map->l_addr;
  const std::string short_name = std::filesystem::path(info.dli_fname).filename().string();
  auto next = table.upper_bound(offset);
  if (next != table.begin()) {
    const auto& [begin, function] = *std::prev(next);
    if (offset - begin < function.size || function.size == 0)
      return fmt::format("{}+{:#x} ({})", readable(function.name.c_str()), offset - begin, short_name);
  }
  return fmt::format("{}+{:#x}", short_name, offset);
}

}  // namespace mend::detector
