// Particles move to wherever they belong. A rank knows whom it sends to, and nobody knows who sends to it.

#include <cstdio>
#include <map>
#include <vector>
#include <wisp/wisp.hpp>

struct Particle {
  double position;
  int home;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const auto owner = [&](const Particle& particle) {
      return static_cast<int>(particle.position) % world.size();
    };

    std::map<int, std::vector<Particle>> leaving;
    for (int i = 0; i < 10; ++i) {
      const Particle particle{0.5 + 3 * world.rank() + 7 * i % 5, world.rank()};
      leaving[owner(particle)].push_back(particle);
    }
    std::vector<wisp::Outgoing> messages;
    for (const auto& [rank, particles] : leaving) {
      messages.push_back({rank, {particles.data(), particles.size() * sizeof(Particle), MPI_BYTE}});
    }

    wisp::Arrivals arrivals;
    world.exchange(messages, arrivals);

    // By the rank of the sender, whatever came first.
    int count = 0;
    for (const wisp::Arrivals::Block& block : arrivals) {
      for (const Particle& particle : block.as<Particle>()) {
        failed |= owner(particle) != world.rank() || particle.home != block.source ? 1 : 0;
        ++count;
      }
    }
    int all = 0;
    world.allreduce(wisp::buffer_of(count), wisp::buffer_of(all), MPI_SUM);
    failed |= all != 10 * world.size() ? 1 : 0;
    if (world.rank() == 0) {
      std::printf("%d of %d particles are on rank 0, from %zu ranks\n", count, all, arrivals.size());
    }
  }
  MPI_Finalize();
  return failed;
}
