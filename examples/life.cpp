// Conway's game of life on a torus of ranks: a 9-point stencil. Edges and corners of every rank's field go to
// all eight neighbors in one operation, straight from and to the field.

#include <array>
#include <cstdio>
#include <vector>
#include <wisp/wisp.hpp>

namespace {

constexpr int n = 8;  // cells of a rank in each dimension; a border of one cell lies around them

/// The part of a field whose cells have coordinate `edge` where c is not 0, and are all of 1 … n where it is.
MPI_Datatype part_of_field(std::span<const int> c, std::array<int, 2> edge) {
  const int sizes[] = {n + 2, n + 2};
  const int lengths[] = {c[0] == 0 ? n : 1, c[1] == 0 ? n : 1};
  const int starts[] = {c[0] == 0 ? 1 : edge[0], c[1] == 0 ? 1 : edge[1]};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes, lengths, starts, MPI_ORDER_C, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  return type;
}

char next_state(char alive, int neighbors) {
  return neighbors == 3 || (alive == 1 && neighbors == 2) ? 1 : 0;
}

char first_state(int x, int y) {
  const unsigned mixed = (static_cast<unsigned>(x) * 40503U + static_cast<unsigned>(y)) * 2654435761U;
  return mixed >> 24 < 100 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    std::vector<int> dims(2);
    MPI_Dims_create(world.size(), 2, dims.data());
    const wisp::Stencil stencil(wisp::Torus(dims), wisp::moore(2, 1));
    const wisp::Neighborhood neighbors = wisp::Neighborhood::create(world, stencil);

    // What goes to offset c lies at that side of the field; what comes from -c goes to the border there.
    std::vector<MPI_Datatype> sent, received;
    for (int i = 0; i < neighbors.size(); ++i) {
      const std::span<const int> c = stencil.offsets()[i];
      sent.push_back(part_of_field(c, {c[0] > 0 ? n : 1, c[1] > 0 ? n : 1}));
      received.push_back(part_of_field(c, {c[0] > 0 ? 0 : n + 1, c[1] > 0 ? 0 : n + 1}));
    }
    const std::vector<int> counts(sent.size(), 1), places(sent.size(), 0);

    const std::vector<int> here = neighbors.torus().coordinates(world.rank());
    std::vector<char> field((n + 2) * (n + 2));
    const auto at = [](int x, int y) { return static_cast<std::size_t>(x * (n + 2) + y); };
    for (int x = 1; x <= n; ++x) {
      for (int y = 1; y <= n; ++y) field[at(x, y)] = first_state(here[0] * n + x - 1, here[1] * n + y - 1);
    }

    wisp::Request exchange =
        neighbors.neighbor_alltoallw_init(wisp::ConstBlocks(field.data(), counts, places, sent),
                                          wisp::Blocks(field.data(), counts, places, received));
    constexpr int steps = 12;
    for (int step = 0; step < steps; ++step) {
      exchange.start();
      exchange.wait();
      const std::vector<char> old = field;
      for (int x = 1; x <= n; ++x) {
        for (int y = 1; y <= n; ++y) {
          int alive = -old[at(x, y)];
          for (int dx = -1; dx <= 1; ++dx) {
            for (int dy = -1; dy <= 1; ++dy) alive += old[at(x + dx, y + dy)];
          }
          field[at(x, y)] = next_state(old[at(x, y)], alive);
        }
      }
    }

    // The whole torus on one rank, as a reference.
    const int rows = dims[0] * n, columns = dims[1] * n;
    const auto place = [&](int x, int y) {
      return static_cast<std::size_t>((x + rows) % rows * columns + (y + columns) % columns);
    };
    std::vector<char> whole(static_cast<std::size_t>(rows * columns));
    for (int x = 0; x < rows; ++x) {
      for (int y = 0; y < columns; ++y) whole[place(x, y)] = first_state(x, y);
    }
    for (int step = 0; step < steps; ++step) {
      const std::vector<char> old = whole;
      for (int x = 0; x < rows; ++x) {
        for (int y = 0; y < columns; ++y) {
          int alive = -old[place(x, y)];
          for (int dx = -1; dx <= 1; ++dx) {
            for (int dy = -1; dy <= 1; ++dy) alive += old[place(x + dx, y + dy)];
          }
          whole[place(x, y)] = next_state(old[place(x, y)], alive);
        }
      }
    }
    int living = 0;
    for (int x = 1; x <= n; ++x) {
      for (int y = 1; y <= n; ++y) {
        living += field[at(x, y)];
        wrong += field[at(x, y)] != whole[place(here[0] * n + x - 1, here[1] * n + y - 1)] ? 1 : 0;
      }
    }
    int all_living = 0;
    world.reduce(wisp::buffer_of(living), wisp::buffer_of(all_living), MPI_SUM, 0);
    if (world.rank() == 0) {
      std::printf("%d of %d cells live after %d steps\n%s", all_living, rows * columns, steps,
                  neighbors.describe(wisp::NeighborPattern::alltoall, n).c_str());
    }
    for (std::vector<MPI_Datatype>* types : {&sent, &received}) {
      for (MPI_Datatype& type : *types) MPI_Type_free(&type);
    }
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
