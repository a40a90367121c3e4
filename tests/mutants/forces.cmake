# The sum over all bodies is wrong.
set(both_force_gates acceleration_rms acceleration_p99)

nbody_mutant(zero_force STEP step03_tiling CAUGHT_BY ${both_force_gates} trajectory
  WRONG "there is no force"
  FIND [[const float s = tile[j].mass]] REPLACE [[const float s = 0.0f * tile[j].mass]])

nbody_mutant(half_force STEP step03_tiling CAUGHT_BY ${both_force_gates} trajectory
  WRONG "half the force"
  FIND [[const float s = tile[j].mass]] REPLACE [[const float s = 0.5f * tile[j].mass]])

nbody_mutant(flipped_sign STEP step03_tiling CAUGHT_BY ${both_force_gates} trajectory
  WRONG "bodies repel each other"
  FIND [[const float s = tile[j].mass]] REPLACE [[const float s = -tile[j].mass]])

nbody_mutant(softening_left_out STEP step03_tiling CAUGHT_BY ${both_force_gates} trajectory
  WRONG "the softening is left out"
  FIND [[dz * dz + softening_squared]] REPLACE [[dz * dz + 1e-20f]])

nbody_mutant(swapped_axes STEP step03_tiling
  CAUGHT_BY ${both_force_gates} angular_momentum trajectory
  WRONG "the force along y is computed from the distance along z"
  FIND [[tile_ay += s * dy]] REPLACE [[tile_ay += s * dz]])

nbody_mutant(rsqrt_without_its_cube STEP step06_ldg_fastmath
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "mass / distance instead of mass / distance cubed"
  FIND [[tile[j].mass * inverse_distance * inverse_distance * inverse_distance]]
  REPLACE [[tile[j].mass * inverse_distance]])

# A body's distance to itself is zero, so what it contributes to its own force is zero times
# whatever stands before it: a wrong mass there does no harm.
nbody_mutant(self_interaction_with_a_wrong_mass STEP step06_ldg_fastmath
  WRONG "a body meets itself with five times its mass: m / eps³ times zero, no harm"
  FIND [[const float s = tile[j].mass *]]
  REPLACE [[const float s = (first + j == i ? 5.0f : 1.0f) * tile[j].mass *]])

nbody_mutant(self_interaction_skipped_in_every_tile STEP step06_ldg_fastmath
  CAUGHT_BY ${both_force_gates}
  WRONG "to skip itself, a body skips its index in every tile, others in the later ones"
  FIND [[const float s = tile[j].mass *]]
  REPLACE [[const float s = (j == static_cast<int>(threadIdx.x) ? 0.0f : 1.0f) * tile[j].mass *]])

nbody_mutant(dropped_tail_tile STEP step03_tiling CAUGHT_BY ${both_force_gates} trajectory
  WRONG "the last tile is left out"
  FIND [[first < n; first += kTileSize]] REPLACE [[first + kTileSize < n; first += kTileSize]])

nbody_mutant(unrolled_loop_stops_early STEP step04_unroll CAUGHT_BY ${both_force_gates}
  WRONG "the unrolled loop leaves out the last eight bodies of a tile"
  FIND [[j < kTileSize; ++j]] REPLACE [[j < kTileSize - kUnroll; ++j]])

nbody_mutant(phantom_bodies_in_the_tail STEP step06_ldg_fastmath
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "bodies past the end, at the origin, have a mass"
  FIND [[if (j >= n) return {0.0f, 0.0f, 0.0f, 0.0f};]]
  REPLACE [[if (j >= n) return {0.0f, 0.0f, 0.0f, 1e-3f};]])

# In plain mode the gates reject it too, but what lies behind the last system is not known.
nbody_mutant(last_tile_reads_past_the_end STEP step07_overlap
  MODE HOSTCUDA_STRICT_MEM=1 SAYS "out of bounds"
  WRONG "the last tile goes on into the next system, of the last system out of bounds"
  FIND [[tile[threadIdx.x] = load(positions, first + threadIdx.x, n);]]
  REPLACE [[tile[threadIdx.x] = load(positions, first + threadIdx.x, n + 100);]])

nbody_mutant(mass_of_the_wrong_body STEP step09_soa RUN --scenario solar-system --steps 3
  CAUGHT_BY ${both_force_gates} momentum
  WRONG "a body attracts with the mass of the next one"
  FIND [[load(bodies, MASS, first + threadIdx.x, n)]]
  REPLACE [[load(bodies, MASS, first + threadIdx.x + 1, n)]])

nbody_mutant(float4_w_not_set STEP step10_tiled2d_cublas
  CAUGHT_BY ${both_force_gates} mass trajectory
  WRONG "the w of a float4, which is the mass, is not set"
  FIND [[make_float4(b.x, b.y, b.z, b.mass)]] REPLACE [[make_float4(b.x, b.y, b.z, 0.0f)]])

nbody_mutant(last_chunk_lost STEP step10_tiled2d_cublas DEFINE LUF=256
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "the partial sums of the last chunk are not added"
  FIND [[const int chunks = (n + kChunk - 1) / kChunk;]] REPLACE [[const int chunks = n / kChunk;]])

# Memory for two chunks of 1024 sources a pass: one pass for 2048 bodies, two from there on. A pass
# that is too long or too short shows on one side of the boundary or the other.
foreach(bodies 2047 2048 2049)
  nbody_right(STEP step10_tiled2d_cublas DEFINE PARTIAL_BYTES=65536
    RUN --scenario galaxies --systems 1 --bodies ${bodies} --steps 1)
endforeach()

nbody_mutant(earlier_passes_lost STEP step10_tiled2d_cublas DEFINE PARTIAL_BYTES=65536
  RUN --scenario galaxies --systems 1 --bodies 2100 --steps 3
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "every pass over the chunks sets the sums instead of adding to them"
  FIND [[beta = keep ? 1.0f : 0.0f]] REPLACE [[beta = 0.0f * keep]])

# No step uses atomics. This is step 10 as it would be with one sum for all chunks that every block
# adds to, and without the atomicAdd that this would need: here, in place of the race, a block that
# comes late sets the sum to zero again.
nbody_mutant(atomics_left_out STEP step10_tiled2d_cublas DEFINE LUF=256
  MODE HOSTCUDA_ORDER=reverse PASSES_PLAIN
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "all chunks add to one sum, without atomics"
  FIND [[  column[0] = ax;
  column[all_bodies] = ay;
  column[2 * all_bodies] = az;
]]
  REPLACE [[  float* const sum = column - blockIdx.y * 3 * all_bodies;
  const float sums[] = {ax, ay, az};
  for (int c = 0; c < 3; ++c) column[c * all_bodies] = 0.0f;
  for (int c = 0; c < 3; ++c) sum[c * all_bodies] += sums[c];
]])

nbody_mutant(nan_in_one_body STEP step03_tiling
  CAUGHT_BY acceleration_rms kick_drift composition momentum angular_momentum trajectory
  WRONG "the force on one body is NaN"
  FIND [[ax += tile_ax;]] REPLACE [[ax += i == 599 ? nanf("") : tile_ax;]])
