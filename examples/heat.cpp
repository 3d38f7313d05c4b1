// Heat diffusion in a box, a 27-point stencil on a mesh of ranks: what lies outside stays cold. Planes, edges
// and corners of every rank's part go straight from and to its array, while the inner points are computed.

#include <array>
#include <cstdio>
#include <vector>
#include <wisp/wisp.hpp>

namespace {

constexpr int n = 6;  // points of a rank in each dimension; a border of one point lies around them

std::size_t at(int x, int y, int z) {
  return static_cast<std::size_t>((x * (n + 2) + y) * (n + 2) + z);
}

/// The part of the array whose points have coordinate edge[j] where c[j] is not 0, and are all of 1 … n where
/// it is: a plane, an edge, or a corner.
MPI_Datatype part_of_array(std::span<const int> c, std::array<int, 3> edge) {
  const int sizes[] = {n + 2, n + 2, n + 2};
  int lengths[3], starts[3];
  for (std::size_t j = 0; j < 3; ++j) {
    lengths[j] = c[j] == 0 ? n : 1;
    starts[j] = c[j] == 0 ? 1 : edge[j];
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes, lengths, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

double first_heat(int x, int y, int z) {
  return (x * 31 + y * 17 + z * 7) % 11;
}

/// The mean over a point and its 26 neighbors.
template <class At>
double mean_around(const std::vector<double>& heat, int x, int y, int z, At place) {
  double sum = 0;
  for (int dx = -1; dx <= 1; ++dx) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dz = -1; dz <= 1; ++dz) sum += heat[place(x + dx, y + dy, z + dz)];
    }
  }
  return sum / 27;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  {
    const wisp::Comm world = wisp::Comm::duplicate(MPI_COMM_WORLD);
    std::vector<int> dims(3);
    MPI_Dims_create(world.size(), 3, dims.data());
    const wisp::Stencil stencil(wisp::Torus(dims, {0, 0, 0}), wisp::moore(3, 1));
    const wisp::Neighborhood neighbors = wisp::Neighborhood::create(world, stencil);

    std::vector<MPI_Datatype> sent, received;
    for (int i = 0; i < neighbors.size(); ++i) {
      const std::span<const int> c = stencil.offsets()[i];
      std::array<int, 3> side{}, border{};
      for (std::size_t j = 0; j < 3; ++j) {
        side[j] = c[j] > 0 ? n : 1;
        border[j] = c[j] > 0 ? 0 : n + 1;
      }
      sent.push_back(part_of_array(c, side));
      received.push_back(part_of_array(c, border));
    }
    const std::vector<int> counts(sent.size(), 1), places(sent.size(), 0);

    const std::vector<int> here = neighbors.torus().coordinates(world.rank());
    std::vector<double> heat((n + 2) * (n + 2) * (n + 2));
    const auto for_each_point = [](auto body) {
      for (int x = 1; x <= n; ++x) {
        for (int y = 1; y <= n; ++y) {
          for (int z = 1; z <= n; ++z) body(x, y, z);
        }
      }
    };
    for_each_point([&](int x, int y, int z) {
      heat[at(x, y, z)] = first_heat(here[0] * n + x, here[1] * n + y, here[2] * n + z);
    });

    constexpr int steps = 5;
    std::vector<double> next = heat;
    for (int step = 0; step < steps; ++step) {
      wisp::Request exchange =
          neighbors.ineighbor_alltoallw(wisp::ConstBlocks(heat.data(), counts, places, sent),
                                        wisp::Blocks(heat.data(), counts, places, received));
      const auto is_inner = [](int x, int y, int z) {
        return x > 1 && x < n && y > 1 && y < n && z > 1 && z < n;
      };
      for_each_point([&](int x, int y, int z) {
        if (is_inner(x, y, z)) next[at(x, y, z)] = mean_around(heat, x, y, z, at);
      });
      exchange.wait();
      for_each_point([&](int x, int y, int z) {
        if (!is_inner(x, y, z)) next[at(x, y, z)] = mean_around(heat, x, y, z, at);
      });
      for_each_point([&](int x, int y, int z) { heat[at(x, y, z)] = next[at(x, y, z)]; });
    }

    // The whole box on one rank, with its own cold border, as a reference.
    const std::array<int, 3> size = {dims[0] * n, dims[1] * n, dims[2] * n};
    const auto whole_at = [&](int x, int y, int z) {
      return static_cast<std::size_t>((x * (size[1] + 2) + y) * (size[2] + 2) + z);
    };
    std::vector<double> whole(whole_at(size[0] + 1, size[1] + 1, size[2] + 1) + 1);
    for (int step = -1; step < steps; ++step) {
      const std::vector<double> old = whole;
      for (int x = 1; x <= size[0]; ++x) {
        for (int y = 1; y <= size[1]; ++y) {
          for (int z = 1; z <= size[2]; ++z) {
            whole[whole_at(x, y, z)] = step < 0 ? first_heat(x, y, z) : mean_around(old, x, y, z, whole_at);
          }
        }
      }
    }
    for_each_point([&](int x, int y, int z) {
      const double due = whole[whole_at(here[0] * n + x, here[1] * n + y, here[2] * n + z)];
      wrong += heat[at(x, y, z)] != due ? 1 : 0;
    });
    int wrong_anywhere = 0;
    world.reduce(wisp::buffer_of(wrong), wisp::buffer_of(wrong_anywhere), MPI_SUM, 0);
    if (world.rank() == 0) {
      std::printf("%d x %d x %d points, %d steps: %s\n", size[0], size[1], size[2], steps,
                  wrong_anywhere == 0 ? "as on one rank" : "differs from one rank");
    }
    for (std::vector<MPI_Datatype>* types : {&sent, &received}) {
      for (MPI_Datatype& type : *types) MPI_Type_free(&type);
    }
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
