/* Tests libnbody through its C ABI, against float64 sums computed in this file. */
#define _POSIX_C_SOURCE 200809L /* fork */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nbody.h"

/* The device to test. This file is also compiled into a second program, which tests NBODY_CUDA. */
#ifndef DEVICE
#define DEVICE NBODY_CPU
#endif

static int failures = 0;

static nbody_options defaults(void) {
  nbody_options options;
  nbody_default_options(&options, sizeof options);
  options.device = DEVICE;
  return options;
}

static void expect(int holds, const char* what, double value) {
  if (holds) return;
  printf("FAILED: %s: %g\n", what, value);
  ++failures;
}

/* Returns a number between -1 and 1. */
static double next(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 33) / 1073741824.0 - 1;
}

/* Bodies in float64, with values that float32 can hold exactly, and the same bodies in float32. */
typedef struct {
  size_t n;
  double *x, *v, *m;
  float *xf, *vf, *mf;
} Bodies;

static void* zeros(size_t count, size_t size) {
  void* const memory = calloc(count + 1, size);
  if (!memory) exit(1);
  return memory;
}

/* Every fourth body is massless. `length` and `mass` are the units of positions and masses. */
static Bodies make_bodies(size_t n, uint64_t seed, double length, double mass) {
  Bodies b = {n,
              zeros(3 * n, sizeof(double)),
              zeros(3 * n, sizeof(double)),
              zeros(n, sizeof(double)),
              zeros(3 * n, sizeof(float)),
              zeros(3 * n, sizeof(float)),
              zeros(n, sizeof(float))};
  for (size_t k = 0; k < 3 * n; ++k) {
    b.x[k] = b.xf[k] = (float)(length * pow(next(&seed), 3));
    b.v[k] = b.vf[k] = (float)next(&seed);
  }
  for (size_t i = 0; i < n; ++i)
    b.m[i] = b.mf[i] = i % 4 == 3 ? 0 : (float)(mass * (1 + next(&seed)) / (double)n);
  return b;
}

static void free_bodies(Bodies b) {
  free(b.x), free(b.v), free(b.m), free(b.xf), free(b.vf), free(b.mf);
}

/* For one target, the acceleration (3 numbers), the jerk (3) and the potential (1), and for each of
 * these the sum of the magnitudes of its terms. */
typedef struct {
  double value[7], magnitude[7];
} Sums;

static Sums* reference(const Bodies* s, const Bodies* t, double eps) {
  Sums* const sums = zeros(t->n, sizeof(Sums));
  for (size_t i = 0; i < t->n; ++i)
    for (size_t j = 0; j < s->n; ++j) {
      if (s == t && i == j) continue;
      double d[3], u[3], square = eps * eps, du = 0;
      for (int k = 0; k < 3; ++k) {
        d[k] = s->x[3 * j + (size_t)k] - t->x[3 * i + (size_t)k];
        u[k] = s->v[3 * j + (size_t)k] - t->v[3 * i + (size_t)k];
        square += d[k] * d[k];
        du += d[k] * u[k];
      }
      const double r = sqrt(square), w = s->m[j] / (square * r);
      double term[7] = {0};
      for (int k = 0; k < 3; ++k) {
        term[k] = w * d[k];
        term[3 + k] = w * (u[k] - 3 * du / square * d[k]);
      }
      term[6] = -s->m[j] / r;
      for (int k = 0; k < 7; ++k) {
        sums[i].value[k] += term[k];
        sums[i].magnitude[k] += k < 3 ? w * r
                                : k < 6
                                    ? w * (fabs(u[0]) + fabs(u[1]) + fabs(u[2]) + 3 * fabs(du) / r)
                                    : fabs(term[k]);
      }
    }
  return sums;
}

/* Returns the largest error of `count` numbers per target from component `first` on, relative to
 * the sum of magnitudes. */
static double error_of(const Sums* sums, size_t n, const void* found, int is_double, int first,
                       int count) {
  double largest = 0;
  for (size_t i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k) {
      const size_t at = i * (size_t)count + (size_t)k;
      const double value = is_double ? ((const double*)found)[at] : ((const float*)found)[at];
      const double scale = sums[i].magnitude[first + k];
      const double error = fabs(value - sums[i].value[first + k]) / (scale > 0 ? scale : 1);
      if (!(error <= largest)) largest = error; /* a NaN stays */
    }
  return largest;
}

