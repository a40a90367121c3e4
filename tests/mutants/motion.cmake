# Forces are right, what is made of them is not.

nbody_mutant(drift_by_the_old_velocity STEP step00_cpu_omp CAUGHT_BY kick_drift trajectory
  WRONG "positions drift by the velocities of before the kick"
  FIND [[bodies[i].vx += ax * dt;]] REPLACE [[bodies[i].x -= ax * dt * dt, bodies[i].vx += ax * dt;]])

nbody_mutant(drift_before_kick STEP step05_streams CAUGHT_BY kick_drift trajectory
  WRONG "the two kernels of a step are launched in the wrong order"
  FIND [[      update_velocities<<<blocks, kBlockSize, 0, stream(system)>>>(p, v, n, run.dt,
                                                                   run.softening_squared);
      update_positions<<<blocks, kBlockSize, 0, stream(system)>>>(p, v, n, run.dt);]]
  REPLACE [[      update_positions<<<blocks, kBlockSize, 0, stream(system)>>>(p, v, n, run.dt);
      update_velocities<<<blocks, kBlockSize, 0, stream(system)>>>(p, v, n, run.dt,
                                                                   run.softening_squared);]])

nbody_mutant(drift_before_all_forces_are_read STEP step00_cpu_omp
  CAUGHT_BY acceleration_rms acceleration_p99 kick_drift
  WRONG "a body drifts before the bodies after it have felt it where it was"
  FIND [[      update_velocity(system, static_cast<int>(k % n), n, run.dt, run.softening_squared);
    }
#pragma omp parallel for schedule(static)
    for (long long k = 0; k < total; ++k) {
      Body* const system = systems.bodies.data() + k / n * n;
]]
  REPLACE [[      update_velocity(system, static_cast<int>(k % n), n, run.dt, run.softening_squared);
]])

nbody_mutant(kick_forgets_the_velocity STEP step00_cpu_omp
  CAUGHT_BY kick_drift angular_momentum trajectory
  WRONG "along y, a kick replaces the velocity instead of changing it"
  FIND [[bodies[i].vy += ay * dt;]] REPLACE [[bodies[i].vy = ay * dt;]])

nbody_mutant(half_a_kick_missing STEP step05_streams
  CAUGHT_BY acceleration_rms acceleration_p99 angular_momentum trajectory
  WRONG "along z, bodies get half of each kick"
  FIND [[velocities[i].z += az * dt;]] REPLACE [[velocities[i].z += az * (0.5f * dt);]])
