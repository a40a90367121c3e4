/* libnbody: gravity of point masses at given points. A C ABI; nbody.hpp is a small C++ layer over
 * it.
 *
 * With G = 1 and r_ij = x_j - x_i, the sources j act on a target i at x_i with
 *
 *   acceleration  a_i   = sum_j m_j r_ij / s^3                      s^2 = |r_ij|^2 + eps^2
 *   potential     phi_i = - sum_j m_j / s
 *   jerk          da_i/dt = sum_j m_j (v_ij / s^3 - 3 (r_ij . v_ij) r_ij / s^5)
 *
 * (Plummer softening: Aarseth 1963, MNRAS 126, 223; Dehnen & Read 2011, Eur. Phys. J. Plus 126, 55,
 * eq. 7. Jerk: Makino & Aarseth 1992, PASJ 44, 141.) Any units in which G = 1 will do.
 *
 * Arrays. A position or velocity takes three numbers, x y z. Arrays are contiguous and in host
 * memory. With NBODY_CUDA, each array may be in the memory of the host or of a device. `targets`
 * may be NULL: then the sources themselves are the targets, and no body acts on itself. If targets
 * have a separate array, each source acts on each target; a source at exactly the position of a
 * target adds nothing to the target's acceleration, and -m / eps to the target's potential. Masses
 * may be 0. Massless bodies take time as targets but not as sources, unless at most 20,480 bodies
 * act on each other on a device. Results overwrite the output arrays, which must not overlap each
 * other; nothing is written if a call fails.
 *
 * Softening. A softening below 1e-12 of the largest coordinate (NBODY_DIRECT with double: 1e-100)
 * is replaced by this limit. A softening of 0 is therefore allowed, even with coincident bodies,
 * which then add nothing to each other's accelerations and jerks.
 *
 * Precision. NBODY_DIRECT sums all pairs in the type of the arrays. NBODY_TREE computes in float32,
 * for arrays of either type; the errors of its approximation are larger than those of float32.
 *
 * Threads. Any number of threads may call these functions at once; they do not affect each other's
 * results. A call uses OpenMP; options.threads limits its threads. In a process that was forked
 * after a call, each call uses one thread, because OpenMP's other threads exist only in the parent.
 *
 * Devices. options.device is NBODY_CPU, the default, or NBODY_CUDA. If the library was built
 * without nvcc, calls with NBODY_CUDA return NBODY_NO_DEVICE. NBODY_CUDA uses the device that holds
 * the arrays, or the current device if all arrays are on the host. Arrays on the device are not
 * copied. The kernels are those of steps 11 to 13 and 15b, and work in options.stream. If all
 * output arrays are on the device, the call returns before the results are ready, like a kernel
 * launch. options.interrupted is not called: kernels run to their end. The library keeps the memory
 * that calls have used; nbody_release_memory() returns this memory. A thread remembers what its
 * last calls found in the arrays. If all of them found the same, the next call begins with the same
 * kernels. If the arrays have changed so much that these kernels do not fit, the call then runs
 * other kernels. The results are the same in both cases.
 */
#ifndef NBODY_H
#define NBODY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NBODY_VERSION 10000 /* 10000 major + 100 minor + patch */

/* Returns the NBODY_VERSION of the linked library. The ABI changes only with the major version. */
int nbody_version(void);

/* Results of calls. The numbers will not change their meaning. */
enum {
  NBODY_OK = 0,
  NBODY_NO_ARRAY = 1,      /* a required array is NULL */
  NBODY_BAD_COUNT = 2,     /* more than 1e9 sources or targets */
  NBODY_BAD_POSITION = 3,  /* not finite, or above 1e150 */
  NBODY_BAD_VELOCITY = 4,  /* not finite, or above 1e150 */
  NBODY_BAD_MASS = 5,      /* negative, not finite, or above 1e150 */
  NBODY_BAD_SOFTENING = 6, /* negative, not finite, or above 1e150 */
  NBODY_BAD_OPTION = 7,    /* an option is out of its range */
  NBODY_NO_DEVICE = 8,     /* there is no CUDA device, or this build lacks CUDA */
  NBODY_NO_TREE_JERK = 9,  /* the tree has no velocities of nodes; NBODY_DIRECT has the jerk */
  NBODY_NO_MEMORY = 10,
  NBODY_INTERRUPTED = 11, /* options.interrupted returned nonzero */
  NBODY_TWO_DEVICES = 12, /* arrays are on different CUDA devices */
  NBODY_CUDA_FAILED = 13  /* a CUDA call failed */
};

