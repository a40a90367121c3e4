// Tests Thrust: containers, iterators, algorithms, and the order in which Thrust's launches and
// other kernels run.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/uninitialized_fill.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>

#include <iterator>
#include <list>
#include <sstream>
#include <vector>

#include "support.h"

namespace {

template <class Vector>
std::vector<typename Vector::value_type> on_host(const Vector& v) {
  thrust::host_vector<typename Vector::value_type> here = v;
  return {here.begin(), here.end()};
}
using Ints = std::vector<int>;

__global__ void increment(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++x[i];
}

struct Saxpy : thrust::binary_function<float, float, float> {
  const float a;
  explicit Saxpy(float factor) : a(factor) {}
  __host__ __device__ float operator()(const float& x, const float& y) const { return a * x + y; }
};
struct IsEven {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

TEST(Thrust, VectorsKeepValuesInTheirOwnMemory) {
  thrust::host_vector<int> h(4);
  for (int i = 0; i < 4; ++i) h[i] = i;
  thrust::device_vector<int> d = h;
  d[1] = 7;
  d.resize(5, 9);
  d.push_back(d[1]);
  EXPECT_EQ(on_host(d), (Ints{0, 7, 2, 3, 9, 7}));
  d.erase(d.begin() + 1, d.begin() + 3);
  d.insert(d.begin() + 1, 2, 5);
  d[0] += 4;
  EXPECT_EQ(on_host(d), (Ints{4, 5, 5, 3, 9, 7}));
  const int* raw = thrust::raw_pointer_cast(d.data());
  EXPECT_EQ(raw, thrust::raw_pointer_cast(&d[0]));
  cudaPointerAttributes where;
  EXPECT_CUDA(cudaPointerGetAttributes(&where, raw));
  EXPECT_EQ(where.type, cudaMemoryTypeDevice);
  const std::list<int> list(h.begin(), h.end());
  EXPECT_EQ(on_host(thrust::device_vector<double>(list.begin(), list.end())),
            (std::vector<double>{0, 1, 2, 3}));
  EXPECT_TRUE((thrust::device_vector<int>{1, 2} == std::vector<int>{1, 2}));
  EXPECT_EQ(thrust::device_vector<float>(3)[2], 0.0f);
}

TEST(Thrust, AlgorithmsAndKernelsOfAStreamFollowEachOther) {
  thrust::device_vector<int> d(1000, 1);
  increment<<<4, 256>>>(thrust::raw_pointer_cast(d.data()), 1000);
  EXPECT_EQ(thrust::reduce(d.begin(), d.end()), 2000);
  increment<<<4, 256>>>(thrust::raw_pointer_cast(d.data()), 1000);
  thrust::transform(d.begin(), d.end(), d.begin(), thrust::negate<int>());
  increment<<<4, 256>>>(thrust::raw_pointer_cast(d.data()), 1000);
  EXPECT_EQ(d[999], -2);
  cudaStream_t stream;
  EXPECT_CUDA(cudaStreamCreate(&stream));
  increment<<<4, 256, 0, stream>>>(thrust::raw_pointer_cast(d.data()), 1000);
  thrust::sequence(thrust::cuda::par.on(stream), d.begin(), d.end());
  EXPECT_EQ(d[999], 999);
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(Thrust, MemoryOfTheApiTakesPart) {
  DeviceArray<int> raw(64, 3);
  const thrust::device_ptr<int> p(raw.operator int*());
  thrust::sequence(p, p + 64, 1, 2);
  EXPECT_EQ(thrust::reduce(p, p + 64, 0, thrust::maximum<int>()), 127);
  EXPECT_EQ(thrust::reduce(thrust::device, raw.operator int*(), raw + 64), 64 * 64);
  thrust::device_ptr<int> mine = thrust::device_malloc<int>(2);
  thrust::fill(mine, mine + 2, 8);
  EXPECT_EQ(mine[1], 8);
  thrust::device_free(mine);
}

TEST(Thrust, ElementsEachForItself) {
  const thrust::device_vector<float> x{1, 2, 3}, y{10, 20, 30};
  thrust::device_vector<float> z(3);
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), Saxpy(2));
  EXPECT_EQ(on_host(z), (std::vector<float>{12, 24, 36}));
  using namespace thrust::placeholders;
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), 3.0f * _1 - _2);
  EXPECT_EQ(on_host(z), (std::vector<float>{-7, -14, -21}));
  thrust::device_vector<int> d(6), to(6, -1);
  thrust::tabulate(d.begin(), d.end(), [] __device__(int i) { return i * i; });
  thrust::replace_if(d.begin(), d.end(), IsEven(), 0);
  EXPECT_EQ(on_host(d), (Ints{0, 1, 0, 9, 0, 25}));
  const thrust::device_vector<int> map{5, 4, 3, 2, 1, 0};
  thrust::gather(map.begin(), map.end(), d.begin(), to.begin());
  EXPECT_EQ(on_host(to), (Ints{25, 0, 9, 0, 1, 0}));
  thrust::scatter(map.begin(), map.end(), map.begin(), to.begin());
  EXPECT_EQ(on_host(to), (Ints{0, 1, 2, 3, 4, 5}));
  thrust::for_each(
      thrust::make_zip_iterator(thrust::make_tuple(d.begin(), to.begin())),
      thrust::make_zip_iterator(thrust::make_tuple(d.end(), to.end())),
      [] __device__(thrust::tuple<int&, int&> t) { thrust::get<0>(t) = thrust::get<1>(t) + 1; });
  EXPECT_EQ(on_host(d), (Ints{1, 2, 3, 4, 5, 6}));
}

