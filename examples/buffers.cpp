// What can be sent: an array of structs, one value, a column and a block of a matrix, each as it lies in
// memory.

#include <cstdio>
#include <vector>
#include <wisp/wisp.hpp>

struct Particle {
  double position[3];
  float mass;
  int cell;  // known from the position: it does not travel
};

template <>
inline constexpr auto wisp::members_of<Particle> = std::tuple(&Particle::position, &Particle::mass);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = true;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    const int root = 0;

    const Particle mine{{1.0, 2.0, 3.0}, static_cast<float>(world.rank()), 7};
    std::vector<Particle> all(static_cast<std::size_t>(world.size()), Particle{{}, -1, -1});
    world.allgather(wisp::buffer_of(mine), all);
    right = all.back().mass == static_cast<float>(world.size() - 1) && all.back().cell == -1;

    // A matrix of 4 rows and 6 columns: its last column, then the block of rows 1 and 2 and columns 0 to 2.
    const std::size_t rows = 4;
    const std::size_t columns = 6;
    std::vector<double> matrix(rows * columns, world.rank() == root ? 5.0 : 0.0);
    world.bcast(wisp::Strided(&matrix[columns - 1], rows, columns), root);
    world.bcast(wisp::Strided(&matrix[columns], 2, columns, 3), root);
    double sum = 0;
    for (const double value : matrix) sum += value;
    right = right && sum == 5.0 * (world.rank() == root ? 24 : 10);
    if (world.rank() == root)
      std::printf("%d structs, a column and a block: %s\n", world.size(), right ? "right" : "wrong");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
