// Memory that several processes map. It is a file without a name, which other processes of the same
// user open through /proc, and which disappears with the last process that uses it.
#ifndef HOSTCUDA_SRC_INTERPROCESS_SHARED_PAGES_H
#define HOSTCUDA_SRC_INTERPROCESS_SHARED_PAGES_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hostcuda {

// What another process needs to map the pages. It fits into CUDA's handles of 64 bytes.
struct PagesHandle {
  std::uint64_t magic = 0;
  std::int32_t process = 0, file = 0;
  std::uint64_t size = 0, offset = 0, bytes = 0;  // of the pages; of the object in them
};

// Replaces the pages around `begin` by pages with the same content that can be shared. Returns a
// handle without magic if this is impossible.
PagesHandle share_pages(char* begin, std::size_t bytes);
// Makes the pages around `begin` memory of this process alone. The object loses its content, but
// what else is in its first and its last page keeps it.
void unshare_pages(char* begin, const PagesHandle& handle);
// Maps the pages of a handle; returns null if it is not valid.
char* map_pages(const PagesHandle& handle);
void unmap_pages(char* pages, const PagesHandle& handle);

// The recordings of an event, which all processes that have a handle count.
class SharedRecordings {
 public:
  static std::shared_ptr<SharedRecordings> create();
  static std::shared_ptr<SharedRecordings> open(const PagesHandle& handle);
  const PagesHandle& handle() const { return handle_; }

  std::uint64_t record() { return ++counts_->recorded; }
  std::uint64_t recorded() const { return counts_->recorded; }
  void completed(std::uint64_t recording);
  bool is_completed(std::uint64_t recording) const { return counts_->completed >= recording; }
  void wait_for(std::uint64_t recording) const;

  ~SharedRecordings();
  SharedRecordings(const SharedRecordings&) = delete;
  SharedRecordings& operator=(const SharedRecordings&) = delete;

 private:
  struct Counts {
    std::atomic<std::uint64_t> recorded, completed;
  };
  SharedRecordings(const PagesHandle& handle, char* pages)
      : handle_(handle), pages_(pages), counts_(reinterpret_cast<Counts*>(pages)) {}
  PagesHandle handle_;
  char* pages_;
  Counts* counts_;
};

}  // namespace hostcuda

#endif
