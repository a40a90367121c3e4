// Tests copies, fills, arrays, textures and virtual addresses of the driver API.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "support.h"

namespace {

using Memory = DriverTest;
using Texture = ModuleTest;

constexpr std::size_t kGranule = std::size_t{2} << 20;

TEST_F(Memory, IsFilledWithValuesOfEverySize) {
  Array<unsigned> data({1, 2, 3, 4});
  EXPECT_DRIVER(cuMemsetD32(data.address(), 0x01020304, 2));
  EXPECT_DRIVER(cuMemsetD16(data.address() + 8, 0xabcd, 2));
  EXPECT_DRIVER(cuMemsetD8(data.address() + 12, 0x7f, 3));
  EXPECT_EQ((std::vector<unsigned>{0x01020304, 0x01020304, 0xabcdabcd, 0x7f7f7f}), data.get());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(data.address() + 2, 1, 1));  // not aligned
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(data.address(), 1, 5));      // too long
  EXPECT_DRIVER(cuMemsetD2D32(data.address(), 8, 9, 1, 2));
  EXPECT_EQ((std::vector<unsigned>{9, 0x01020304, 9, 0x7f7f7f}), data.get());
}

TEST_F(Memory, RefusesWrongCopiesAndFrees) {
  Array<int> data({1, 2});
  int host[3] = {};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, data.address(), sizeof host));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemcpyDtoH(host, reinterpret_cast<CUdeviceptr>(host), sizeof host));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(data.address() + 4));
  CUdeviceptr none = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&none, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&none, std::size_t{1} << 40));
  CUdeviceptr base = 0;
  std::size_t size = 0;
  EXPECT_DRIVER(cuMemGetAddressRange(&base, &size, data.address() + 5));
  EXPECT_EQ(data.address(), base);
  EXPECT_EQ(data.bytes(), size);
  unsigned type = 0;
  EXPECT_DRIVER(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base));
  EXPECT_EQ(static_cast<unsigned>(CU_MEMORYTYPE_DEVICE), type);
}

TEST_F(Memory, CopiesBoxesOfRows) {
  CUdeviceptr rows = 0;
  std::size_t pitch = 0;
  EXPECT_DRIVER(cuMemAllocPitch(&rows, &pitch, 3 * sizeof(float), 2, 4));
  const float values[] = {1, 2, 3, 4, 5, 6};
  float back[4] = {};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values;
  copy.srcPitch = 3 * sizeof(float);
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = rows;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 3 * sizeof(float);
  copy.Height = 2;
  EXPECT_DRIVER(cuMemcpy2D(&copy));
  CUDA_MEMCPY2D part{};
  part.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  part.srcDevice = rows;
  part.srcPitch = pitch;
  part.srcXInBytes = sizeof(float);
  part.dstMemoryType = CU_MEMORYTYPE_HOST;
  part.dstHost = back;
  part.dstPitch = part.WidthInBytes = 2 * sizeof(float);
  part.Height = 2;
  EXPECT_DRIVER(cuMemcpy2D(&part));
  EXPECT_EQ((std::vector<float>{2, 3, 5, 6}), std::vector<float>(back, back + 4));
  part.srcPitch = sizeof(float);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&part));
  EXPECT_DRIVER(cuMemFree(rows));
}

