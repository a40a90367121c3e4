// Checks how host code uses memory and handles errors: allocations, copies, frees, and the leaks
// that remain when the program ends.
#ifndef HOSTCUDA_TRACE_CHECKS_HOST_CHECKS_H
#define HOSTCUDA_TRACE_CHECKS_HOST_CHECKS_H

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/arrays.h"
#include "checks/kernel_checks.h"
#include "races/races.h"
#include "support/observer.h"

namespace hostcuda::trace {

class HostChecks final : public RuntimeObserver {
 public:
  HostChecks(Arrays& arrays, Epochs& epochs, Races& races, KernelChecks& checks)
      : arrays_(arrays), epochs_(epochs), races_(races), checks_(checks) {}

  // Checks an access of host code to memory that the API allocated.
  void access(const Accessed& accessed);
  // Checks an access of host code to a variable of the program.
  void access_variable(const Accessed& accessed);
  // Reports errors that the program has not checked so far.
  void report_unasked();
  // Called when the program ends normally with the exit status `status`.
  void program_ends(int status);

  char* provide(std::size_t size) override { return arrays_.provide(size); }
  void allocated(const char* begin, std::size_t size, MemoryKind kind) override;
  void released(const char* begin) override;
  void claimed(const char* begin) override;
  void copied(const char* to, const char* from, std::size_t size) override;
  void free_refused(const void* pointer) override;
  void copy_refused(const void* to, const void* from, std::size_t size,
                    cudaMemcpyKind direction) override;
  void filled(const char* to, int value, std::size_t size) override;
  std::size_t uses_host_memory(const void* begin, std::size_t size, bool writes) override;
  void texture_bound(const void* begin, std::size_t size, std::size_t texel) override;
  void library_has_run() override;
  void has_other_results() override { has_results_ = true; }
  void failed(cudaError_t error, const std::string& reason) override;
  void library_failed(const char* function, int status, const CodePlace& place) override;
  void asked_for_error() override { take_unasked(); }
  void asked_too_early() override;
  void host_waits() override { ++waits_; }
  std::uint64_t waits() const { return waits_; }
  // True if device memory was copied to the variable that begins at this address.
  bool has_copied_on_device_to(const char* variable) const {
    return copied_on_device_.contains(variable);
  }
  std::uint64_t bytes_to_host() const { return bytes_to_host_; }
  // Called when a kernel has written to the host's own memory, which a kernel on a GPU cannot do.
  void written_by_kernel(unsigned bytes) { bytes_to_host_ += bytes; }

 private:
  struct Failure {
    std::string function;
    CodePlace place;
    cudaError_t error;
    bool is_launch;
    std::string reason;
  };
  // The reason why a copy is rejected, and a remedy.
  struct Refusal {
    std::string reason, advice;
  };
  void report_leaks() const;
  void look_for_use(const Array& array) const;
  std::uint32_t begin_operation();  // returns the running operation's epoch
  void mark(Array& array, std::size_t offset, std::size_t size, std::uint32_t epoch, bool is_write);
  // Called when the bytes before `end` were copied to the host. missing: a finding if some of these
  // bytes were never written.
  void copied_back(Array& array, std::size_t end, std::optional<Finding> missing);
  void look_for_the_rest(const Array& array) const;
  Refusal reason_of_refusal(const void* to, const void* from, std::size_t size,
                            cudaMemcpyKind direction);
  void look_for_lost_results() const;

  Arrays& arrays_;
  Epochs& epochs_;
  Races& races_;
  KernelChecks& checks_;
  // May be called without the API's lock.
  std::vector<Failure> take_unasked();
  std::mutex unasked_mutex_;
  std::vector<Failure> unasked_;
  std::uint64_t waits_ = 0, bytes_to_host_ = 0;
  bool is_told_ = false;  // the failure of the running call has been explained
  bool is_known_to_be_broken_ = false;
  std::set<std::size_t> inputs_;            // the sizes of copies from the host to the device
  std::set<const char*> copied_on_device_;  // the variables to which device memory was copied
  bool has_results_ = false;                // host code may have received results of a kernel
};

}  // namespace hostcuda::trace

#endif
