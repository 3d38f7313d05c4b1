#include "wisp/collectives.hpp"

#include "python/arguments.hpp"
#include "python/module.hpp"
#include "python/mpi4py.hpp"

namespace wisp::python {
namespace {

using Class = nb::class_<Comm>;

ConstBuffer from_numbers(Views& views, Argument given) {
  return views.readable(given, {.argument = "sendbuf", .is_reduced = true});
}
Buffer to_numbers(Views& views, Argument given) {
  return views.writable(given, {.argument = "recvbuf", .is_reduced = true});
}

/// An argument that is the root's is read there alone: elsewhere anything may be given.
template <auto read>
auto of_root(bool is_root, Views& views, Argument given, const Comm& on) {
  return is_root ? read(views, given, on) : decltype(read(views, given, on))();
}

enum class Only : std::uint8_t { sender, receiver };

template <auto collective, auto read, auto write, Only root_is>
Operation with_root(const Comm& on, Views& views, Argument sendbuf, Argument recvbuf, int root, Tag tag,
                    Text algorithm) {
  const bool is_root = on.rank() == root;
  const auto from = of_root<read>(is_root || root_is == Only::receiver, views, sendbuf, on);
  const auto to = of_root<write>(is_root || root_is == Only::sender, views, recvbuf, on);
  return collective(on, from, to, root, CollectiveOptions{tag, algorithm});
}
template <auto collective, auto read, auto write, Only root_is>
void define_with_root(Class& comm, const Faces& names, const char* text) {
  define(comm, names, &with_root<collective, read, write, root_is>, text, nb::arg("sendbuf").none(),
         nb::arg("recvbuf").none(), nb::arg("root") = 0, nb::kw_only(), nb::arg("tag") = nb::none(),
         nb::arg("algorithm") = "");
}

template <auto collective>
Operation reduction(const Comm& on, Views& views, Argument sendbuf, Argument recvbuf, Argument op, Tag tag,
                    Text algorithm) {
  const ConstBuffer from = from_numbers(views, sendbuf);
  const Buffer to = to_numbers(views, recvbuf);
  return collective(on, from, to, op_in(op), CollectiveOptions{tag, algorithm});
}
template <auto collective>
void define_reduction(Class& comm, const Faces& names, const char* text) {
  define(comm, names, &reduction<collective>, text, nb::arg("sendbuf").none(), nb::arg("recvbuf").none(),
         nb::arg("op") = nb::none(), nb::kw_only(), nb::arg("tag") = nb::none(), nb::arg("algorithm") = "");
}

Operation bcast_of(const Comm& on, Views& views, Argument buf, int root, Tag tag, Text algorithm) {
  const CollectiveOptions options{tag, algorithm};
  if (on.rank() != root) return bcast(on, views.writable(buf, {.argument = "buf"}), root, options);
  // The root's may be of those that cannot be written.
  const ConstBuffer mine = views.readable(buf, {.argument = "buf"});
  return bcast(on, {const_cast<void*>(mine.address), mine.count, mine.type}, root, options);
}

Operation reduce_of(const Comm& on, Views& views, Argument sendbuf, Argument recvbuf, Argument op, int root,
                    Tag tag, Text algorithm) {
  const ConstBuffer from = from_numbers(views, sendbuf);
  const Buffer to = on.rank() == root ? to_numbers(views, recvbuf) : Buffer();
  return reduce(on, from, to, op_in(op), root, CollectiveOptions{tag, algorithm});
}

/// A count is that of a block, as for all that have one for each rank.
Operation reduce_scatter_block_of(const Comm& on, Views& views, Argument sendbuf, Argument recvbuf,
                                  Argument op, Tag tag, Text algorithm) {
  const int whole = on.size();
  const ConstBuffer from =
      views.readable(sendbuf, {.argument = "sendbuf", .blocks = whole, .is_reduced = true});
  const int blocks = is_in_place(from) ? whole : 1;
  const Buffer to = views.writable(recvbuf, {.argument = "recvbuf", .blocks = blocks, .is_reduced = true});
  return reduce_scatter_block(on, from, to, op_in(op), CollectiveOptions{tag, algorithm});
}

Operation reduce_scatter_of(const Comm& on, Views& views, Argument sendbuf, Argument recvbuf,
                            Argument recvcounts, Argument op, Tag tag, Text algorithm) {
  const CollectiveOptions options{tag, algorithm};
  const ConstBuffer from = from_numbers(views, sendbuf);
  const Buffer to = to_numbers(views, recvbuf);
  if (recvcounts.is_none()) return reduce_scatter_block(on, from, to, op_in(op), options);
  return reduce_scatter(on, from, to, views.integers(recvcounts, on.size(), "recvcounts"), op_in(op),
                        options);
}

}  // namespace

void define_collectives(Class& comm) {
  const auto tag = nb::arg("tag") = nb::none();
  const auto algorithm = nb::arg("algorithm") = "";
  const auto op = nb::arg("op") = nb::none();
  const auto root = nb::arg("root") = 0;
  const auto sendbuf = nb::arg("sendbuf").none();
  const auto recvbuf = nb::arg("recvbuf").none();

  define(
      comm, {"Barrier", "Ibarrier", "Barrier_init"},
      +[](const Comm& on, Views&, Tag own_tag, Text name) {
        return barrier(on, {own_tag, name});
      },
      "Ends when all have begun. ⌈log2 p⌉ α.", nb::kw_only(), tag, algorithm);
  define(comm, {"Bcast", "Ibcast", "Bcast_init"}, &bcast_of,
         "The root's buffer to all. ⌈log2 p⌉ (α + nβ); of long ones about nβ.", nb::arg("buf").none(), root,
         nb::kw_only(), tag, algorithm);
  define(comm, {"Reduce", "Ireduce", "Reduce_init"}, &reduce_of,
         "The reduction of all sendbuf in the root's recvbuf, element by element. ⌈log2 p⌉ (α + nβ).",
         sendbuf, recvbuf, op, root, nb::kw_only(), tag, algorithm);
  define_reduction<&allreduce>(comm, {"Allreduce", "Iallreduce", "Allreduce_init"},
                               "The reduction of all sendbuf in everybody's recvbuf. ⌊log2 p⌋ (α + nβ).");
  define_reduction<&scan>(comm, {"Scan", "Iscan", "Scan_init"},
                          "The reduction over ranks 0 … rank. ⌈log2 p⌉ (α + nβ).");
  define_reduction<&exscan>(
      comm, {"Exscan", "Iexscan", "Exscan_init"},
      "The reduction over ranks 0 … rank - 1; rank 0's recvbuf stays. ⌈log2 p⌉ (α + nβ).");
  define(
      comm, {"Reduce_scatter_block", "Ireduce_scatter_block", "Reduce_scatter_block_init"},
      &reduce_scatter_block_of,
      "The reduction of all sendbuf, of which rank r gets block r: p blocks as large as recvbuf. ⌊log2 p⌋ α "
      "+ nβ.",
      sendbuf, recvbuf, op, nb::kw_only(), tag, algorithm);
  define(comm, {"Reduce_scatter", "Ireduce_scatter", "Reduce_scatter_init"}, &reduce_scatter_of,
         "The same with recvcounts[r] elements for rank r; without recvcounts, as many for each.", sendbuf,
         recvbuf, nb::arg("recvcounts") = nb::none(), op, nb::kw_only(), tag, algorithm);

  define_with_root<&gather, from_one<Comm>, to_even_blocks<Comm>, Only::receiver>(
      comm, {"Gather", "Igather", "Gather_init"},
      "Everybody's sendbuf in the root's recvbuf of p blocks, by rank. ⌈log2 p⌉ α + (p - 1) nβ.");
  define_with_root<&gatherv, from_one<Comm>, to_blocks<Comm>, Only::receiver>(
      comm, {"Gatherv", "Igatherv", "Gatherv_init"},
      "The same with blocks of any sizes, in the root's recvbuf = [buffer, counts, displacements, datatype]. "
      "Linear: O(α log p) + Σ n_i β, on few ranks (p - 1) α + Σ n_i β.");
  define_with_root<&scatter, from_even_blocks<Comm>, to_one<Comm>, Only::sender>(
      comm, {"Scatter", "Iscatter", "Scatter_init"},
      "Block r of the root's sendbuf of p blocks to rank r. ⌈log2 p⌉ α + (p - 1) nβ.");
  define_with_root<&scatterv, from_blocks<Comm>, to_one<Comm>, Only::sender>(
      comm, {"Scatterv", "Iscatterv", "Scatterv_init"},
      "The same with blocks of any sizes, from the root's "
      "sendbuf = [buffer, counts, displacements, datatype]. "
      "Linear: O(α log p) + Σ n_i β, on few ranks (p - 1) α + Σ n_i β.");

  define_without_root<CollectiveOptions, &allgather, from_one<Comm>, to_even_blocks<Comm>>(
      comm, {"Allgather", "Iallgather", "Allgather_init"},
      "Everybody's sendbuf in everybody's recvbuf of p blocks, by rank. ⌈log2 p⌉ α + (p - 1) nβ.");
  define_without_root<CollectiveOptions, &allgatherv, from_one<Comm>, to_blocks<Comm>>(
      comm, {"Allgatherv", "Iallgatherv", "Allgatherv_init"},
      "The same with blocks of any sizes, in recvbuf = [buffer, counts, displacements, datatype]. "
      "⌈log2 p⌉ α + Σ n_i β.");
  define_without_root<CollectiveOptions, &alltoall, from_even_blocks<Comm>, to_even_blocks<Comm>>(
      comm, {"Alltoall", "Ialltoall", "Alltoall_init"},
      "Block r of sendbuf to rank r, where it becomes block `rank` of recvbuf; p blocks each. Over a grid of "
      "k dimensions k p^(1/k) o + k (α + p nβ), or all straight.");
  define_without_root<CollectiveOptions, &alltoallv, from_blocks<Comm>, to_blocks<Comm>>(
      comm, {"Alltoallv", "Ialltoallv", "Alltoallv_init"},
      "The same with blocks of any sizes: [buffer, counts, displacements, datatype].");
  define_without_root<CollectiveOptions, &alltoallw, from_typed_blocks<Comm>, to_typed_blocks<Comm>>(
      comm, {"Alltoallw", "Ialltoallw", "Alltoallw_init"},
      "The same with a datatype for each block: [buffer, counts, byte displacements, datatypes], or a list "
      "with a buffer for each rank.");
}

}  // namespace wisp::python
