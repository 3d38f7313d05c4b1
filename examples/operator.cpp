// Reductions with a function of one's own, over any trivially copyable type: mean and variance of values that
// are spread over the ranks, in one pass. And a sum whose bits do not depend on the machine.

#include <cstdio>
#include <wisp/wisp.hpp>

namespace {

struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  ///< of the distances from the mean
};

Moments join(const Moments& a, const Moments& b) {
  const double count = a.count + b.count;
  if (count == 0) return {};
  const double apart = b.mean - a.mean;
  return {count, a.mean + apart * b.count / count,
          a.squares + b.squares + apart * apart * a.count * b.count / count};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    Moments mine, all, before;
    for (int i = 0; i < 1000; ++i)
      mine = join(mine, {1, static_cast<double>(i * world.size() + world.rank()), 0});

    const wisp::Operator joined = wisp::Operator::on<Moments>(join);
    world.allreduce(wisp::item(std::as_const(mine)), wisp::item(all), joined);
    world.exscan(wisp::item(std::as_const(mine)), wisp::item(before), joined);
    std::printf("rank %d: %.0f values, mean %.1f, variance %.1f; before this rank %.0f\n", world.rank(),
                all.count, all.mean, all.squares / all.count, before.count);

    // Operands in one order, so that so many ranks get the same bits on every machine.
    const double share = 1.0 / (world.rank() + 3);
    double sum = 0;
    world.allreduce(wisp::buffer_of(share), wisp::buffer_of(sum), MPI_SUM, {.reproducible = true});
    if (world.rank() == 0) std::printf("sum %a\n", sum);
  }
  MPI_Finalize();
}
