// The name of a kernel, from the symbol table of the file that contains the kernel's code.
#include <link.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "runtime/api.h"

namespace hostcuda {
namespace {

struct CodeInFile {
  std::uint64_t address, offset = 0;
  std::string file = {};
};

int find_file_of_code(dl_phdr_info* object, std::size_t, void* searched) {
  auto& code = *static_cast<CodeInFile*>(searched);
  const std::uint64_t offset = code.address - object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || offset - segment.p_vaddr >= segment.p_memsz) continue;
    code.offset = offset;
    code.file = *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";  // "": the program
    return 1;
  }
  return 0;
}

template <class Item>
std::vector<Item> items_at(std::ifstream& file, std::uint64_t position, std::size_t count) {
  std::vector<Item> items(count);
  file.seekg(static_cast<std::streamoff>(position));
  file.read(reinterpret_cast<char*>(items.data()),
            static_cast<std::streamsize>(count * sizeof(Item)));
  return file ? items : std::vector<Item>();
}

// Returns an empty string if the file has no symbol for the code. Reads the table of all symbols,
// because a program does not export its kernels.
std::string symbol_of(const CodeInFile& code) {
  std::ifstream file(code.file, std::ios::binary);
  const auto headers = items_at<ElfW(Ehdr)>(file, 0, 1);
  if (headers.empty()) return "";
  const auto sections = items_at<ElfW(Shdr)>(file, headers[0].e_shoff, headers[0].e_shnum);
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& names = sections[section.sh_link];
    const auto text = items_at<char>(file, names.sh_offset, names.sh_size);
    for (const auto& symbol :
         items_at<ElfW(Sym)>(file, section.sh_offset, section.sh_size / sizeof(ElfW(Sym))))
      if ((symbol.st_info & 15) == STT_FUNC && symbol.st_value == code.offset &&
          symbol.st_name < text.size())
        return text.data() + symbol.st_name;
  }
  return "";
}

}  // namespace

cudaError_t get_function_name(const char** name, const void* function) {
  HOSTCUDA_API_CALL_NAMED("cudaFuncGetName");
  if (!name) return fail(cudaErrorInvalidValue);
  if (!function) return fail(cudaErrorInvalidDeviceFunction);
  static auto* const known = new std::map<const void*, std::string>;
  std::string& found = (*known)[function];
  if (found.empty()) {
    CodeInFile code{reinterpret_cast<std::uintptr_t>(function)};
    dl_iterate_phdr(find_file_of_code, &code);
    found = symbol_of(code);
  }
  if (found.empty()) return fail(cudaErrorNotSupported, "the program has no symbol table");
  *name = found.c_str();
  return cudaSuccess;
}

}  // namespace hostcuda