TEST(Thrust, OutputThroughAFunction) {
  const thrust::device_vector<float> x{1.5f, 2.5f, -0.5f};
  thrust::device_vector<int> out(3);
  const auto halves = [] __host__ __device__(float f) { return static_cast<int>(2 * f); };
  const auto to = thrust::make_transform_output_iterator(out.begin(), halves);
  EXPECT_EQ(thrust::copy(x.begin(), x.end(), to) - to, 3);
  EXPECT_EQ(on_host(out), (Ints{3, 5, -1}));
  thrust::inclusive_scan(x.begin(), x.end(), to);
  EXPECT_EQ(on_host(out), (Ints{3, 8, 7}));
  std::vector<int> here(2);
  thrust::transform(x.begin(), x.begin() + 2, x.begin(),
                    thrust::make_transform_output_iterator(out.begin(), halves),
                    thrust::multiplies<float>());
  thrust::copy(out.begin(), out.begin() + 2, here.begin());
  EXPECT_EQ(here, (Ints{4, 12}));
}

TEST(Thrust, MergesSwapsAndGathersSome) {
  const thrust::device_vector<int> a{1, 3, 5}, b{2, 3, 6}, of_a(3, 10), of_b(3, 20);
  thrust::device_vector<int> keys(6), values(6);
  thrust::merge_by_key(a.begin(), a.end(), b.begin(), b.end(), of_a.begin(), of_b.begin(),
                       keys.begin(), values.begin());
  EXPECT_EQ(on_host(keys), (Ints{1, 2, 3, 3, 5, 6}));
  EXPECT_EQ(on_host(values), (Ints{10, 20, 10, 20, 10, 20}));
  thrust::swap_ranges(keys.begin(), keys.begin() + 3, values.begin() + 3);
  EXPECT_EQ(on_host(values), (Ints{10, 20, 10, 1, 2, 3}));
  const thrust::device_vector<int> map{2, 1, 0}, wanted{1, 0, 2};
  thrust::gather_if(map.begin(), map.end(), wanted.begin(), a.begin(), values.begin());
  EXPECT_EQ(on_host(values), (Ints{5, 20, 1, 1, 2, 3}));
  thrust::uninitialized_fill(values.begin(), values.begin() + 2, 8);
  std::ostringstream text;
  thrust::copy(values.begin(), values.begin() + 3, std::ostream_iterator<int>(text, ","));
  EXPECT_EQ(text.str(), "8,8,1,");
}