/* Returns the RMS of the relative errors of vectors with `count` components. */
static double rms_of(const Sums* sums, size_t n, const float* found, int first, int count) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    double error = 0, square = 0;
    for (int k = 0; k < count; ++k) {
      const double d = found[i * (size_t)count + (size_t)k] - sums[i].value[first + k];
      error += d * d;
      square += sums[i].value[first + k] * sums[i].value[first + k];
    }
    sum += error / square;
  }
  return sqrt(sum / (double)n);
}

/* Checks all three quantities of one problem in both precisions. */
static void check(const Bodies* s, const Bodies* t, double eps, const nbody_options* options,
                  double limit_f32, double limit_f64, const char* what) {
  Sums* const sums = reference(s, t, eps);
  const size_t n = t->n;
  const int own = s == t, tree = options && options->method == NBODY_TREE;
  float *const a = zeros(3 * n, 4), *const j = zeros(3 * n, 4), *const p = zeros(n, 4);
  double *const A = zeros(3 * n, 8), *const J = zeros(3 * n, 8), *const P = zeros(n, 8);
  const float *const at = own ? NULL : t->xf, *const vt = own ? NULL : t->vf;
  const double *const At = own ? NULL : t->x, *const Vt = own ? NULL : t->v;
  int wrong = nbody_accelerations_f32(s->n, s->xf, s->mf, n, at, eps, options, a);
  wrong |= nbody_accelerations_f64(s->n, s->x, s->m, n, At, eps, options, A);
  expect(!wrong, what, wrong);
  double e = error_of(sums, n, a, 0, 0, 3);
  expect(e < limit_f32, what, e);
  e = error_of(sums, n, A, 1, 0, 3);
  expect(e < limit_f64, what, e);
  wrong = nbody_potential_f32(s->n, s->xf, s->mf, n, at, eps, options, p);
  wrong |= nbody_potential_f64(s->n, s->x, s->m, n, At, eps, options, P);
  expect(!wrong, what, wrong);
  e = error_of(sums, n, p, 0, 6, 1);
  expect(e < limit_f32, what, e);
  e = error_of(sums, n, P, 1, 6, 1);
  expect(e < limit_f64, what, e);
  if (!tree) {
    wrong = nbody_jerk_f32(s->n, s->xf, s->vf, s->mf, n, at, vt, eps, options, a, j);
    wrong |= nbody_jerk_f64(s->n, s->x, s->v, s->m, n, At, Vt, eps, options, A, J);
    expect(!wrong, what, wrong);
    expect(error_of(sums, n, a, 0, 0, 3) < limit_f32, what, error_of(sums, n, a, 0, 0, 3));
    expect(error_of(sums, n, A, 1, 0, 3) < limit_f64, what, error_of(sums, n, A, 1, 0, 3));
    expect(error_of(sums, n, j, 0, 3, 3) < limit_f32, what, error_of(sums, n, j, 0, 3, 3));
    expect(error_of(sums, n, J, 1, 3, 3) < limit_f64, what, error_of(sums, n, J, 1, 3, 3));
  }
  free(sums), free(a), free(j), free(p), free(A), free(J), free(P);
}

static void check_direct(void) {
  const nbody_options usual = defaults();
  const size_t sizes[] = {1, 2, 31, 32, 33, 128, 129, 257, 1100};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    const Bodies s = make_bodies(sizes[k], 1 + k, 1, 1), t = make_bodies(75, 99, 1, 1);
    check(&s, &s, 0.05, &usual, 2e-6, 1e-14, "direct");
    check(&s, &t, 0.05, &usual, 2e-6, 1e-14, "direct, other targets");
    check(&s, &s, 0, &usual, 2e-6, 1e-14, "direct, no softening");
    free_bodies(s), free_bodies(t);
  }
}

