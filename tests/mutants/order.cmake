# Something happens before what it needs has happened.
set(both_force_gates acceleration_rms acceleration_p99)

nbody_mutant(missing_barrier_before_the_tile_is_read STEP step03_tiling
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "threads read a tile that is not all there"
  FIND [[__syncthreads();  // the whole tile must be there before anyone reads it]] REPLACE [[]])

nbody_mutant(missing_barrier_at_the_end_of_the_tile_loop STEP step03_tiling
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "threads overwrite a tile that others still read"
  FIND [[__syncthreads();  // nobody may overwrite the tile while a slower thread still reads it]]
  REPLACE [[]])

nbody_mutant(missing_barrier_before_the_drift STEP step01_gpu_naive
  CAUGHT_BY ${both_force_gates} kick_drift
  WRONG "bodies drift while others still read where they were"
  FIND [[__syncthreads();  // no body may drift before every force of this step has read its position]]
  REPLACE [[]])

nbody_mutant(missing_barrier_after_the_drift STEP step01_gpu_naive
  CAUGHT_BY composition
  WRONG "the next step reads positions that have yet to drift"
  FIND [[__syncthreads();  // nor may the next step read a position that has yet to drift]]
  REPLACE [[]])

nbody_mutant(barrier_that_some_threads_do_not_reach STEP step03_tiling
  SAYS "__syncthreads"
  WRONG "only the threads that load the tile wait for it"
  FIND [[if (threadIdx.x < kTileSize) tile[threadIdx.x] = positions[first + threadIdx.x];
    __syncthreads();]]
  REPLACE [[if (threadIdx.x < kTileSize) {
      tile[threadIdx.x] = positions[first + threadIdx.x];
      __syncthreads();
    }]])

nbody_mutant(threads_leave_before_the_tile_is_loaded STEP step06_ldg_fastmath
  CAUGHT_BY ${both_force_gates} trajectory
  WRONG "threads without a body leave, and with them their share of every tile"
  FIND [[  float ax = 0.0f, ay = 0.0f, az = 0.0f;
]]
  REPLACE [[  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  if (i >= n) return;
]])

nbody_mutant(drift_in_another_stream STEP step05_streams MODE HOSTCUDA_STREAMS=lazy PASSES_PLAIN
  CAUGHT_BY kick_drift trajectory
  WRONG "kick and drift are in different streams, and nothing orders them"
  FIND [[update_positions<<<blocks, kBlockSize, 0, stream(system)>>>]]
  REPLACE [[update_positions<<<blocks, kBlockSize, 0, stream(system + 1)>>>]])

nbody_mutant(download_before_the_kernels_end STEP step07_overlap
  MODE HOSTCUDA_STREAMS=lazy PASSES_PLAIN
  CAUGHT_BY ${both_force_gates} kick_drift trajectory
  WRONG "velocities are downloaded in a stream that does not wait for the kernels"
  FIND [[n * sizeof(Velocity), cudaMemcpyDeviceToHost, stream(system)));]]
  REPLACE [[n * sizeof(Velocity), cudaMemcpyDeviceToHost, stream(system + systems)));]])

nbody_mutant(result_read_too_early STEP step07_overlap MODE HOSTCUDA_STREAMS=lazy PASSES_PLAIN
  CAUGHT_BY ${both_force_gates} kick_drift trajectory
  WRONG "the host reads the result without waiting for the device"
  FIND [[CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what streams still write]]
  REPLACE [[]])

nbody_mutant(pinned_buffer_reused_too_early STEP step07_overlap
  MODE HOSTCUDA_STREAMS=lazy PASSES_PLAIN
  CAUGHT_BY kick_drift composition angular_momentum trajectory
  WRONG "the host writes into a pinned buffer that is still being uploaded"
  FIND [[for (int system = 0; system < systems; ++system) upload(system);]]
  REPLACE [[for (int system = 0; system < systems; ++system) {
      upload(system);
      for (int i = 0; i < n; ++i) host_velocities[first(system) + i] = {};
    }]])
