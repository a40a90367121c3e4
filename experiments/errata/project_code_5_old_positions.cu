// Errata, project report, code 5: the new velocity uses accelerations at the old positions.
#include <cassert>
#include <cstdio>

// Stands for an array: one vector, and the time step to which it belongs.
struct Array {
  double x, y;
  int step;
};

__global__ void update_position(const Array* p, const Array* v, const Array* a, Array* to,
                                double dt) {
  *to = {p->x + v->x * dt + a->x * dt * dt / 2, p->y + v->y * dt + a->y * dt * dt / 2, p->step + 1};
}

__global__ void calculate_acceleration(const Array* p, Array* to) {
  const double r = sqrt(p->x * p->x + p->y * p->y);
  *to = {-p->x / (r * r * r), -p->y / (r * r * r), p->step};
}

__global__ void update_velocity(const Array* v, const Array* a, const Array* next, Array* to,
                                double dt) {
  assert(next->step == v->step + 1);  // the update needs the accelerations of both steps
  *to = {v->x + (a->x + next->x) * dt / 2, v->y + (a->y + next->y) * dt / 2, v->step + 1};
}

int main() {
  Array* arrays = nullptr;
  cudaMallocManaged(&arrays, 6 * sizeof(Array));
  Array *p1 = arrays, *p2 = arrays + 1, *v1 = arrays + 2, *v2 = arrays + 3, *a1 = arrays + 4,
        *a2 = arrays + 5;
  *p1 = {1, 0, 0}, *v1 = {0, 1, 0}, *a1 = {-1, 0, 0};  // a circular orbit
  const double dt = 0.01;
  update_position<<<1, 1>>>(p1, v1, a1, p2, dt);
  calculate_acceleration<<<1, 1>>>(p1, a2);  // wrong: should be p2
  update_velocity<<<1, 1>>>(v1, a1, a2, v2, dt);
  cudaDeviceSynchronize();
  std::printf("velocity %g %g\n", v2->x, v2->y);
  cudaFree(arrays);
}
