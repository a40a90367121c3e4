# Systems, devices and copies: the right numbers at the wrong place, or nowhere.
set(both_force_gates acceleration_rms acceleration_p99)

nbody_mutant(kernel_not_launched STEP step01_gpu_naive
  CAUGHT_BY ${both_force_gates} kick_drift trajectory
  WRONG "the kernel is not launched: the output is the input"
  FIND [[advance_systems<<<systems.count, kBlockSize>>>(bodies.get(), systems.bodies_per_system, run.steps,
                                                 run.dt, run.softening_squared);]] REPLACE [[]])

nbody_mutant(every_block_does_the_first_system STEP step02_layout
  CAUGHT_BY ${both_force_gates} kick_drift composition angular_momentum trajectory
  WRONG "blocks do not go to their own system"
  FIND [[all_positions + static_cast<size_t>(blockIdx.x) * n]] REPLACE [[all_positions]])

nbody_mutant(wrong_system_offset STEP step09_soa
  CAUGHT_BY ${both_force_gates} kick_drift momentum angular_momentum trajectory
  WRONG "systems are a component apart instead of seven"
  FIND [[return static_cast<size_t>(system) * n * kComponents;]]
  REPLACE [[return static_cast<size_t>(system) * n;]])

nbody_mutant(only_positions_downloaded STEP step02_layout
  CAUGHT_BY ${both_force_gates} kick_drift
  WRONG "velocities are not copied back"
  FIND [[CUDA_CHECK(cudaMemcpy(host_velocities.data(), velocities.get(), velocities.bytes(),
                        cudaMemcpyDeviceToHost));]]
  REPLACE [[]])

nbody_mutant(only_velocities_downloaded STEP step02_layout
  CAUGHT_BY kick_drift trajectory
  WRONG "positions are not copied back"
  FIND [[CUDA_CHECK(cudaMemcpy(host_positions.data(), positions.get(), positions.bytes(),
                        cudaMemcpyDeviceToHost));]]
  REPLACE [[]])

nbody_mutant(last_system_never_downloaded STEP step07_overlap
  CAUGHT_BY ${both_force_gates} kick_drift trajectory
  WRONG "the last system is not copied back"
  FIND [[  void download(int system) {
]]
  REPLACE [[  void download(int system) {
    if (system == systems - 1)
      return timeline.mark(system, nbody::Mark::downloaded, stream(system));
]])

set(four_on_three --scenario galaxies --systems 4 --bodies 300 --steps 3)

nbody_mutant(share_of_a_device_not_run STEP step08_multigpu RUN ${four_on_three}
  MODE HOSTCUDA_DEVICES=3 PASSES_PLAIN
  CAUGHT_BY ${both_force_gates} kick_drift trajectory
  WRONG "the second device launches nothing"
  FIND [[step < run.steps; ++step]] REPLACE [[device != 1 && step < run.steps; ++step]])

nbody_mutant(systems_dealt_twice STEP step08_multigpu RUN ${four_on_three}
  MODE HOSTCUDA_DEVICES=3 PASSES_PLAIN
  CAUGHT_BY ${both_force_gates} kick_drift trajectory
  WRONG "a device is dealt a system that another has too, and the last system is dealt to nobody"
  FIND [[first += count;]] REPLACE [[first = count;]])

nbody_mutant(remainder_not_dealt STEP step08_multigpu RUN ${four_on_three}
  MODE HOSTCUDA_DEVICES=3 PASSES_PLAIN
  CAUGHT_BY ${both_force_gates} kick_drift trajectory
  WRONG "systems that are left over are dealt to nobody"
  FIND [[systems.count / devices + (device < systems.count % devices)]]
  REPLACE [[systems.count / devices]])

nbody_mutant(device_not_set STEP step08_multigpu RUN ${four_on_three}
  MODE HOSTCUDA_DEVICES=3 PASSES_PLAIN SAYS "invalid resource handle"
  WRONG "host threads do not choose their device"
  FIND [[CUDA_CHECK(cudaSetDevice(pipeline.device));  // every host thread has a current device]]
  REPLACE [[]])

nbody_mutant(host_reads_device_memory STEP step09_soa MODE HOSTCUDA_STRICT_MEM=1 PASSES_PLAIN
  SAYS "host code accesses"
  WRONG "the host reads the result through a pointer to device memory"
  FIND [[const float* const from = &host_bodies[first(system)];]]
  REPLACE [[const float* const from = bodies.get() + first(system);]])
