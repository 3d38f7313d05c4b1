// Buffers of what users have: structs, one value, rows, columns and blocks of matrices.

#include "wisp/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "wisp/collectives.hpp"
#include "wisp/comm.hpp"
#include "wisp/error.hpp"
#include "world.hpp"

namespace wisp::test {

enum class Kind : std::uint8_t { light, heavy };

struct Point {
  double x, y;
};

struct Particle {
  char gap_behind = 'g';
  Point at{};
  float weights[2][3]{};
  std::array<std::int16_t, 3> counts{};
  Kind kind = Kind::light;
  int left_out = 0;
};

/// Of the standard library's only newer compilers have it.
template <class T, int dimensions>
struct View {
  T* data;
  std::array<std::size_t, 2> extents;
  std::array<std::size_t, 2> strides;

  static constexpr std::size_t rank() { return dimensions; }
  T* data_handle() const { return data; }
  std::size_t extent(std::size_t i) const { return extents[i]; }
  std::size_t stride(std::size_t i) const { return strides[i]; }
};

struct Item {
  int key = 0;
  int value = 0;
};

struct Base {
  int first = 1;
};
struct Other {
  int second = 2;
};
struct Derived : Base, Other {
  const double third = 3;
  int fourth = 4;
};

}  // namespace wisp::test

template <>
inline constexpr auto wisp::members_of<wisp::test::Derived> = std::tuple(&wisp::test::Derived::first,
                                                                         &wisp::test::Derived::second,
                                                                         &wisp::test::Derived::third);
template <>
inline constexpr auto wisp::members_of<wisp::test::Item> = std::tuple(&wisp::test::Item::value,
                                                                      &wisp::test::Item::key);
template <>
inline constexpr auto wisp::members_of<wisp::test::Point> = std::tuple(&wisp::test::Point::x,
                                                                       &wisp::test::Point::y);
template <>
inline constexpr auto wisp::members_of<wisp::test::Particle> = std::tuple(&wisp::test::Particle::gap_behind,
                                                                          &wisp::test::Particle::at,
                                                                          &wisp::test::Particle::weights,
                                                                          &wisp::test::Particle::counts,
                                                                          &wisp::test::Particle::kind);

namespace wisp {
namespace {

using test::Kind;
using test::Particle;
using test::View;
using test::world;

TEST(BufferTest, StructsTravelByTheirMembers) {
  const Comm comm = world();
  std::vector<Particle> all(static_cast<std::size_t>(comm.size()));
  Particle mine{static_cast<char>('a' + comm.rank()),
                {comm.rank() + 0.5, -1.0},
                {{1, 2, 3}, {4, 5, 6}},
                {7, 8, static_cast<std::int16_t>(comm.rank())},
                Kind::heavy,
                5};
  for (Particle& one : all) one.left_out = -1;
  comm.allgather(buffer_of(mine), all);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Particle& one = all[static_cast<std::size_t>(rank)];
    EXPECT_EQ(one.gap_behind, 'a' + rank);
    EXPECT_EQ(one.at.x, rank + 0.5);
    EXPECT_EQ(one.weights[1][2], 6);
    EXPECT_EQ(one.counts[2], rank);
    EXPECT_EQ(one.kind, Kind::heavy);
    EXPECT_EQ(one.left_out, -1) << "what is no member of the list stays as it is";
  }
  EXPECT_EQ(datatype_of<Particle>(), datatype_of<Particle>()) << "made once";
  int size = 0;
  MPI_Type_size(datatype_of<Particle>(), &size);
  EXPECT_EQ(size, 1 + 2 * 8 + 6 * 4 + 3 * 2 + 1);
}

TEST(BufferTest, StructsArriveAsTheyWereSent) {
  const Comm comm = world();
  std::vector<Particle> particles(4);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles[i].at = {static_cast<double>(i), 0.5 * comm.rank()};
    particles[i].kind = Kind::heavy;
  }
  std::vector<test::Item> items(3);
  for (int i = 0; i < 3; ++i) items[static_cast<std::size_t>(i)] = {i, 100 * comm.rank() + i};
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<Outgoing> messages = {{next, particles}, {next, items}};
  Arrivals arrivals;
  comm.exchange(messages, arrivals);
  ASSERT_EQ(arrivals.size(), 2u);
  const auto came = arrivals[0].as<Particle>();
  ASSERT_EQ(came.size(), particles.size());
  for (std::size_t i = 0; i < came.size(); ++i) {
    EXPECT_EQ(came[i].at.x, static_cast<double>(i));
    EXPECT_EQ(came[i].at.y, 0.5 * previous);
    EXPECT_EQ(came[i].kind, Kind::heavy);
  }
  const auto ordered = arrivals[1].as<test::Item>();
  ASSERT_EQ(ordered.size(), items.size());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ordered[static_cast<std::size_t>(i)].key, i);
    EXPECT_EQ(ordered[static_cast<std::size_t>(i)].value, 100 * previous + i);
  }
  EXPECT_THROW(static_cast<void>(arrivals[1].as<Particle>()), Error);
}

