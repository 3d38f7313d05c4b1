#include "blocking_tree.hpp"

#include <algorithm>

#include "pattern/knomial_tree.hpp"

namespace wisp::bench {
namespace {

constexpr int tag = 7;

void bcast(const detail::KnomialTree& tree, std::vector<double>& data, MPI_Comm comm) {
  const int count = static_cast<int>(data.size());
  if (!tree.is_root()) MPI_Recv(data.data(), count, MPI_DOUBLE, tree.parent(), tag, comm, MPI_STATUS_IGNORE);
  for (int k = tree.child_count() - 1; k >= 0; --k) {
    MPI_Send(data.data(), count, MPI_DOUBLE, tree.child(k), tag, comm);
  }
}

void reduce(const detail::KnomialTree& tree, const std::vector<double>& input, std::vector<double>& output,
            MPI_Comm comm, TreeScratch& scratch) {
  const int count = static_cast<int>(input.size());
  if (tree.child_count() == 0 && !tree.is_root()) {
    MPI_Send(input.data(), count, MPI_DOUBLE, tree.parent(), tag, comm);
    return;
  }
  std::vector<double>& incoming = scratch.incoming;
  incoming.resize(input.size());
  std::vector<double>& sum = scratch.kept;
  sum = input;
  for (int k = 0; k < tree.child_count(); ++k) {
    MPI_Recv(incoming.data(), count, MPI_DOUBLE, tree.child(k), tag, comm, MPI_STATUS_IGNORE);
    MPI_Reduce_local(incoming.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM);
  }
  if (tree.is_root()) {
    output = sum;
  } else {
    MPI_Send(sum.data(), count, MPI_DOUBLE, tree.parent(), tag, comm);
  }
}

void scan(int rank, int size, const std::vector<double>& input, std::vector<double>& output, MPI_Comm comm,
          TreeScratch& scratch) {
  const int count = static_cast<int>(input.size());
  std::vector<double>& incoming = scratch.incoming;
  incoming.resize(input.size());
  output = input;
  for (int distance = 1; distance < size; distance *= 2) {
    const int above = rank + distance < size ? rank + distance : MPI_PROC_NULL;
    const int below = rank - distance >= 0 ? rank - distance : MPI_PROC_NULL;
    MPI_Sendrecv(output.data(), count, MPI_DOUBLE, above, tag, incoming.data(), count, MPI_DOUBLE, below, tag,
                 comm, MPI_STATUS_IGNORE);
    if (below != MPI_PROC_NULL) MPI_Reduce_local(incoming.data(), output.data(), count, MPI_DOUBLE, MPI_SUM);
  }
}

void gather(const detail::KnomialTree& tree, int root, const std::vector<double>& input,
            std::vector<double>& output, MPI_Comm comm, TreeScratch& scratch) {
  const std::size_t count = input.size();
  std::vector<double>& blocks = scratch.kept;
  blocks.resize(count * static_cast<std::size_t>(tree.subtree_size()));
  std::copy(input.begin(), input.end(), blocks.begin());
  for (int k = 0; k < tree.child_count(); ++k) {
    const int elements = static_cast<int>(count) * tree.child_subtree_size(k);
    MPI_Recv(blocks.data() + count * static_cast<std::size_t>(tree.child_offset(k)), elements, MPI_DOUBLE,
             tree.child(k), tag, comm, MPI_STATUS_IGNORE);
  }
  if (tree.is_root()) {
    std::rotate_copy(blocks.begin(),
                     blocks.end() - static_cast<std::ptrdiff_t>(count * static_cast<std::size_t>(root)),
                     blocks.end(), output.begin());
  } else {
    MPI_Send(blocks.data(), static_cast<int>(blocks.size()), MPI_DOUBLE, tree.parent(), tag, comm);
  }
}

}  // namespace

bool has_blocking_tree(const std::string& op) {
  return op == "bcast" || op == "reduce" || op == "scan" || op == "gather";
}

void run_blocking_tree(const std::string& op, const std::vector<double>& input, std::vector<double>& output,
                       int root, MPI_Comm comm, TreeScratch& scratch) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const detail::KnomialTree tree(rank, size, root, 1);
  if (op == "bcast") bcast(tree, output, comm);
  if (op == "reduce") reduce(tree, input, output, comm, scratch);
  if (op == "scan") scan(rank, size, input, output, comm, scratch);
  if (op == "gather") gather(tree, root, input, output, comm, scratch);
}

}  // namespace wisp::bench
