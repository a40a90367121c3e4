// How accurate are reciprocal square roots? Activity map, 3.2: rsqrtf has an error of at most 2
// ULP. GPU Gems 3: SSE's four-cycle 1/sqrt(x) has 12 correct bits. This program tests both claims
// with all floats from 1 to 4, because the errors repeat every two octaves.
//
//   root_errors [STRIDE]   tests every STRIDE-th float [1]
#include <cstring>

#include "claim.h"
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

__global__ void roots(const float* x, float* y, int n, bool divide) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = divide ? 1.0f / sqrtf(x[i]) : rsqrtf(x[i]);
}

std::vector<float> on_gpu(const std::vector<float>& x, bool divide) {
  const claim::OnDevice<float> in(x), out(x);
  const int n = static_cast<int>(x.size());
  roots<<<(n + 255) / 256, 256>>>(in.get(), out.get(), n, divide);
  CHECKED(cudaGetLastError());
  return out.host();
}

#if defined(__SSE__)
std::vector<float> by_sse(const std::vector<float>& x) {
  std::vector<float> y;
  for (const float value : x) y.push_back(_mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(value))));
  return y;
}
// One step of Newton's method doubles the number of correct bits.
std::vector<float> refined(const std::vector<float>& x) {
  std::vector<float> y = by_sse(x);
  for (std::size_t k = 0; k < x.size(); ++k) y[k] *= 1.5f - 0.5f * x[k] * y[k] * y[k];
  return y;
}
#endif

float from_bits(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The ULP is the distance between the two floats next to the right value.
bool report(const char* name, const std::vector<float>& x, const std::vector<float>& y,
            double most_ulp, double fewest_bits) {
  double ulp = 0, relative = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double right = 1 / std::sqrt(static_cast<double>(x[k]));
    const double difference = std::fabs(y[k] - right);
    ulp = std::fmax(ulp, difference / std::ldexp(1.0, std::ilogb(right) - 23));
    relative = std::fmax(relative, difference / right);
  }
  claim::Line line("root_errors");
  line.add("root", std::string(name));
  line.add("numbers", static_cast<double>(x.size()));
  line.add("largest_error_ulp", ulp);
  line.add("bits", -std::log2(relative));
  return line.print(ulp <= most_ulp && -std::log2(relative) >= fewest_bits) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int stride = argc > 1 ? std::atoi(argv[1]) : 1;
  if (stride < 1) {
    std::fprintf(stderr, "root_errors: the stride must be at least 1\n");
    return 2;
  }
  std::vector<float> x;
  for (unsigned bits = 0x3f800000u; bits < 0x40800000u; bits += stride)
    x.push_back(from_bits(bits));
  bool right = report("rsqrtf", x, on_gpu(x, false), 2, 22);
  right &= report("1 / sqrtf", x, on_gpu(x, true), 2, 22);
#if defined(__SSE__)
  right &= report("SSE rsqrtss", x, by_sse(x), 1e9, 11);
  right &= report("SSE rsqrtss, refined once", x, refined(x), 8, 20);
#endif
  return right ? 0 : 1;
}