TEST(Thrust, Reductions) {
  const thrust::device_vector<int> d{3, -4, 5, 0};
  const auto square = [] __device__(int x) { return x * x; };
  EXPECT_EQ(thrust::transform_reduce(d.begin(), d.end(), square, 0, thrust::plus<int>()), 50);
  EXPECT_EQ(thrust::inner_product(d.begin(), d.end(), d.begin(), 1), 51);
  EXPECT_EQ(thrust::count_if(d.begin(), d.end(), IsEven()), 2);
  EXPECT_EQ(thrust::min_element(d.begin(), d.end()) - d.begin(), 1);
  EXPECT_EQ(*thrust::max_element(d.begin(), d.end()), 5);
  EXPECT_TRUE(thrust::any_of(d.begin(), d.end(), IsEven()));
  EXPECT_EQ(thrust::reduce(thrust::make_counting_iterator(1), thrust::make_counting_iterator(101)),
            5050);
  const auto squares = thrust::make_transform_iterator(d.begin(), square);
  EXPECT_EQ(thrust::reduce(squares, squares + 4), 50);
  const thrust::device_vector<int> keys{1, 1, 2, 1};
  thrust::device_vector<int> sums(4);
  const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), d.begin(),
                                          thrust::make_discard_iterator(), sums.begin());
  sums.erase(ends.second, sums.end());
  EXPECT_EQ(on_host(sums), (Ints{-1, 5, 0}));
  EXPECT_EQ(thrust::reduce(d.begin(), d.begin(), 7), 7);
}

TEST(Thrust, Scans) {
  const thrust::device_vector<int> d{3, 1, 4, 1, 5};
  thrust::device_vector<int> out(5);
  thrust::inclusive_scan(d.begin(), d.end(), out.begin());
  EXPECT_EQ(on_host(out), (Ints{3, 4, 8, 9, 14}));
  thrust::exclusive_scan(d.begin(), d.end(), out.begin(), 10);
  EXPECT_EQ(on_host(out), (Ints{10, 13, 14, 18, 19}));
  thrust::inclusive_scan(d.begin(), d.end(), out.begin(), thrust::maximum<int>());
  EXPECT_EQ(on_host(out), (Ints{3, 3, 4, 4, 5}));
  const thrust::device_vector<int> keys{0, 0, 1, 1, 2};
  thrust::exclusive_scan_by_key(keys.begin(), keys.end(), d.begin(), out.begin());
  EXPECT_EQ(on_host(out), (Ints{0, 3, 0, 4, 0}));
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), d.begin(), out.begin());
  EXPECT_EQ(on_host(out), (Ints{3, 4, 4, 5, 5}));
  thrust::adjacent_difference(d.begin(), d.end(), out.begin());
  EXPECT_EQ(on_host(out), (Ints{3, -2, 3, -3, 4}));
  thrust::exclusive_scan(out.begin(), out.end(), out.begin());
  EXPECT_EQ(on_host(out), (Ints{0, 3, 1, 4, 1}));
}

TEST(Thrust, Sorting) {
  thrust::device_vector<int> keys{3, 1, 2, 1}, values{0, 1, 2, 3};
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  EXPECT_EQ(on_host(keys), (Ints{1, 1, 2, 3}));
  EXPECT_EQ(on_host(values), (Ints{1, 3, 2, 0}));
  EXPECT_TRUE(thrust::is_sorted(keys.begin(), keys.end()));
  thrust::sort(values.begin(), values.end(), thrust::greater<int>());
  EXPECT_EQ(on_host(values), (Ints{3, 2, 1, 0}));
  const auto both = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), values.begin()));
  thrust::sort(both, both + 4);
  EXPECT_EQ(on_host(values), (Ints{2, 3, 1, 0}));
  EXPECT_EQ(thrust::unique(keys.begin(), keys.end()) - keys.begin(), 3);
  EXPECT_EQ(thrust::lower_bound(keys.begin(), keys.begin() + 3, 2) - keys.begin(), 1);
  const auto twos = thrust::equal_range(values.begin(), values.begin() + 2, 2);
  EXPECT_EQ(twos.first - values.begin(), 0);
  EXPECT_EQ(twos.second - values.begin(), 1);
  const thrust::device_vector<int> a{1, 3, 5}, b{3, 4, 5};
  thrust::device_vector<int> common(3);
  common.erase(thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), common.begin()),
               common.end());
  EXPECT_EQ(on_host(common), (Ints{3, 5}));
  thrust::host_vector<int> h{2, 1};
  thrust::sort(h.begin(), h.end());
  EXPECT_EQ(h[0], 1);
}