TEST_F(Texture, ReadsAnArray) {
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR wanted{4, 2, CU_AD_FORMAT_FLOAT, 1};
  EXPECT_DRIVER(cuArrayCreate(&array, &wanted));
  CUDA_ARRAY_DESCRIPTOR made{};
  EXPECT_DRIVER(cuArrayGetDescriptor(&made, array));
  EXPECT_EQ(0, std::memcmp(&wanted, &made, sizeof made));
  const float values[] = {1, 2, 3, 4, 10, 20, 30, 40};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4 * sizeof(float);
  copy.Height = 2;
  EXPECT_DRIVER(cuMemcpy2D(&copy));
  copy.Height = 1;
  copy.dstXInBytes = sizeof(float);  // the last element would be in the next row
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));

  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC description{};
  for (CUaddress_mode& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  EXPECT_DRIVER(cuTexObjectCreate(&texture, &resource, &description, nullptr));
  Array<float> out(std::vector<float>(6));
  void* parameters[] = {&texture, out.argument()};
  EXPECT_DRIVER(
      cuLaunchKernel(function("read_texture"), 1, 1, 1, 6, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ((std::vector<float>{10, 20, 30, 40, 40, 40}), out.get());
  EXPECT_DRIVER(cuTexObjectDestroy(texture));
  EXPECT_DRIVER(cuArrayDestroy(array));
}

// ---- virtual addresses --------------------------------------------------------------------------

class Virtual : public ModuleTest {
 protected:
  static CUmemAllocationProp properties() {
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return wanted;
  }
  static CUmemGenericAllocationHandle create(std::size_t size = kGranule) {
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp wanted = properties();
    EXPECT_DRIVER(cuMemCreate(&handle, size, &wanted, 0));
    return handle;
  }
  static CUresult allow(CUdeviceptr address, std::size_t size,
                        CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(address, size, &access, 1);
  }
  static std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    EXPECT_DRIVER(cuMemGetInfo(&free, &total));
    return free;
  }
};

TEST_F(Virtual, AdjacentMappingsAreOneRange) {
  const std::size_t before = free_bytes();
  CUdeviceptr range = 0;
  EXPECT_DRIVER(cuMemAddressReserve(&range, 3 * kGranule, 8 * kGranule, 0, 0));
  EXPECT_EQ(0u, range % (8 * kGranule));
  for (std::size_t i = 0; i < 2; ++i) {
    const CUmemGenericAllocationHandle handle = create();
    EXPECT_DRIVER(cuMemMap(range + i * kGranule, kGranule, 0, handle, 0));
    EXPECT_DRIVER(cuMemRelease(handle));
  }
  EXPECT_EQ(before - 2 * kGranule, free_bytes());
  const std::vector<float> ones(2 * kGranule / sizeof(float), 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(range, ones.data(), 2 * kGranule));  // no access
  EXPECT_DRIVER(allow(range, 2 * kGranule));
  EXPECT_DRIVER(cuMemcpyHtoD(range, ones.data(), 2 * kGranule));

  CUdeviceptr a = range, b = range + kGranule - sizeof(float);  // extends over both mappings
  int n = 2;
  void* parameters[] = {&a, &b, &n};
  EXPECT_DRIVER(cuLaunchKernel(function("add"), 1, 1, 1, 2, 1, 1, 0, nullptr, parameters, nullptr));
  float sums[4] = {};
  EXPECT_DRIVER(cuMemcpyDtoH(sums, range + kGranule - 2 * sizeof(float), sizeof sums));
  EXPECT_EQ((std::vector<float>{1, 2, 2, 1}), std::vector<float>(sums, sums + 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemcpyHtoD(range + kGranule, ones.data(), 2 * kGranule));  // past the mappings

  const CUmemGenericAllocationHandle third = create();  // the range grows and keeps its content
  EXPECT_DRIVER(cuMemMap(range + 2 * kGranule, kGranule, 0, third, 0));
  EXPECT_DRIVER(allow(range, kGranule));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemcpyHtoD(range + kGranule, ones.data(), 2 * kGranule));  // no access to the third
  EXPECT_DRIVER(allow(range + 2 * kGranule, kGranule));
  EXPECT_DRIVER(cuMemcpyHtoD(range + kGranule, ones.data(), 2 * kGranule));
  EXPECT_DRIVER(cuMemcpyDtoH(sums, range, sizeof sums));
  EXPECT_EQ(1, sums[0]);

  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(range));  // cuMemAlloc did not allocate it
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 3 * kGranule));  // still mapped
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range, kGranule / 2));
  EXPECT_DRIVER(cuMemUnmap(range, 3 * kGranule));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(sums, range, sizeof sums));
  EXPECT_DRIVER(cuMemRelease(third));
  EXPECT_DRIVER(cuMemAddressFree(range, 3 * kGranule));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 3 * kGranule));
  EXPECT_EQ(before, free_bytes());
}

