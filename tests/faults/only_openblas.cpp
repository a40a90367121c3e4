// Loads OpenBLAS and ends.
extern "C" void cblas_sscal(int count, float factor, float* values, int stride);

int main() {
  float one = 1;
  cblas_sscal(0, 1, &one, 1);  // keeps the library linked; with no values it needs no buffer
}