TEST(BufferTest, AMergeSeesStructsAsTheyLieInMemory) {
  const Comm comm = world();
  const int p = comm.size();
  std::vector<test::Item> mine(3), all(static_cast<std::size_t>(3 * p));
  for (int i = 0; i < 3; ++i) mine[static_cast<std::size_t>(i)] = {i * p + comm.rank(), -comm.rank()};
  const Merge by_key = [](void* first, void* first_end, void* second, void* second_end, void* result) {
    const auto at = [](void* place) { return static_cast<test::Item*>(place); };
    std::merge(at(first), at(first_end), at(second), at(second_end), at(result),
               [](const test::Item& a, const test::Item& b) { return a.key < b.key; });
  };
  comm.allgatherm(mine, all, by_key);
  for (int i = 0; i < 3 * p; ++i) {
    EXPECT_EQ(all[static_cast<std::size_t>(i)].key, i);
    EXPECT_EQ(all[static_cast<std::size_t>(i)].value, -(i % p));
  }
}

// Names of types do not tell types of unnamed namespaces apart, with some compilers.
TEST(BufferTest, DatatypesAreKeptByTheirLayout) {
  EXPECT_EQ(datatype_of<int[2]>(), (datatype_of<std::array<int, 2>>()));
  EXPECT_NE(datatype_of<int[2]>(), datatype_of<test::Item>());
  EXPECT_NE(datatype_of<int[2]>(), datatype_of<int[3]>());
}