TEST_F(Virtual, RefusesWrongSizesAndHandles) {
  CUmemAllocationProp wanted = properties();
  std::size_t granularity = 0;
  EXPECT_DRIVER(
      cuMemGetAllocationGranularity(&granularity, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_EQ(kGranule, granularity);
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr range = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, kGranule + 1, &wanted, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, std::size_t{1} << 40, &wanted, 0));
  wanted.location.id = 99;
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, kGranule, &wanted, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, 4096, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(12345));
  EXPECT_DRIVER(cuMemAddressReserve(&range, kGranule, 0, 0, 0));
  handle = create(2 * kGranule);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, 2 * kGranule, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, kGranule, nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, allow(range, kGranule));  // nothing is mapped there
  EXPECT_DRIVER(cuMemRelease(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
  EXPECT_DRIVER(cuMemAddressFree(range, kGranule));
}

TEST_F(Virtual, AccessIsReduced) {
  CUdeviceptr range = 0;
  const CUmemGenericAllocationHandle handle = create();
  EXPECT_DRIVER(cuMemAddressReserve(&range, kGranule, 0, 0, 0));
  EXPECT_DRIVER(cuMemMap(range, kGranule, 0, handle, 0));
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const auto protection = [&] {  // as in /proc/self/maps
    std::ifstream maps("/proc/self/maps");
    char begin[32];
    std::snprintf(begin, sizeof begin, "%llx-", range);
    for (std::string line; std::getline(maps, line);)
      if (line.compare(0, std::strlen(begin), begin) == 0)
        return line.substr(line.find(' ') + 1, 2);
    return std::string();
  };
  for (const auto& [flags, pages] : {std::pair{CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "rw"},
                                     std::pair{CU_MEM_ACCESS_FLAGS_PROT_READ, "r-"},
                                     std::pair{CU_MEM_ACCESS_FLAGS_PROT_NONE, "--"}}) {
    unsigned long long given = 99;
    EXPECT_DRIVER(allow(range, kGranule, flags));
    EXPECT_DRIVER(cuMemGetAccess(&given, &location, range));
    EXPECT_EQ(static_cast<unsigned long long>(flags), given);
    EXPECT_EQ(pages, protection());
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, allow(range, kGranule, static_cast<CUmemAccess_flags>(2)));
  char byte = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&byte, range, 1));
  EXPECT_DRIVER(cuMemUnmap(range, kGranule));
  EXPECT_DRIVER(cuMemRelease(handle));
  EXPECT_DRIVER(cuMemAddressFree(range, kGranule));
}

