// Replaces the kernel that benchmarks/ktt.cu launches, and takes the same parameters, so that the
// driver can be tested without that kernel. A thread computes OUTER_UNROLL_FACTOR bodies, and
// WORK_GROUP_SIZE_Y threads share the sources of a body.
__global__ void nbody_kernel(float dt, float4* positions, float*, float*, float*, float*,
                             float4* new_positions, float4* velocities, float*, float*, float*,
                             float4* new_velocities, float, float softening_squared, int n) {
  __shared__ float3 parts[WORK_GROUP_SIZE_Y][WORK_GROUP_SIZE_X];
#pragma unroll INNER_UNROLL_FACTOR1
  for (int k = 0; k < OUTER_UNROLL_FACTOR; ++k) {
    const int i = (blockIdx.x * WORK_GROUP_SIZE_X + threadIdx.x) * OUTER_UNROLL_FACTOR + k;
    const float4 body = positions[i];
    float3 a = {0.0f, 0.0f, 0.0f};
    for (int j = threadIdx.y; j < n; j += WORK_GROUP_SIZE_Y) {
      const float4 source = positions[j];
      const float dx = source.x - body.x, dy = source.y - body.y, dz = source.z - body.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + softening_squared);
      const float s = source.w * r * r * r;
      a.x += s * dx;
      a.y += s * dy;
      a.z += s * dz;
    }
    parts[threadIdx.y][threadIdx.x] = a;
    __syncthreads();  // no thread may read the sums before all of them are written
    if (threadIdx.y == 0) {
      float4 velocity = velocities[i];
      for (int part = 0; part < WORK_GROUP_SIZE_Y; ++part) {
        velocity.x += parts[part][threadIdx.x].x * dt;
        velocity.y += parts[part][threadIdx.x].y * dt;
        velocity.z += parts[part][threadIdx.x].z * dt;
      }
      new_velocities[i] = velocity;
      new_positions[i] = {body.x + velocity.x * dt, body.y + velocity.y * dt,
                          body.z + velocity.z * dt, body.w};
    }
    __syncthreads();  // no thread may overwrite the sums before they are added
  }
}
