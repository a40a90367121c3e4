# For every gate a mistake that no other gate notices: without the gate it would get through. Each is
# small, late, or both, as mistakes are that survive.

nbody_mutant(one_body_does_not_feel_another STEP step00_cpu_omp CAUGHT_BY acceleration_rms ONLY
  WRONG "the first body does not feel the last"
  FIND [[j < n; ++j]] REPLACE [[j < n - (i == 0); ++j]])

nbody_mutant(unsoftened_at_a_distance STEP step00_cpu_omp CAUGHT_BY acceleration_p99 ONLY
  WRONG "far bodies attract without softening, as if it were too small to matter there"
  FIND [[bodies[j].mass * inverse_distance * inverse_distance * inverse_distance;]]
  REPLACE [[bodies[j].mass * (distance_squared < 36.0f ? inverse_distance * inverse_distance * inverse_distance
      : 1.0f / ((distance_squared - softening_squared) * sqrtf(distance_squared - softening_squared)));]])

nbody_mutant(drift_in_the_coordinates_of_a_box STEP step00_cpu_omp CAUGHT_BY kick_drift ONLY
  RUN --scenario galaxies --systems 2 --bodies 600 --steps 2
  WRONG "positions are counted from the corner of a box, which costs bodies near its centre digits"
  FIND [[bodies[i].x += bodies[i].vx * dt;]]
  REPLACE [[bodies[i].x = (bodies[i].x + 8.0f + bodies[i].vx * dt) - 8.0f;]])

nbody_mutant(missing_barrier_in_a_run_of_one_step STEP step01_gpu_naive CAUGHT_BY composition ONLY
  RUN --scenario galaxies --systems 2 --bodies 600 --steps 1
  WRONG "the barrier after the drift is missing, and the run is too short to show it"
  FIND [[__syncthreads();  // nor may the next step read a position that has yet to drift]]
  REPLACE [[]])

nbody_mutant(masses_rounded STEP step02_layout CAUGHT_BY mass ONLY
  RUN --scenario solar-system --steps 3
  WRONG "masses come back with nine decimals, those of light planets with two digits"
  FIND [[velocities[k].z, positions[k].mass};]]
  REPLACE [[velocities[k].z, rintf(positions[k].mass * 1e9f) / 1e9f};]])

nbody_mutant(frame_of_the_first_body STEP step00_cpu_omp CAUGHT_BY momentum ONLY
  RUN --scenario galaxies --systems 2 --bodies 600 --steps 3 --dt 1e-4
  WRONG "from the third step on, velocities are taken relative to an accelerated body"
  FIND [[      update_position(system, static_cast<int>(k % n), run.dt);]]
  REPLACE [[      if (step >= 2) system[k % n].vx -= 1e-4f;
      update_position(system, static_cast<int>(k % n), run.dt);]])

nbody_mutant(force_turned STEP step00_cpu_omp CAUGHT_BY angular_momentum ONLY
  WRONG "from the third step on, forces are turned by a degree, as by a frame that rotates"
  FIND [[      update_velocity(system, static_cast<int>(k % n), n, run.dt, run.softening_squared);]]
  REPLACE [[      Body& body = system[k % n];
      const Body before = body;
      update_velocity(system, static_cast<int>(k % n), n, run.dt, run.softening_squared);
      if (step >= 2) {
        body.vx += 0.02f * (body.vy - before.vy);
        body.vy -= 0.02f * (body.vx - before.vx);
      }]])

nbody_mutant(softening_doubled_later STEP step00_cpu_omp CAUGHT_BY trajectory ONLY
  RUN --scenario galaxies --systems 2 --bodies 600 --steps 10
  WRONG "from the third step on, the softening is twice as long"
  FIND [[update_velocity(system, static_cast<int>(k % n), n, run.dt, run.softening_squared);]]
  REPLACE [[update_velocity(system, static_cast<int>(k % n), n, run.dt,
                      (step < 2 ? 1 : 4) * run.softening_squared);]])