TEST_F(Virtual, MemoryIsSharedThroughAFile) {
  CUdeviceptr range = 0;
  int file = -1;
  const CUmemGenericAllocationHandle handle = create();
  CUmemGenericAllocationHandle imported = 0;
  EXPECT_DRIVER(
      cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT_DRIVER(cuMemImportFromShareableHandle(
      &imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  EXPECT_DRIVER(cuMemAddressReserve(&range, 2 * kGranule, 0, 0, 0));
  EXPECT_DRIVER(cuMemMap(range, kGranule, 0, handle, 0));
  EXPECT_DRIVER(cuMemMap(range + kGranule, kGranule, 0, imported, 0));
  EXPECT_DRIVER(allow(range, 2 * kGranule));
  EXPECT_DRIVER(cuMemsetD8(range + 7, 42, 1));
  char read = 0;
  EXPECT_DRIVER(cuMemcpyDtoH(&read, range + kGranule + 7, 1));
  EXPECT_EQ(42, read);
  EXPECT_DRIVER(cuMemUnmap(range, 2 * kGranule));
  EXPECT_DRIVER(cuMemRelease(handle));
  EXPECT_DRIVER(cuMemRelease(imported));
  EXPECT_DRIVER(cuMemAddressFree(range, 2 * kGranule));
}

// ---- memory pools that processes share ----------------------------------------------------------

TEST_F(Memory, PoolIsSharedThroughAFile) {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr, without_file = nullptr, imported = nullptr;
  EXPECT_EQ(cudaSuccess, cudaMemPoolCreate(&without_file, &wanted));
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT_EQ(cudaSuccess, cudaMemPoolCreate(&pool, &wanted));
  int file = -1;
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaMemPoolExportToShareableHandle(&file, without_file,
                                               cudaMemHandleTypePosixFileDescriptor, 0));
  EXPECT_EQ(cudaSuccess, cudaMemPoolExportToShareableHandle(
                             &file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  EXPECT_EQ(cudaSuccess, cudaMemPoolImportFromShareableHandle(
                             &imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
                             cudaMemHandleTypePosixFileDescriptor, 0));
  close(file);

  int *first = nullptr, *second = nullptr, read = 0;
  void* pointer = nullptr;
  EXPECT_EQ(cudaSuccess, cudaMallocAsync(&first, 400, pool, nullptr));
  EXPECT_EQ(cudaSuccess, cudaMallocAsync(&second, 400, pool, nullptr));
  cudaMemPoolPtrExportData data{};
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemPoolImportPointer(&pointer, imported, &data));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemPoolExportPointer(&data, second + 1));
  cudaMemPool_t other = nullptr;
  EXPECT_EQ(cudaSuccess, cudaMemPoolCreate(&other, &wanted));
  EXPECT_EQ(cudaSuccess, cudaMallocAsync(&pointer, 400, other, nullptr));
  EXPECT_EQ(cudaSuccess, cudaMemPoolExportPointer(&data, pointer));
  EXPECT_EQ(cudaSuccess, cudaFree(pointer));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemPoolImportPointer(&pointer, imported, &data));
  EXPECT_EQ(cudaSuccess, cudaMemPoolDestroy(other));
  EXPECT_EQ(cudaSuccess, cudaMemPoolExportPointer(&data, second));
  EXPECT_EQ(cudaSuccess, cudaMemPoolImportPointer(&pointer, imported, &data));
  const int value = 17;
  EXPECT_EQ(cudaSuccess, cudaMemcpy(second + 99, &value, sizeof value, cudaMemcpyHostToDevice));
  EXPECT_EQ(cudaSuccess, cudaMemcpy(&read, static_cast<int*>(pointer) + 99, sizeof read,
                                    cudaMemcpyDeviceToHost));
  EXPECT_EQ(17, read);
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpy(&read, static_cast<int*>(pointer) + 100, sizeof read,
                                              cudaMemcpyDeviceToHost));
  EXPECT_EQ(cudaSuccess, cudaFreeAsync(pointer, nullptr));
  EXPECT_EQ(cudaSuccess, cudaMemcpy(&read, second + 99, sizeof read, cudaMemcpyDeviceToHost));
  EXPECT_EQ(17, read);
  EXPECT_EQ(cudaSuccess, cudaFreeAsync(first, nullptr));
  EXPECT_EQ(cudaSuccess, cudaFreeAsync(second, nullptr));
  EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(cudaSuccess, cudaMemPoolDestroy(imported));
  EXPECT_EQ(cudaSuccess, cudaMemPoolDestroy(pool));
  EXPECT_EQ(cudaSuccess, cudaMemPoolDestroy(without_file));
  cudaGetLastError();
}

TEST_F(Memory, PoolKnowsWhichDevicesMayUseIt) {
  int count = 0;
  EXPECT_EQ(cudaSuccess, cudaGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  cudaMemPool_t pool = nullptr;
  cudaMemLocation second{cudaMemLocationTypeDevice, 1}, none{cudaMemLocationTypeDevice, 99};
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtReadWrite;
  EXPECT_EQ(cudaSuccess, cudaDeviceGetDefaultMemPool(&pool, 0));
  EXPECT_EQ(cudaSuccess, cudaMemPoolGetAccess(&flags, pool, &second));
  EXPECT_EQ(cudaMemAccessFlagsProtNone, flags);
  const cudaMemAccessDesc access{second, cudaMemAccessFlagsProtReadWrite};
  EXPECT_EQ(cudaSuccess, cudaMemPoolSetAccess(pool, &access, 1));
  EXPECT_EQ(cudaSuccess, cudaMemPoolGetAccess(&flags, pool, &second));
  EXPECT_EQ(cudaMemAccessFlagsProtReadWrite, flags);
  EXPECT_EQ(cudaErrorInvalidDevice, cudaMemPoolGetAccess(&flags, pool, &none));
  cudaGetLastError();
}

}  // namespace
