/* Calls libnbody_g6 like a program for GRAPE-6, and compares the results with sums in this file. */
#include "g6.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100, FROM = 20, NI = 40 };

static int failures = 0;
static void expect(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

static double x[N][3], v[N][3], a2[N][3], j6[N][3], k18[N][3], mass[N], t[N];
static int index_of(int j) { return 1000 + 7 * j; }
static double uniform(void) { return rand() / (double)RAND_MAX - 0.5; }

static void fill(void) {
  for (int j = 0; j < N; ++j) {
    mass[j] = 0.5 + uniform();
    t[j] = 0.1 * uniform();
    for (int k = 0; k < 3; ++k) {
      x[j][k] = uniform(), v[j][k] = uniform(), a2[j][k] = uniform();
      j6[j][k] = uniform(), k18[j][k] = uniform();
    }
    EXPECT(g6_set_j_particle(0, j, index_of(j), t[j], 0.125, mass[j], k18[j], j6[j], a2[j], v[j],
                             x[j]) == 0);
  }
}

static void predict(int j, double now, double* at, double* moving) {
  const double h = now - t[j];
  for (int k = 0; k < 3; ++k) {
    at[k] = x[j][k] + v[j][k] * h + a2[j][k] * h * h + j6[j][k] * pow(h, 3) +
            0.75 * k18[j][k] * pow(h, 4);
    moving[k] = v[j][k] + 2 * a2[j][k] * h + 3 * j6[j][k] * h * h + 3 * k18[j][k] * pow(h, 3);
  }
}

static void forces(double eps2) {
  const double now = 0.3;
  int index[NI], nearest[NI], list[N], count;
  double xi[NI][3], vi[NI][3], acc[NI][3], jerk[NI][3], pot[NI], h2[NI], old[NI][3], phi[NI];
  memset(old, 0, sizeof old), memset(phi, 0, sizeof phi);
  for (int i = 0; i < NI; ++i) {
    index[i] = i < 30 ? index_of(FROM + i) : -1 - i; /* the last ten are not on the board */
    predict(FROM + i, now, xi[i], vi[i]);
    xi[i][0] += 1e-15; /* another rounding than the board's */
    if (i >= 30) xi[i][1] += 0.3;
    h2[i] = 0.04;
  }
  EXPECT(g6_set_ti(0, now) == 0);
  g6calc_firsthalf(0, N, NI, index, xi, vi, old, old, phi, eps2, h2);
  EXPECT(g6calc_lasthalf2(0, N, NI, index, xi, vi, eps2, h2, acc, jerk, pot, nearest) == 0);
  EXPECT(g6_read_neighbour_list(0) == 0);
  for (int i = 0; i < NI; ++i) {
    double a[3] = {0}, b[3] = {0}, p = 0, least = 1e300, at[3], moving[3];
    int near = -1, inside = 0;
    for (int j = 0; j < N; ++j) {
      if (index_of(j) == index[i]) continue;
      predict(j, now, at, moving);
      double d[3], u[3], square = 0, along = 0;
      for (int k = 0; k < 3; ++k) {
        d[k] = at[k] - xi[i][k], u[k] = moving[k] - vi[i][k];
        square += d[k] * d[k], along += d[k] * u[k];
      }
      if (square < least) least = square, near = index_of(j);
      inside += square < h2[i];
      const double s = sqrt(square + eps2);
      p -= mass[j] / s;
      for (int k = 0; k < 3; ++k) {
        a[k] += mass[j] * d[k] / pow(s, 3);
        b[k] += mass[j] * (u[k] / pow(s, 3) - 3 * along * d[k] / pow(s, 5));
      }
    }
    for (int k = 0; k < 3; ++k) {
      EXPECT(fabs(acc[i][k] - a[k]) < 1e-11 * (fabs(a[0]) + fabs(a[1]) + fabs(a[2])));
      EXPECT(fabs(jerk[i][k] - b[k]) < 1e-10 * (fabs(b[0]) + fabs(b[1]) + fabs(b[2])));
    }
    EXPECT(fabs(pot[i] / p - 1) < 1e-12);
    EXPECT(nearest[i] == near);
    EXPECT(g6_get_neighbour_list(0, i, N, &count, list) == 0 && count == inside);
    for (int n = 0; n < count; ++n) EXPECT(list[n] != index[i]);
    if (inside > 1) EXPECT(g6_get_neighbour_list(0, i, 1, &count, list) == 1 && count == 1);
  }
  /* The same call by its Fortran name. */
  int cluster = 0, nj = N, ni = NI;
  double again[NI][3], jerks[NI][3], pots[NI];
  EXPECT(g6calc_lasthalf_(&cluster, &nj, &ni, index, xi, vi, &eps2, h2, again, jerks, pots) == 0);
  EXPECT(memcmp(again, acc, sizeof acc) == 0 && memcmp(pots, pot, sizeof pot) == 0);
}

/* Sources in one place exert nothing on each other, whether or not they are in one block. */
static void coincident(void) {
  double zero[3] = {0, 0, 0}, one[3] = {1, 0, 0}, h2[3] = {0, 0, 0};
  double xi[3][3] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}}, vi[3][3] = {{0}};
  double acc[3][3], jerk[3][3], pot[3], alone[1][3], jerks[1][3], pots[1];
  int index[3] = {10, 11, 12};
  for (int j = 0; j < 3; ++j)
    EXPECT(g6_set_j_particle(0, j, index[j], 0, 1, 1, zero, zero, zero, zero, j ? one : zero) == 0);
  EXPECT(g6calc_lasthalf(0, 3, 3, index, xi, vi, 0, h2, acc, jerk, pot) == 0);
  EXPECT(pot[0] == -2 && pot[1] == -1 && pot[2] == -1);
  for (int i = 0; i < 3; ++i) {
    EXPECT(g6calc_lasthalf(0, 3, 1, index + i, xi + i, vi + i, 0, h2, alone, jerks, pots) == 0);
    EXPECT(pots[0] == pot[i] && alone[0][0] == acc[i][0]);
  }
}

