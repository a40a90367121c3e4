/* A program of another project that calls libnbody. */
#include <stdio.h>

#include "nbody.h"

int main(void) {
  const double positions[] = {0, 0, 0, 3, 0, 0}, masses[] = {1, 5};
  double a[6];
  const int result = nbody_accelerations_f64(2, positions, masses, 0, NULL, 4.0, NULL, a);
  printf("%s: %g %g\n", nbody_error_text(result), a[0], a[3]);
  return nbody_version() != NBODY_VERSION;
}
