// What else can be done with an order across ranks: words, pairs, the largest, places, shares.

#include <cstdio>
#include <random>
#include <string>
#include <wisp/wisp.hpp>

namespace {

struct Reading {
  double temperature;
  int station;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    std::mt19937 random(static_cast<unsigned>(world.rank()));

    // By a member, and stable: readings of one temperature stay in their order.
    std::vector<Reading> readings(1000);
    for (Reading& r : readings) r = {static_cast<double>(random() % 40), static_cast<int>(random() % 7)};
    wisp::sort(world, readings, wisp::Ascending{}, &Reading::temperature, {.stable = true});

    // Strings of any length; what they begin with alike is sent once.
    std::vector<std::string> names;
    for (int i = 0; i < 500; ++i) names.push_back("/data/run/" + std::to_string(random() % 100000));
    wisp::sort(world, names);

    // One of each, and the same share on every rank again.
    wisp::unique(world, readings,
                 [](const Reading& a, const Reading& b) { return a.temperature == b.temperature; });
    wisp::rebalance(world, readings);

    // The median and the three largest, without sorting; where each element would go.
    std::vector<double> values(2000);
    for (double& x : values) x = std::normal_distribution<double>()(random);
    const auto all = static_cast<std::uint64_t>(world.size()) * values.size();
    const double median = wisp::nth_element(world, values, all / 2);
    const std::vector<double> largest = wisp::top_k(world, values, 3);
    const std::vector<std::uint64_t> order = wisp::argsort(world, values);

    // Values take their keys' way.
    std::vector<std::uint64_t> from = order;
    wisp::sort_by_key(world, values, from);

    if (world.rank() == 0) {
      std::printf("%zu names here, the first %s; %zu temperatures; median %.3f, largest %.3f\n", names.size(),
                  names.front().c_str(), readings.size(), median, largest.front());
    }
  }
  MPI_Finalize();
}