/* Checks a galaxy in metres and kilograms, in which float32 would overflow. */
static void check_units(void) {
  const nbody_options usual = defaults();
  nbody_options tree = usual;
  tree.method = NBODY_TREE, tree.theta = 0;
  const Bodies s = make_bodies(600, 5, 1e20, 1e38);
  check(&s, &s, 1e18, &usual, 2e-6, 1e-14, "large units");
  check(&s, &s, 1e18, &tree, 2e-6, 1e-5, "large units, tree");
  free_bodies(s);
}

static void check_tree(void) {
  nbody_options options = defaults();
  options.method = NBODY_TREE;
  const Bodies s = make_bodies(4000, 7, 1, 1), t = make_bodies(1000, 8, 1, 1);
  const Bodies* const all[] = {&s, &t};
  for (int k = 0; k < 2; ++k) {
    const Bodies* const at = all[k];
    Sums* const sums = reference(&s, at, 0.02);
    float *const a = zeros(3 * at->n, 4), *const p = zeros(at->n, 4);
    for (int multipole = 0; multipole <= 2; multipole += 2) {
      options.multipole = multipole;
      const float* const x = k ? at->xf : NULL;
      int wrong = nbody_accelerations_f32(s.n, s.xf, s.mf, at->n, x, 0.02, &options, a);
      wrong |= nbody_potential_f32(s.n, s.xf, s.mf, at->n, x, 0.02, &options, p);
      expect(!wrong, "tree", wrong);
      const double force = rms_of(sums, at->n, a, 0, 3), energy = rms_of(sums, at->n, p, 6, 1);
      expect(force > 1e-5 && force < 3e-3, "tree: RMS error of the acceleration", force);
      expect(energy > 1e-6 && energy < 5e-4, "tree: RMS error of the potential", energy);
      printf("tree, multipole %d, %s: RMS errors %.1e, %.1e\n", multipole,
             k ? "other targets" : "own bodies", force, energy);
    }
    free(sums), free(a), free(p);
  }
  options.theta = 0; /* all nodes are opened */
  const Bodies few = make_bodies(777, 3, 1, 1);
  check(&few, &few, 0.02, &options, 2e-6, 1e-5, "tree, theta 0");
  check(&few, &t, 0.02, &options, 2e-6, 1e-5, "tree, theta 0, other targets");
  check(&few, &few, 0, &options, 2e-6, 1e-5, "tree, theta 0, no softening");
  free_bodies(s), free_bodies(t), free_bodies(few);
}

/* One body far away does not take the digits of the others' float64 positions in the tree. */
static void check_escaper(void) {
  if (DEVICE == NBODY_CUDA) return; /* measures positions from the middle of all bodies */
  nbody_options options = defaults();
  options.method = NBODY_TREE;
  const Bodies s = make_bodies(2000, 9, 1, 1);
  s.x[0] = 1e7;
  Sums* const sums = reference(&s, &s, 0.02);
  double* const a = zeros(3 * s.n, sizeof(double));
  const int wrong = nbody_accelerations_f64(s.n, s.x, s.m, 0, NULL, 0.02, &options, a);
  const double error = error_of(sums, s.n, a, 1, 0, 3);
  expect(!wrong && error < 0.02, "tree, a body far away", error);
  free(sums), free(a);
  free_bodies(s);
}

/* Two coincident bodies, one of them massless, and one body far away. */
static void check_coincident(void) {
  const nbody_options usual = defaults();
  const double x[9] = {1, 2, 3, 1, 2, 3, 5, 2, 3}, m[3] = {1, 0, 2};
  double a[9], p[3];
  expect(nbody_accelerations_f64(3, x, m, 0, NULL, 0, &usual, a) == NBODY_OK, "coincident", 0);
  expect(a[0] == 2.0 / 16 && a[3] == 2.0 / 16 && a[6] == -1.0 / 16, "coincident", a[3]);
  expect(nbody_potential_f64(3, x, m, 0, NULL, 3, &usual, p) == NBODY_OK, "coincident", 0);
  expect(fabs(p[0] + 0.4) < 1e-15 && fabs(p[1] + 0.4 + 1.0 / 3) < 1e-15 && fabs(p[2] + 0.2) < 1e-15,
         "coincident, potential", p[1]);
}

static int stop(void* argument) { return ++*(int*)argument >= 3; }