TEST(BufferTest, CountsWithoutASignAreNeverNegative) {
  const std::vector<std::uint32_t> numbers = {1, 3'000'000'000};
  const Integers integers(numbers);
  EXPECT_EQ(integers[0], 1);
  EXPECT_EQ(integers[1], 3'000'000'000);
  EXPECT_EQ(Integers(std::vector<int>{-1})[0], -1);
  EXPECT_EQ(Integers(std::vector<std::int64_t>{-1})[0], -1);
}

TEST(BufferTest, MembersOfBasesAndConstantOnesTravelToo) {
  const test::Derived whole;
  int size = 0;
  MPI_Type_size(datatype_of<test::Derived>(), &size);
  EXPECT_EQ(size, 4 + 4 + 8);
  std::vector<std::byte> packed(static_cast<std::size_t>(size));
  int position = 0;
  MPI_Pack(&whole, 1, datatype_of<test::Derived>(), packed.data(), size, &position, MPI_COMM_SELF);
  int numbers[2] = {};
  double third = 0;
  std::memcpy(numbers, packed.data(), sizeof numbers);
  std::memcpy(&third, packed.data() + sizeof numbers, sizeof third);
  EXPECT_EQ(numbers[0], 1);
  EXPECT_EQ(numbers[1], 2);
  EXPECT_EQ(third, 3);
  EXPECT_EQ(datatype_of<const double>(), MPI_DOUBLE);
}

constexpr std::size_t rows = 3;
constexpr std::size_t columns = 5;

std::vector<int> matrix_of(int first) {
  std::vector<int> matrix(rows * columns);
  std::iota(matrix.begin(), matrix.end(), first);
  return matrix;
}

TEST(BufferTest, ColumnsAndBlocksAreSentWithoutACopy) {
  const Comm comm = world();
  std::vector<int> matrix = matrix_of(comm.rank() == 0 ? 100 : 0);
  std::vector<int> expected = matrix_of(0);
  const std::vector<int> of_root = matrix_of(100);
  // Column 2, then the block of columns 3 and 4 in rows 1 and 2.
  comm.bcast(Strided(matrix.data() + 2, rows, columns), 0);
  comm.bcast(Strided(matrix.data() + columns + 3, 2, columns, 2), 0);
  for (const std::size_t place : {2UL, 7UL, 12UL, 8UL, 9UL, 13UL, 14UL}) expected[place] = of_root[place];
  EXPECT_EQ(matrix, comm.rank() == 0 ? of_root : expected);
}

TEST(BufferTest, AnElementMayBeAnArray) {
  const Comm comm = world();
  const int p = comm.size();
  using Point = std::array<double, 3>;
  const auto point = [](int rank, int i) { return Point{rank * 1.0, i * 1.0, rank * 0.5 + i}; };
  std::vector<Point> mine;
  std::vector<int> counts;
  std::vector<Point> expected;
  for (int r = 0; r < p; ++r) {
    counts.push_back(r % 3);
    for (int i = 0; i < r % 3; ++i) expected.push_back(point(r, i));
  }
  for (int i = 0; i < comm.rank() % 3; ++i) mine.push_back(point(comm.rank(), i));
  std::vector<Point> all(expected.size());
  comm.allgatherv(mine, {all, counts});
  EXPECT_EQ(all, expected);

  int table[2][3][2] = {};
  if (comm.rank() == 0) {
    for (int i = 0; i < 12; ++i) (&table[0][0][0])[i] = i;
  }
  comm.bcast(table, 0);
  for (int i = 0; i < 12; ++i) EXPECT_EQ((&table[0][0][0])[i], i);
  EXPECT_EQ(ConstBuffer(table).count, 2U);
  int sums_of_table[2][3][2];
  comm.allreduce(buffer_of(table), buffer_of(sums_of_table), MPI_SUM);
  for (int i = 0; i < 12; ++i) EXPECT_EQ((&sums_of_table[0][0][0])[i], p * i);

  std::array<std::array<Particle, 2>, 2> particles{};
  if (comm.rank() == 0) particles[1][1].weights[1][2] = 7;
  comm.bcast(particles, 0);
  EXPECT_EQ(particles[1][1].weights[1][2], 7);
  EXPECT_EQ(datatype_of<Point>(), datatype_of<const Point>());
  std::vector<Point> sums(2);
  const std::vector<Point> two(2, point(comm.rank(), 1));
  EXPECT_THROW(comm.allreduce(two, sums, MPI_SUM), Error);
  comm.allreduce(items(std::span(two)), items(std::span(sums)),
                 Operator::on<Point>([](const Point& a, const Point& b) {
                   return Point{a[0] + b[0], a[1] + b[1], a[2] + b[2]};
                 }));
  EXPECT_EQ(sums[1][0], p * (p - 1) / 2);
  EXPECT_EQ(sums[1][1], p);
}

TEST(BufferTest, InPlaceIsAnyKindOfBuffer) {
  const ConstBuffer input = in_place();
  const Buffer output = in_place();
  const ConstBlocks blocks = in_place();
  EXPECT_TRUE(is_in_place(input) && is_in_place(output) && is_in_place(blocks));
  EXPECT_TRUE(is_in_place(buffer_in_place()) && is_in_place(blocks_in_place()));
}

TEST(BufferTest, AColumnOfOneRankIsAVectorOfAnother) {
  const Comm comm = world();
  const std::vector<int> matrix = matrix_of(0);
  std::vector<int> column(rows);
  const Strided<const int> from(matrix.data() + 1, rows, columns);
  comm.sendrecv(from, (comm.rank() + 1) % comm.size(), 0, column,
                (comm.rank() + comm.size() - 1) % comm.size(), 0);
  EXPECT_EQ(column, (std::vector<int>{1, 6, 11}));
}

TEST(BufferTest, ViewsOfOneAndTwoDimensions) {
  const Comm comm = world();
  std::vector<int> matrix = matrix_of(comm.rank() == 0 ? 100 : 0);
  Request request = comm.ibcast(Strided(View<int, 1>{matrix.data(), {rows, 0}, {columns, 0}}), 0);
  request.wait();
  comm.bcast(Strided(View<int, 2>{matrix.data() + 1, {2, 3}, {columns, 1}}), 0);
  const std::vector<int> of_root = matrix_of(100);
  std::vector<int> expected = matrix_of(comm.rank() == 0 ? 100 : 0);
  for (const std::size_t place : {0UL, 5UL, 10UL, 1UL, 2UL, 3UL, 6UL, 7UL, 8UL})
    expected[place] = of_root[place];
  EXPECT_EQ(matrix, expected);
  EXPECT_THROW((Strided(View<int, 2>{matrix.data(), {2, 2}, {columns, 2}})), Error);
  comm.bcast(Strided(View<int, 2>{matrix.data(), {rows, 1}, {columns, rows}}), 0);
}

static_assert(!std::is_convertible_v<Strided<const int>, Buffer>);
static_assert(std::is_convertible_v<Strided<const int>, ConstBuffer>);
static_assert(!std::is_convertible_v<std::span<const Particle>, Buffer>);
static_assert(HasDatatype<Kind> && HasDatatype<std::byte> && !HasDatatype<std::vector<int>>);

}  // namespace
}  // namespace wisp