/* If memory runs out, a call says so; an exception must not leave it. */
static void too_little_memory(void) {
  double zero[3] = {0, 0, 0};
  EXPECT(g6_open(0) == 0);
  EXPECT(g6_set_j_particle(0, G6_PARTICLES - 1, 0, 0, 1, 1, zero, zero, zero, zero, zero) == -1);
}

static void wrong_arguments(void) {
  double zero[3] = {0, 0, 0}, bad[3] = {0, NAN, 0}, one[1][3] = {{0, 0, 0}}, p[1], h2[1] = {0};
  double a[1][3] = {{7, 7, 7}}, b[1][3];
  int index[1] = {0}, count;
  EXPECT(g6_set_ti(0, NAN) == -1);
  EXPECT(g6_set_j_particle(0, -1, 0, 0, 0, 1, zero, zero, zero, zero, zero) == -1);
  EXPECT(g6_set_j_particle(0, 1 << 30, 0, 0, 0, 1, zero, zero, zero, zero, zero) == -1);
  EXPECT(g6_set_j_particle(0, 0, 0, 0, 0, -1, zero, zero, zero, zero, zero) == -1);
  EXPECT(g6_set_j_particle(0, 0, 0, 0, 0, 1, zero, zero, zero, zero, bad) == -1);
  EXPECT(g6_set_j_particle(0, 0, 0, NAN, 0, 1, zero, zero, zero, zero, zero) == -1);
  EXPECT(g6calc_lasthalf(0, N + 1, 1, index, one, one, 0, h2, a, b, p) == -1);
  EXPECT(g6calc_lasthalf(0, N, 49, index, one, one, 0, h2, a, b, p) == -1);
  EXPECT(g6calc_lasthalf(0, N, 0, index, one, one, 0, h2, a, b, p) == -1);
  EXPECT(g6calc_lasthalf(0, N, 1, index, one, one, -1, h2, a, b, p) == -1);
  one[0][1] = NAN;
  EXPECT(g6calc_lasthalf(0, N, 1, index, one, one, 0, h2, a, b, p) == -1);
  EXPECT(a[0][0] == 7); /* nothing is written */
  EXPECT(g6_get_neighbour_list(0, 48, 1, &count, index) == -1);
  EXPECT(g6_set_j_particle(0, N + 1, 0, 0, 0, 1, zero, zero, zero, zero, zero) == 0);
  one[0][1] = 0;
  EXPECT(g6calc_lasthalf(0, N + 2, 1, index, one, one, 0, h2, a, b, p) == -1); /* N is empty */
  EXPECT(g6_close(0) == 0 && g6_close(0) == -1);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "little-memory") == 0) {
    too_little_memory();
    return failures == 0 ? 0 : 1;
  }
  EXPECT(g6_npipes() == G6_PIPES);
  EXPECT(g6_set_ti(0, 0) == -1); /* not open */
  EXPECT(g6_open(32533) == 0);   /* ph4 opens a number that it did not set */
  fill();
  forces(0);
  forces(0.01);
  coincident();
  fill();
  wrong_arguments();
  return failures == 0 ? 0 : 1;
}