/* Returns a one-line message for any result. The string is static. */
const char* nbody_error_text(int result);

enum { NBODY_CPU = 0, NBODY_CUDA = 1 };
enum { NBODY_DIRECT = 0, NBODY_TREE = 1 };

typedef struct nbody_options {
  size_t size; /* sizeof(nbody_options), so that a later version can add fields */
  int device;  /* NBODY_CPU or NBODY_CUDA */
  int method;  /* NBODY_DIRECT or NBODY_TREE */
  int threads; /* largest number, at most 4096; 0: OpenMP chooses */
  /* The tree: opening angle, 0 to 1: a node acts as one body only if its radius / its distance is
   * below theta (the radius is the distance of its farthest body from its centre of mass, or an
   * upper bound of it); highest moment of a node, 0 (mass) or 2 (quadrupole); and the limit on the
   * first multipole term that a node omits, relative to the force on a group of targets, 0 to 1:
   * 0 opens all nodes; with 1, theta decides. */
  double theta;
  int multipole;
  double force_tolerance;
  /* If not NULL, the calling thread calls this function several times per second. A nonzero result
   * ends the library's call. */
  int (*interrupted)(void* argument);
  void* argument;
  /* CUDA: the cudaStream_t to work in; NULL: the default stream. */
  void* stream;
  /* CUDA: if not 0, the call checks no values and never waits. The caller must then ensure that
   * values are allowed and that units suit float32: no square or cube may leave its range. All
   * sources count as bodies with mass. */
  int unchecked;
} nbody_options;

/* Sets the defaults: the CPU, direct, all threads, theta 1, multipole 2, force_tolerance 0.005.
 * `size` must be sizeof(nbody_options); with another size, or if options is NULL, the function
 * changes nothing. Calls whose options.size differs return NBODY_BAD_OPTION. */
void nbody_default_options(nbody_options* options, size_t size);

/* Gives the memory that earlier calls have used back to the devices. Any thread may call this
 * function. */
void nbody_release_memory(void);

/* Each function returns a result from the list above. `options` may be NULL for the defaults.
 * positions: 3 * sources; masses: sources; target_positions: 3 * targets, or NULL. If
 * target_positions is NULL, `targets` is ignored, and outputs have one entry per source.
 * accelerations: 3 * targets; potentials: targets. */
int nbody_accelerations_f32(size_t sources, const float* positions, const float* masses,
                            size_t targets, const float* target_positions, double softening,
                            const nbody_options* options, float* accelerations);
int nbody_accelerations_f64(size_t sources, const double* positions, const double* masses,
                            size_t targets, const double* target_positions, double softening,
                            const nbody_options* options, double* accelerations);
int nbody_potential_f32(size_t sources, const float* positions, const float* masses, size_t targets,
                        const float* target_positions, double softening,
                        const nbody_options* options, float* potentials);
int nbody_potential_f64(size_t sources, const double* positions, const double* masses,
                        size_t targets, const double* target_positions, double softening,
                        const nbody_options* options, double* potentials);

/* velocities: 3 * sources; target_velocities: 3 * targets; jerks: 3 * targets; accelerations:
 * 3 * targets, or NULL; they cost nothing extra.
 * target_velocities must not be NULL, unless target_positions is NULL, too. */
int nbody_jerk_f32(size_t sources, const float* positions, const float* velocities,
                   const float* masses, size_t targets, const float* target_positions,
                   const float* target_velocities, double softening, const nbody_options* options,
                   float* accelerations, float* jerks);
int nbody_jerk_f64(size_t sources, const double* positions, const double* velocities,
                   const double* masses, size_t targets, const double* target_positions,
                   const double* target_velocities, double softening, const nbody_options* options,
                   double* accelerations, double* jerks);

#ifdef __cplusplus
}
#endif
#endif
