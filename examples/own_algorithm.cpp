// An algorithm of one's own as a coroutine: each rank is in two overlapping groups, and works on both at
// once.

#include <cstdio>
#include <wisp/wisp.hpp>

namespace {

/// The largest value of a group, and then who has it first.
wisp::Task<> find_largest(wisp::Comm group, int value, int& owner) {
  int largest = 0;
  co_await wisp::allreduce(group, wisp::buffer_of(value), wisp::buffer_of(largest), MPI_MAX);
  const int candidate = value == largest ? group.rank() : group.size();
  co_await wisp::allreduce(group, wisp::buffer_of(candidate), wisp::buffer_of(owner), MPI_MIN);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    // Rows of four ranks, and columns: all ranks with the same place in their row.
    const int row_begin = world.rank() / 4 * 4;
    const wisp::Comm row = world.range(row_begin, std::min(row_begin + 3, world.size() - 1));
    const wisp::Comm column = world.range(world.rank() % 4, world.size() - 1, 4);

    const int value = world.rank() * 7 % 5;
    int in_row = -1, in_column = -1;
    world.run(wisp::when_all(find_largest(row, value, in_row), find_largest(column, value, in_column)));
    std::printf("rank %d: largest of its row at %d, of its column at %d\n", world.rank(), in_row, in_column);
  }
  MPI_Finalize();
}