static void check_errors(void) {
  enum { N = 40 };
  Bodies b = make_bodies(N, 4, 1, 1);
  float a[3 * N], j[3 * N];
  nbody_options options = defaults();
  memset(a, 0x55, sizeof a);
  float untouched[3 * N];
  memcpy(untouched, a, sizeof a);
#define REJECTED(code, call) \
  expect((call) == (code) && !memcmp(a, untouched, sizeof a), #call, code)
#define CALL(x, m, eps) nbody_accelerations_f32(N, x, m, 0, NULL, eps, &options, a)
  REJECTED(NBODY_NO_ARRAY, CALL(NULL, b.mf, 0.1));
  REJECTED(NBODY_NO_ARRAY, CALL(b.xf, NULL, 0.1));
  REJECTED(NBODY_NO_ARRAY, nbody_accelerations_f32(N, b.xf, b.mf, 0, NULL, 0.1, &options, NULL));
  REJECTED(NBODY_NO_ARRAY, nbody_jerk_f32(N, b.xf, NULL, b.mf, 0, NULL, NULL, 0.1, &options, a, j));
  REJECTED(NBODY_NO_ARRAY, nbody_jerk_f32(N, b.xf, b.vf, b.mf, 5, b.xf, NULL, 0.1, &options, a, j));
  REJECTED(NBODY_BAD_COUNT,
           nbody_accelerations_f32((size_t)-1, b.xf, b.mf, 0, NULL, 0.1, &options, a));
  REJECTED(NBODY_BAD_SOFTENING, CALL(b.xf, b.mf, -1e-9));
  REJECTED(NBODY_BAD_SOFTENING, CALL(b.xf, b.mf, NAN));
  const struct {
    float* where;
    float value;
    int code;
  } wrong[] = {{&b.xf[3 * N - 1], NAN, NBODY_BAD_POSITION},
               {&b.xf[0], INFINITY, NBODY_BAD_POSITION},
               {&b.mf[N - 1], NAN, NBODY_BAD_MASS},
               {&b.mf[2], -1e-9f, NBODY_BAD_MASS},
               {&b.mf[0], INFINITY, NBODY_BAD_MASS}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    const float before = *wrong[k].where;
    *wrong[k].where = wrong[k].value;
    REJECTED(wrong[k].code, CALL(b.xf, b.mf, 0.1));
    *wrong[k].where = before;
  }
  b.vf[7] = NAN;
  REJECTED(NBODY_BAD_VELOCITY,
           nbody_jerk_f32(N, b.xf, b.vf, b.mf, 0, NULL, NULL, 0.1, &options, a, j));
  b.vf[7] = 0;
#define WITH(member, value, code)          \
  {                                        \
    const nbody_options kept = options;    \
    options.member = value;                \
    REJECTED(code, CALL(b.xf, b.mf, 0.1)); \
    options = kept;                        \
  }
#ifndef LIBRARY_HAS_CUDA
  WITH(device, NBODY_CUDA, NBODY_NO_DEVICE)
#endif
  WITH(device, 2, NBODY_BAD_OPTION)
  WITH(method, 2, NBODY_BAD_OPTION)
  WITH(threads, -1, NBODY_BAD_OPTION)
  WITH(threads, 4097, NBODY_BAD_OPTION)
  WITH(theta, 1.01, NBODY_BAD_OPTION)
  WITH(theta, NAN, NBODY_BAD_OPTION)
  WITH(multipole, 1, NBODY_BAD_OPTION)
  WITH(force_tolerance, -0.1, NBODY_BAD_OPTION)
  WITH(size, 8, NBODY_BAD_OPTION)
  options.method = NBODY_TREE;
  REJECTED(NBODY_NO_TREE_JERK,
           nbody_jerk_f32(N, b.xf, b.vf, b.mf, 0, NULL, NULL, 0.1, &options, a, j));
  for (int code = NBODY_OK; code <= NBODY_CUDA_FAILED; ++code)
    expect(strcmp(nbody_error_text(code), nbody_error_text(-1)) != 0, "no text of an error", code);
  expect(nbody_version() == NBODY_VERSION, "version", nbody_version());

  /* Nothing to do. */
  options.method = NBODY_DIRECT;
  int wrong_empty = nbody_accelerations_f32(0, NULL, NULL, 0, NULL, 0.1, &options, NULL);
  expect(wrong_empty == NBODY_OK, "empty", wrong_empty);
  wrong_empty = nbody_accelerations_f32(0, NULL, NULL, N, b.xf, 0.1, &options, a);
  expect(wrong_empty == NBODY_OK && a[7] == 0, "no sources", a[7]);
  free_bodies(b);

  if (DEVICE == NBODY_CUDA) return; /* its calls cannot be interrupted */
  /* Each kernel stops long before its end. */
  const Bodies many = make_bodies(200000, 4, 1, 1);
  for (size_t i = 0; i < many.n; ++i) many.mf[i] += 1e-6f; /* massless bodies need a second sum */
  float* const out = zeros(3 * many.n, sizeof(float));
  options = defaults();
  for (int kind = 0; kind < 3; ++kind) {
    int calls = 0;
    options.interrupted = stop, options.argument = &calls;
    options.method = kind == 2 ? NBODY_TREE : NBODY_DIRECT;
    options.force_tolerance = kind == 2 ? 1e-5 : 0.005;
    const int result =
        kind == 1 ? nbody_potential_f32(many.n, many.xf, many.mf, 0, NULL, 0.1, &options, out)
                  : nbody_accelerations_f32(many.n, many.xf, many.mf, 0, NULL, 0.1, &options, out);
    expect(result == NBODY_INTERRUPTED && calls >= 3 && out[0] == 0, "interrupted", result);
  }
  free(out);
  free_bodies(many);
}

/* Two threads that compute different problems at once get the same bits as each thread alone. */
typedef struct {
  Bodies bodies;
  nbody_options options;
  float* out;
} Job;

static void compute(const Job* job, float* out) {
  const Bodies* const b = &job->bodies;
  for (int k = 0; k < (DEVICE == NBODY_CPU ? 10 : 2); ++k) {
    const int wrong = nbody_accelerations_f32(b->n, b->xf, b->mf, 0, NULL, 0.1, &job->options, out);
    expect(!wrong, "threads", wrong);
  }
}
static void* compute_job(void* job) {
  compute(job, ((Job*)job)->out);
  return NULL;
}

static void check_threads(void) {
  for (int method = NBODY_DIRECT; method <= NBODY_TREE; ++method)
    for (int threads = 1; threads <= (DEVICE == NBODY_CPU ? 2 : 1); ++threads) {
      Job jobs[2];
      pthread_t started[2];
      for (int k = 0; k < 2; ++k) {
        jobs[k].bodies = make_bodies(3000, 40 + (uint64_t)k, 1, 1);
        jobs[k].out = zeros(9000, sizeof(float));
        jobs[k].options = defaults();
        jobs[k].options.method = method;
        jobs[k].options.threads = threads;
      }
      for (int k = 0; k < 2; ++k) pthread_create(&started[k], NULL, compute_job, &jobs[k]);
      for (int k = 0; k < 2; ++k) pthread_join(started[k], NULL);
      for (int k = 0; k < 2; ++k) {
        float* const alone = zeros(9000, sizeof(float));
        compute(&jobs[k], alone);
        expect(!memcmp(alone, jobs[k].out, 9000 * sizeof(float)), "other bits in threads", method);
        free(alone), free(jobs[k].out);
        free_bodies(jobs[k].bodies);
      }
    }
}

/* A forked process computes, although the threads of the parent's calls do not exist in it. */
static void check_fork(void) {
  if (DEVICE == NBODY_CUDA) return; /* a forked process cannot use its parent's device */
  Job job = {make_bodies(3000, 50, 1, 1), defaults(), zeros(9000, sizeof(float))};
  job.options.threads = 2;
  compute(&job, job.out);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    failures = 0;
    compute(&job, job.out);
    _exit(failures != 0);
  }
  int status = -1;
  const pid_t ended = waitpid(child, &status, 0);
  expect(ended == child && status == 0, "a forked process", status);
  free(job.out);
  free_bodies(job.bodies);
}

int main(void) {
  check_direct();
  check_units();
  check_tree();
  check_escaper();
  check_coincident();
  check_errors();
  check_threads();
  check_fork();
  puts(failures ? "FAILED" : "all right");
  return failures != 0;
}
