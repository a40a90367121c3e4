#include "driver/image.h"

#include <elf.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace hostcuda {
namespace {

constexpr std::string_view kRecompile =
    "; make the module with hostcuda's nvcc (-ptx, -cubin or -fatbin) or with NVRTC";

Image refused(CUresult error, std::string_view reason) {
  return {"", error, std::string(reason) + std::string(kRecompile)};
}

// Returns -1 for a character that is not a digit.
int digit_of_base64(char c) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const auto digits = [kDigits] {
    std::array<signed char, 256> table{};
    table.fill(-1);
    for (std::size_t i = 0; i < kDigits.size(); ++i)
      table[static_cast<unsigned char>(kDigits[i])] = static_cast<signed char>(i);
    return table;
  }();
  return digits[static_cast<unsigned char>(c)];
}

void append_base64(std::string& bytes, std::string_view line, unsigned& pending, unsigned& bits) {
  for (const char c : line) {
    const int digit = digit_of_base64(c);
    if (digit < 0) continue;
    pending = pending << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(pending >> bits);
  }
}

// Decodes the lines that begin with kMark.
Image read_text(std::string_view text) {
  constexpr std::string_view kMark = "//= ";
  Image image;
  unsigned pending = 0, bits = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.substr(0, kMark.size()) == kMark)
      append_base64(image.library, line.substr(kMark.size()), pending, bits);
    begin = end + 1;
  }
  if (!image.library.empty()) return image;
  if (text.find(".version") != text.npos && text.find(".target") != text.npos)
    return refused(CUDA_ERROR_INVALID_PTX, "this is PTX for a GPU, which hostcuda cannot run");
  return refused(CUDA_ERROR_INVALID_IMAGE, "this is not a module");
}

// Returns the file's size, which its header determines: the table of sections is at its end.
std::size_t size_of_elf(const char* data) {
  Elf64_Ehdr header;
  std::memcpy(&header, data, sizeof header);
  return header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;
}

Image read_elf(const char* data, std::size_t size) {
  constexpr unsigned kCuda = 190;  // EM_CUDA, which old versions of <elf.h> lack
  Elf64_Ehdr header;
  if (size && size < sizeof header)
    return refused(CUDA_ERROR_INVALID_IMAGE, "the module is cut off");
  std::memcpy(&header, data, sizeof header);
  if (header.e_machine == kCuda)
    return refused(CUDA_ERROR_INVALID_IMAGE, "this is code for a GPU, which hostcuda cannot run");
  const std::size_t whole = size_of_elf(data);
  if (size && size < whole) return refused(CUDA_ERROR_INVALID_IMAGE, "the module is cut off");
  return {std::string(data, size ? size : whole), CUDA_SUCCESS, ""};
}

}  // namespace

Image read_image(const void* image, std::size_t size) {
  constexpr std::uint32_t kFatbin = 0xba55ed50, kWrapper = 0x466243b1;
  const auto* data = static_cast<const char*>(image);
  if (size && size < sizeof(std::uint32_t))
    return refused(CUDA_ERROR_INVALID_IMAGE, "this is not a module");
  if (!std::strncmp(data, ELFMAG, SELFMAG)) return read_elf(data, size);
  std::uint32_t magic = 0;
  for (std::size_t i = 0; i < sizeof magic && (size || data[i]); ++i)
    magic |= std::uint32_t{static_cast<unsigned char>(data[i])} << 8 * i;
  if (magic == kFatbin || magic == kWrapper)
    return refused(CUDA_ERROR_INVALID_IMAGE, "this is code for a GPU, which hostcuda cannot run");
  return read_text(size ? std::string_view(data, size) : std::string_view(data));
}

Image read_image_file(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open())
    return {"", CUDA_ERROR_FILE_NOT_FOUND, std::string(file) + ": " + std::strerror(errno)};
  Image image = bytes.empty() ? refused(CUDA_ERROR_INVALID_IMAGE, "the file is empty")
                              : read_image(bytes.data(), bytes.size());
  if (image.error) image.reason = std::string(file) + ": " + image.reason;
  return image;
}

}  // namespace hostcuda