TEST(Thrust, WhatStays) {
  thrust::device_vector<int> d{1, 2, 3, 4, 6}, even(5);
  even.erase(thrust::copy_if(d.begin(), d.end(), even.begin(), IsEven()), even.end());
  EXPECT_EQ(on_host(even), (Ints{2, 4, 6}));
  EXPECT_EQ(thrust::remove_if(d.begin(), d.end(), IsEven()) - d.begin(), 2);
  EXPECT_EQ(d[1], 3);
  thrust::host_vector<int> h{1, 2, 3, 4};
  EXPECT_EQ(thrust::remove(h.begin(), h.end(), 2) - h.begin(), 3);
  thrust::device_vector<int> p{1, 2, 3, 4};
  thrust::partition(p.begin(), p.end(), IsEven());
  EXPECT_EQ(on_host(p), (Ints{2, 4, 1, 3}));
  EXPECT_TRUE(thrust::is_partitioned(p.begin(), p.end(), IsEven()));
  EXPECT_FALSE(thrust::is_partitioned(h.begin(), h.end(), IsEven()));
  EXPECT_EQ(thrust::partition_point(p.begin(), p.end(), IsEven()) - p.begin(), 2);
  const thrust::device_vector<int> order{3, 0};
  const auto chosen = thrust::make_permutation_iterator(p.begin(), order.begin());
  thrust::host_vector<int> two(2);
  thrust::copy(chosen, chosen + 2, two.begin());
  EXPECT_EQ(on_host(two), (Ints{3, 2}));
}

TEST(Thrust, ArraysOfTheHostAreIterators) {
  int numbers[] = {4, 1, 4}, others[] = {1, 3, 4}, both[2], sums[3], keys[2];
  thrust::sort(thrust::host, numbers, numbers + 3);
  thrust::set_intersection(thrust::host, numbers, numbers + 3, others, others + 3, both);
  thrust::reduce_by_key(thrust::host, numbers, numbers + 3, others, keys, sums);
  EXPECT_EQ(both[1], 4);
  EXPECT_EQ(sums[1], 7);
  thrust::inclusive_scan(numbers, numbers + 3, numbers);
  EXPECT_EQ(numbers[2], 9);
}

TEST(Thrust, UniversalMemoryIsSeenByBothSides) {
  thrust::universal_vector<int> u(3);
  u[0] = 5;
  thrust::transform(u.begin(), u.end(), u.begin(), [] __device__(int x) { return x + 1; });
  EXPECT_EQ(u[0] + u[2], 7);
}

TEST(Thrust, InAKernelItRunsInTheThread) {
  thrust::device_vector<int> d{2, 1}, sum(1), parts{1, 2, 3, 4, 5};
  int* p = thrust::raw_pointer_cast(d.data());
  int* s = thrust::raw_pointer_cast(sum.data());
  int* q = thrust::raw_pointer_cast(parts.data());
  thrust::for_each_n(thrust::make_counting_iterator(0), 1, [](int) {});
  thrust::for_each(thrust::device, thrust::make_counting_iterator(0),
                   thrust::make_counting_iterator(1), [=] __device__(int) {
                     thrust::sort(thrust::seq, p, p + 2);
                     *s = thrust::reduce(thrust::device, p, p + 2);
                     thrust::partition(thrust::seq, q, q + 5, IsEven());
                   });
  EXPECT_EQ(d[0], 1);
  EXPECT_EQ(sum[0], 3);
  EXPECT_EQ(on_host(parts), (Ints{2, 4, 1, 3, 5}));
}

TEST(Thrust, RandomNumbersAreThrusts) {
  thrust::default_random_engine engine(1);
  thrust::uniform_real_distribution<float> uniform(0, 1);
  EXPECT_FLOAT_EQ(uniform(engine), 48270.0f / 2147483646.0f);
}

TEST(Thrust, ErrorsAreThrown) {
  thrust::device_vector<int> d(4);
  EXPECT_THROW(thrust::device_vector<char>(std::size_t{1} << 60), std::bad_alloc);
  cudaGetLastError();
  const auto fails = [&] {
    thrust::fill(thrust::cuda::par.on(reinterpret_cast<cudaStream_t>(&d)), d.begin(), d.end(), 1);
  };
  EXPECT_THROW(fails(), thrust::system_error);
  cudaGetLastError();
}

}  // namespace
