// thread_pool -- std::thread: threads are made for every time step, or a pool waits for tasks.
//
// Making a thread takes tens of microseconds, as long as a time step with few bodies. The threads
// of a pool live as long as the run and take tasks from a queue.
//
// Parent: step00_cpu_omp.   Run: thread_pool --scenario plummer --bodies 1000 --steps 100
#include <omp.h>

#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

#include "nbody/step.h"

namespace {

using nbody::Body;
using Task = std::function<void()>;

constexpr bool kPool = TUNABLE(POOL, 1);  // false: threads are made and joined in every step

class Pool {
 public:
  explicit Pool(int threads) {
    for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns when all tasks are done.
  void run(const std::vector<Task>& tasks) {
    std::unique_lock lock(mutex_);
    for (const Task& task : tasks) tasks_.push(&task);
    left_ = tasks.size();
    changed_.notify_all();
    done_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return over_ || !tasks_.empty(); });
      if (over_) return;
      const Task* const task = tasks_.front();
      tasks_.pop();
      lock.unlock();
      (*task)();
      lock.lock();
      if (--left_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, done_;
  std::queue<const Task*> tasks_;
  std::size_t left_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;  // declared last, because they use everything above
};

void run_in_new_threads(const std::vector<Task>& tasks) {
  std::vector<std::thread> threads;
  for (const Task& task : tasks) threads.emplace_back(task);
  for (std::thread& thread : threads) thread.join();
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
void update_velocity(Body* bodies, int i, int n, float dt, float softening_squared) {
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = bodies[j].x - bodies[i].x;
    const float dy = bodies[j].y - bodies[i].y;
    const float dz = bodies[j].z - bodies[i].z;
    const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
    const float inverse_distance = 1.0f / sqrtf(distance_squared);
    const float s = bodies[j].mass * inverse_distance * inverse_distance * inverse_distance;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  bodies[i].vx += ax * dt;
  bodies[i].vy += ay * dt;
  bodies[i].vz += az * dt;
}

// Kicks the bodies from `first` to `last` - 1, numbered across all systems.
void kick(const nbody::Run& run, nbody::Systems& systems, long long first, long long last) {
  const int n = systems.bodies_per_system;
  for (long long k = first; k < last; ++k) {
    Body* const system = systems.bodies.data() + k / n * n;
    update_velocity(system, static_cast<int>(k % n), n, run.dt, run.softening_squared);
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const nbody::Stopwatch stopwatch;
  const auto all = static_cast<long long>(systems.bodies.size());
  const int threads = omp_get_max_threads();
  std::vector<Task> tasks;
  for (int k = 0; k < threads; ++k) {
    tasks.emplace_back([&run, &systems, all, k, threads] {
      kick(run, systems, all * k / threads, all * (k + 1) / threads);
    });
  }
  Pool pool(kPool ? threads : 0);
  for (int step = 0; step < run.steps; ++step) {
    if constexpr (kPool) {
      pool.run(tasks);
    } else {
      run_in_new_threads(tasks);
    }
    // Drift: x_i += v_i dt, after all forces of the step have used the old position.
    for (Body& body : systems.bodies) {
      body.x += body.vx * run.dt;
      body.y += body.vy * run.dt;
      body.z += body.vz * run.dt;
    }
  }
  return {.compute = stopwatch.seconds()};
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "thread_pool", .parent = "step00_cpu_omp"}, simulate, argc,
                          argv);
}
