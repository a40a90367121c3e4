/* The functions of GRAPE-6 (Makino, Fukushige, Koga & Namura 2003, PASJ 55, 1163), implemented with
 * libnbody. A program that was written for GRAPE-6, or for Sapporo on a GPU, links libnbody_g6
 * without changes.
 *
 * Each process has one board, which holds j-particles at addresses. (As in Sapporo, `cluster` has
 * no effect.) The board predicts the j-particles at the time that g6_set_ti sets,
 *
 *   x(t) = x + v h + a2 h^2 + j6 h^3 + 3/4 k18 h^4     h = t - tj, a2 = a / 2, j6 = (da/dt) / 6,
 *   v(t) = v + 2 a2 h + 3 j6 h^2 + 3 k18 h^3           k18 = (d2a/dt2) / 18
 *
 * and g6calc_firsthalf and g6calc_lasthalf return the accelerations, jerks and potentials that the
 * j-particles at the addresses below nj cause at i-particles, with the formulas of nbody.h, G = 1
 * and softening^2 = eps2. A j-particle does not act on the i-particle with the same index or, if
 * eps2 is 0, in the same place. All computations are in float64. The units that a GRAPE needs for
 * its integers (g6_set_tunit, g6_set_xunit, aold, j6old, phiold) have no effect.
 *
 * Functions return 0. After a wrong argument they print one line to stderr, change nothing and
 * return -1. g6calc_firsthalf returns nothing, so g6calc_lasthalf reports its errors. The board is
 * global, so only one thread at a time may call these functions. Names that end with an underscore
 * are for Fortran, which passes addresses as arguments.
 */
#ifndef NBODY_G6_H
#define NBODY_G6_H

#ifdef __cplusplus
extern "C" {
#endif

enum { G6_PIPES = 48, G6_PARTICLES = 16777216 };

int g6_open(int cluster);
int g6_close(int cluster); /* forgets the j-particles */
int g6_reset(int cluster); /* does nothing, like the next five */
int g6_reset_fofpga(int cluster);
int g6_initialize_jp_buffer(int cluster, int size);
int g6_flush_jp_buffer(int cluster);
int g6_set_tunit(double unit);
int g6_set_xunit(double unit);
int g6_npipes(void); /* at most this many i-particles per call: G6_PIPES */
int g6_set_ti(int cluster, double ti);
int g6_set_j_particle(int cluster, int address, int index, double tj, double dtj, double mass,
                      double k18[3], double j6[3], double a2[3], double v[3], double x[3]);

void g6calc_firsthalf(int cluster, int nj, int ni, int index[], double xi[][3], double vi[][3],
                      double aold[][3], double j6old[][3], double phiold[], double eps2,
                      double h2[]);
int g6calc_lasthalf(int cluster, int nj, int ni, int index[], double xi[][3], double vi[][3],
                    double eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
/* Also returns the index of the nearest j-particle, or -1, and finds the neighbours for
 * g6_get_neighbour_list: the j-particles that are nearer than the square root of h2. */
int g6calc_lasthalf2(int cluster, int nj, int ni, int index[], double xi[][3], double vi[][3],
                     double eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                     int nearest[]);
int g6_read_neighbour_list(int cluster);
/* If there are more than `most` neighbours, returns 1 and the first `most` of them. */
int g6_get_neighbour_list(int cluster, int pipe, int most, int* neighbours, int list[]);

int g6_open_(int* cluster);
int g6_close_(int* cluster);
int g6_reset_(int* cluster);
int g6_reset_fofpga_(int* cluster);
int g6_initialize_jp_buffer_(int* cluster, int* size);
int g6_flush_jp_buffer_(int* cluster);
int g6_set_tunit_(double* unit);
int g6_set_xunit_(double* unit);
int g6_npipes_(void);
int g6_set_ti_(int* cluster, double* ti);
int g6_set_j_particle_(int* cluster, int* address, int* index, double* tj, double* dtj,
                       double* mass, double k18[3], double j6[3], double a2[3], double v[3],
                       double x[3]);
void g6calc_firsthalf_(int* cluster, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                       double aold[][3], double j6old[][3], double phiold[], double* eps2,
                       double h2[]);
int g6calc_lasthalf_(int* cluster, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                     double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
int g6calc_lasthalf2_(int* cluster, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                      double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                      int nearest[]);
int g6_read_neighbour_list_(int* cluster);
int g6_get_neighbour_list_(int* cluster, int* pipe, int* most, int* neighbours, int list[]);

#ifdef __cplusplus
}
#endif
#endif
