// What programs get wrong with collectives and messages, one at a time, on 3 ranks.
//   cases --list        a line for each: its name, whether calls are compared (WISP_CHECK), what must be said
//   cases NAME

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "wisp/wisp.hpp"

namespace {

using wisp::Comm;

struct Case {
  const char* name;
  bool is_compared;
  const char* said;  ///< a regular expression; empty: nothing may be said
  std::function<void(const Comm&)> run;
};

/// Longer than the report takes.
void be_busy() {
  std::this_thread::sleep_for(std::chrono::seconds(30));
}

/// The same numbers for all: what is in them is not looked at.
struct Numbers {
  std::vector<int> ints = std::vector<int>(64);
  std::vector<int> more = std::vector<int>(64);
  std::vector<float> floats = std::vector<float>(64);

  wisp::Buffer of(std::size_t count) { return {ints.data(), count, MPI_INT}; }
  wisp::Buffer to(std::size_t count) { return {more.data(), count, MPI_INT}; }
  wisp::Buffer real(std::size_t count) { return {floats.data(), count, MPI_FLOAT}; }
} numbers;

using Ranks = std::vector<int>;

/// Longer than a stall, in which something moves all the time.
void move(const Comm& c) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
  while (std::chrono::steady_clock::now() < end)
    c.sendrecv(numbers.of(1), c.rank(), 7, numbers.to(1), c.rank(), 7);
}

/// What is waited for by rank 0 beside others that it does not wait for yet: of rank 1, which waits for it.
void wait_beside(const Comm& c, int others, const std::function<void()>& wait) {
  std::vector<wisp::Request> later;
  std::vector<int> values(static_cast<std::size_t>(others));
  if (c.rank() == 0) {
    for (int tag = 0; tag < others; ++tag)
      later.push_back(c.ireceive(wisp::buffer_of(values[static_cast<std::size_t>(tag)]), 1, 10 + tag));
    wait();
    c.send(numbers.of(1), 1, 3);
    wisp::wait_all(later);
  } else if (c.rank() == 1) {
    c.receive(numbers.to(1), 0, 3);
    for (int tag = 0; tag < others; ++tag) c.send(numbers.of(1), 0, 10 + tag);
  } else {
    move(c);
    c.send(numbers.of(1), 0, 4);
  }
}

const wisp::Blocks blocks(Ranks& counts, Ranks& displacements) {
  return {numbers.more.data(), counts, displacements, MPI_INT};
}

// clang-format off
const std::vector<Case> cases = {
    // The root
    {"root_bcast", true, "wisp::bcast: root = 1 on rank 2, but 0 on rank 0", [](const Comm& c) { c.bcast(numbers.of(4), c.rank() == 2 ? 1 : 0); }},
    {"root_reduce", true, "wisp::reduce: root = 2 on rank 1, but 0 on rank 0", [](const Comm& c) { c.reduce(numbers.of(4), numbers.to(4), MPI_SUM, c.rank() == 1 ? 2 : 0); }},
    {"root_gather", true, "wisp::gather: root = 2 on rank 1, but 1 on rank 0", [](const Comm& c) { c.gather(numbers.of(1), numbers.to(3), c.rank() == 1 ? 2 : 1); }},
    {"root_scatter", true, "wisp::scatter: root = 1 on rank 1, but 0 on rank 0", [](const Comm& c) { c.scatter(numbers.of(3), numbers.to(1), c.rank() == 1 ? 1 : 0); }},
    {"root_own_for_each", true, "wisp::bcast: root = 1 on rank 1, but 0 on rank 0", [](const Comm& c) { c.bcast(numbers.of(4), c.rank()); }},
    {"root_outside", false, "wisp::bcast: root = 3 is outside 0..2", [](const Comm& c) { c.bcast(numbers.of(4), 3); }},
    {"root_below_0", false, "wisp::reduce: root = -1 is outside 0..2", [](const Comm& c) { c.reduce(numbers.of(4), numbers.to(4), MPI_SUM, -1); }},
    {"root_bcast_unchecked", false, "rank 0 waits in wisp::bcast .* from rank 1; rank 1 waits in wisp::bcast .* from rank 0: a cycle", [](const Comm& c) { c.bcast(numbers.of(4), c.rank() == 0 ? 1 : 0); }},
    {"root_of_a_range", true, "wisp::bcast: root = 1 on rank 1, but 0 on rank 0", [](const Comm& c) { const Comm pair = c.range(1, 2); if (pair.is_member()) pair.bcast(numbers.of(4), pair.rank()); }},

    // The operation
    {"operation_bcast_reduce", true, "rank 1 calls wisp::reduce where rank 0 calls wisp::bcast", [](const Comm& c) { c.rank() == 1 ? c.reduce(numbers.of(4), numbers.to(4), MPI_SUM, 0) : c.bcast(numbers.of(4), 0); }},
    {"operation_barrier_allreduce", true, "rank 2 calls wisp::allreduce where rank 0 calls wisp::barrier", [](const Comm& c) { c.rank() == 2 ? c.allreduce(numbers.of(4), numbers.to(4), MPI_SUM) : c.barrier(); }},
    {"operation_gather_scatter", true, "rank 1 calls wisp::scatter where rank 0 calls wisp::gather", [](const Comm& c) { c.rank() == 1 ? c.scatter(numbers.of(3), numbers.to(1), 0) : c.gather(numbers.of(1), numbers.to(3), 0); }},
    {"operation_allgather_alltoall", true, "rank 1 calls wisp::alltoall where rank 0 calls wisp::allgather", [](const Comm& c) { c.rank() >= 1 ? c.alltoall(numbers.of(3), numbers.to(3)) : c.allgather(numbers.of(1), numbers.to(3)); }},
    {"operation_scan_exscan", true, "rank 2 calls wisp::exscan where rank 0 calls wisp::scan", [](const Comm& c) { c.rank() == 2 ? c.exscan(numbers.of(4), numbers.to(4), MPI_SUM) : c.scan(numbers.of(4), numbers.to(4), MPI_SUM); }},
    {"operation_reduce_allreduce", true, "rank 1 calls wisp::reduce where rank 0 calls wisp::allreduce", [](const Comm& c) { c.rank() == 1 ? c.reduce(numbers.of(4), numbers.to(4), MPI_SUM, 0) : c.allreduce(numbers.of(4), numbers.to(4), MPI_SUM); }},
    {"operation_gather_gatherv", true, "rank 0 calls wisp::gather$|rank 1 calls wisp::gather where rank 0 calls wisp::gatherv", [](const Comm& c) {
       Ranks counts(3, 1), displacements{0, 1, 2};
       c.rank() == 1 ? c.gather(numbers.of(1), numbers.to(3), 0) : c.gatherv(numbers.of(1), blocks(counts, displacements), 0); }},
    {"operation_sorts", true, "rank 2 calls wisp::sort where rank 0 calls wisp::nth_element", [](const Comm& c) { std::vector<int> few = {9, 3, 5}; if (c.rank() == 2) wisp::sort(c, few); else wisp::nth_element(c, few, 2); }},
    {"operation_sort_barrier", true, "rank 1 calls wisp::rebalance where rank 0 calls wisp::barrier", [](const Comm& c) { std::vector<int> few = {9, 3, 5}; if (c.rank() == 1) wisp::rebalance(c, few); else c.barrier(); }},
    {"order_of_members", true, "wisp::scan: the ranks do not agree on who is in the communicator", [](const Comm& c) { c.subset(c.rank() == 1 ? Ranks{1, 0, 2} : Ranks{0, 1, 2}).scan(numbers.of(1), numbers.to(1), MPI_SUM); }},
    {"operation_started", true, "rank 1 calls wisp::barrier where rank 0 calls wisp::bcast", [](const Comm& c) { (c.rank() == 1 ? c.ibarrier() : c.ibcast(numbers.of(4), 0)).wait(); }},
    {"operation_order", true, "rank 1 calls wisp::allreduce where rank 0 calls wisp::bcast", [](const Comm& c) {
       const auto first = [&] { c.bcast(numbers.of(4), 0); };
       const auto second = [&] { c.allreduce(numbers.of(4), numbers.to(4), MPI_SUM); };
       c.rank() == 1 ? second() : first();
       c.rank() == 1 ? first() : second(); }},
    {"operation_unchecked", false, "different operations in the same place|wisp::barrier|wisp::allreduce", [](const Comm& c) { c.rank() == 0 ? c.bcast(numbers.of(4), 2) : c.allreduce(numbers.of(4), numbers.to(4), MPI_SUM); }},
    {"operation_algorithm", true, "wisp::bcast: algorithm = binomial on rank 2, but circulant on rank 0", [](const Comm& c) {
       wisp::CollectiveOptions options;
       options.algorithm = c.rank() == 2 ? "binomial" : "circulant";
       c.bcast(numbers.of(4), 0, options); }},

    // The count
    {"count_bcast", true, "wisp::bcast: bytes = 12 on rank 1, but 16 on rank 0", [](const Comm& c) { c.bcast(numbers.of(c.rank() == 1 ? 3 : 4), 0); }},
    {"count_reduce", true, "wisp::reduce: bytes = 20 on rank 2, but 16 on rank 0", [](const Comm& c) { const std::size_t n = c.rank() == 2 ? 5 : 4; c.reduce(numbers.of(n), numbers.to(n), MPI_SUM, 1); }},
    {"count_allreduce", true, "wisp::allreduce: bytes = 4 on rank 1, but 0 on rank 0", [](const Comm& c) { const std::size_t n = c.rank() == 0 ? 0 : 1; c.allreduce(numbers.of(n), numbers.to(n), MPI_SUM); }},
    {"count_scan", true, "wisp::scan: bytes = 8 on rank 1, but 4 on rank 0", [](const Comm& c) { const auto n = static_cast<std::size_t>(c.rank() + 1); c.scan(numbers.of(n), numbers.to(n), MPI_SUM); }},
    {"count_gather", true, "wisp::gather: bytes = 8 on rank 1, but 4 on rank 0", [](const Comm& c) { c.gather(numbers.of(c.rank() == 1 ? 2 : 1), numbers.to(3), 0); }},
    {"count_scatter", true, "wisp::scatter: bytes = 8 on rank 2, but 4 on rank 0", [](const Comm& c) { c.scatter(numbers.of(3), numbers.to(c.rank() == 2 ? 2 : 1), 0); }},
    {"count_allgather", true, "wisp::allgather: bytes = 8 on rank 1, but 4 on rank 0", [](const Comm& c) { const std::size_t n = c.rank() == 1 ? 2 : 1; c.allgather(numbers.of(n), numbers.to(3 * n)); }},
    {"count_alltoall", true, "wisp::alltoall: bytes = 8 on rank 2, but 4 on rank 0", [](const Comm& c) { const std::size_t n = c.rank() == 2 ? 2 : 1; c.alltoall(numbers.of(3 * n), numbers.to(3 * n)); }},
    {"count_of_both_sides", false, "wisp::allreduce: send has 4 elements, but receive has 5", [](const Comm& c) { c.allreduce(numbers.of(4), numbers.to(5), MPI_SUM); }},
    {"count_gatherv", false, "wisp::gatherv: .*rank 1", [](const Comm& c) {
       Ranks counts(3, 1), displacements{0, 1, 2};
       c.gatherv(numbers.of(c.rank() == 1 ? 2 : 1), blocks(counts, displacements), 0); }},
    {"count_scatterv", false, "wisp::scatterv: .*(rank 2|this rank)", [](const Comm& c) {
       Ranks counts(3, 1), displacements{0, 1, 2};
       c.scatterv(blocks(counts, displacements), numbers.to(c.rank() == 2 ? 2 : 1), 0); }},
    {"count_message", false, "wisp::Comm::receive: a message from rank 1", [](const Comm& c) { if (c.rank() == 1) c.send(numbers.of(4), 0, 5); if (c.rank() == 0) c.receive(numbers.to(2), 1, 5); c.barrier(); }},

    // The datatype
    {"type_bcast", true, "wisp::bcast: the datatype of rank 1 has other elements than that of rank 0", [](const Comm& c) { c.bcast(c.rank() == 1 ? numbers.real(4) : numbers.of(4), 0); }},
    {"type_allreduce", true, "wisp::allreduce: the datatype of rank 2 has other elements", [](const Comm& c) { c.rank() == 2 ? c.allreduce(numbers.real(4), wisp::Buffer{numbers.more.data(), 4, MPI_FLOAT}, MPI_SUM) : c.allreduce(numbers.of(4), numbers.to(4), MPI_SUM); }},
    {"type_gather", true, "wisp::gather: the datatype of rank 1 has other elements", [](const Comm& c) { c.gather(c.rank() == 1 ? numbers.real(1) : numbers.of(1), numbers.to(3), 0); }},
    {"type_allgather", true, "wisp::allgather: the datatype of rank 1 has other elements", [](const Comm& c) { const MPI_Datatype type = c.rank() == 1 ? MPI_UNSIGNED : MPI_INT; c.allgather(wisp::Buffer{numbers.ints.data(), 1, type}, wisp::Buffer{numbers.more.data(), 3, type}); }},
    {"type_of_more_elements", true, "wisp::bcast: the datatype of rank 2 has other elements", [](const Comm& c) { c.rank() == 2 ? c.bcast(wisp::Buffer{numbers.ints.data(), 2, MPI_DOUBLE}, 0) : c.bcast(numbers.of(4), 0); }},
    {"type_derived", true, "wisp::bcast: the datatype of rank 1 has other elements", [](const Comm& c) {
       int lengths[] = {1, 1};
       MPI_Aint places[] = {0, 4};
       MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
       MPI_Datatype pair = MPI_DATATYPE_NULL;
       MPI_Type_create_struct(2, lengths, places, types, &pair);
       MPI_Type_commit(&pair);
       c.rank() == 1 ? c.bcast(wisp::Buffer{numbers.ints.data(), 2, pair}, 0) : c.bcast(numbers.of(4), 0); }},
    {"type_null", false, "wisp::bcast: the datatype of buffer is MPI_DATATYPE_NULL", [](const Comm& c) { c.bcast(wisp::Buffer{numbers.ints.data(), 1, MPI_DATATYPE_NULL}, 0); }},

    // The operator
    {"operator_allreduce", true, "wisp::allreduce: the operator of rank 1 is not that of rank 0", [](const Comm& c) { c.allreduce(numbers.of(4), numbers.to(4), c.rank() == 1 ? MPI_MAX : MPI_SUM); }},
    {"operator_reduce", true, "wisp::reduce: the operator of rank 2 is not that of rank 0", [](const Comm& c) { c.reduce(numbers.of(4), numbers.to(4), c.rank() == 2 ? MPI_BAND : MPI_BOR, 0); }},
    {"operator_scan", true, "wisp::scan: the operator of rank 1 is not that of rank 0", [](const Comm& c) { c.scan(numbers.of(4), numbers.to(4), c.rank() == 1 ? MPI_PROD : MPI_SUM); }},
    {"operator_reduce_scatter_block", true, "wisp::reduce_scatter_block: the operator of rank 1 is not", [](const Comm& c) { c.reduce_scatter_block(numbers.of(3), numbers.to(1), c.rank() == 1 ? MPI_MIN : MPI_SUM); }},
    {"operator_null", false, "wisp::allreduce: op = MPI_OP_NULL", [](const Comm& c) { c.allreduce(numbers.of(4), numbers.to(4), MPI_OP_NULL); }},

    // A call that is missing
    {"missing_barrier", false, "waits in wisp::barrier .* for a message from rank 1; rank 1 does not answer", [](const Comm& c) { if (c.rank() != 1) c.barrier(); else be_busy(); }},
    {"missing_bcast_of_the_root", false, "waits in wisp::bcast .call 1 on world. for a message from rank 2; rank 2 does not answer", [](const Comm& c) { if (c.rank() != 2) c.bcast(numbers.of(4), 2); else be_busy(); }},
    {"missing_one_of_many", false, "waits in wisp::allreduce .call 7 on world.*rank 0 does not answer", [](const Comm& c) {
       for (int i = 0; i < 7; ++i) { if (i == 6 && c.rank() == 0) be_busy(); c.allreduce(numbers.of(1), numbers.to(1), MPI_SUM); } }},
    {"missing_on_a_range", false, "waits in wisp::barrier .call 1 on world.1..2.#1. for a message from rank 2; rank 2 does not answer", [](const Comm& c) { const Comm pair = c.range(1, 2); if (c.rank() == 1) pair.barrier(); else be_busy(); }},
    {"missing_other_call_follows", true, "rank 1 calls wisp::allreduce where rank 0 calls wisp::barrier", [](const Comm& c) { if (c.rank() != 1) c.barrier(); c.allreduce(numbers.of(1), numbers.to(1), MPI_SUM); }},
    {"missing_in_mpi", false, "waits in wisp::barrier .* rank 0 does not answer", [](const Comm& c) { if (c.rank() == 0) { int x = 0; MPI_Recv(&x, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE); } c.barrier(); }},
    {"missing_with_a_request", false, "waits in wisp::allreduce .call 1 on world.*rank 2 does not answer", [](const Comm& c) { if (c.rank() != 2) c.iallreduce(numbers.of(1), numbers.to(1), MPI_SUM).wait(); else be_busy(); }},

    // Communicators in another order
    {"order_of_barriers", false, "rank 0 waits in wisp::barrier .call 1 on world.0..1.#1.*rank 1 waits in wisp::barrier .call 1 on world.0..1.#2.*: a cycle", [](const Comm& c) {
       const Comm one = c.range(0, 1), other = c.range(0, 1);
       if (c.rank() == 0) { one.barrier(); other.barrier(); } else if (c.rank() == 1) { other.barrier(); one.barrier(); } }},
    {"order_of_operations", false, "rank 0 waits in wisp::allreduce .*world#.*: a cycle", [](const Comm& c) {
       const Comm one = c.range(0, 2), other = c.range(0, 2);
       const auto first = [&] { one.allreduce(numbers.of(1), numbers.to(1), MPI_SUM); };
       const auto second = [&] { other.barrier(); };
       c.rank() == 0 ? first() : second();
       c.rank() == 0 ? second() : first(); }},
    {"order_of_duplicates", false, "rank 0 waits in wisp::barrier .call 1 on first.*rank 1 waits in wisp::barrier .call 1 on second.*: a cycle", [](const Comm&) {
       MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
       MPI_Comm_dup(MPI_COMM_WORLD, &first);
       MPI_Comm_dup(MPI_COMM_WORLD, &second);
       MPI_Comm_set_name(first, "first");
       MPI_Comm_set_name(second, "second");
       const Comm one = Comm::duplicate(first), other = Comm::duplicate(second);
       if (one.rank() == 0) { one.barrier(); other.barrier(); } else { other.barrier(); one.barrier(); } }},
    {"order_of_nested", false, "rank 0 waits in wisp::barrier .call 1 on world.*: a cycle|world.0..1.*: a cycle", [](const Comm& c) {
       const Comm pair = c.range(0, 1);
       if (c.rank() == 1) pair.allreduce(numbers.of(1), numbers.to(1), MPI_SUM);
       c.barrier();
       if (c.rank() == 0) pair.allreduce(numbers.of(1), numbers.to(1), MPI_SUM); }},
    {"order_of_a_message_and_a_collective", false, "rank 0 waits in wisp::barrier .* from rank 1; rank 1 waits in wisp::Comm::receive .tag 5 on world. for a message from rank 0: a cycle", [](const Comm& c) {
       if (c.rank() == 1) c.receive(numbers.of(1), 0, 5);
       c.barrier();
       if (c.rank() == 0) c.send(numbers.of(1), 1, 5); }},

    // Messages
    {"pair_both_receive", false, "rank 0 waits in wisp::Comm::receive .tag 5 on world. for a message from rank 1; rank 1 .* from rank 0: a cycle", [](const Comm& c) { if (c.rank() < 2) { c.receive(numbers.of(1), 1 - c.rank(), 5); c.send(numbers.of(1), 1 - c.rank(), 5); } }},
    {"pair_both_ssend", false, "rank 0 waits in wisp::Comm::ssend .tag 5 on world. until a message is taken by rank 1; rank 1 .* by rank 0: a cycle", [](const Comm& c) { if (c.rank() < 2) { c.ssend(numbers.of(1), 1 - c.rank(), 5); c.receive(numbers.of(1), 1 - c.rank(), 5); } }},
    {"ring_of_receives", false, "rank 0 .* from rank 1; rank 1 .* from rank 2; rank 2 .* from rank 0: a cycle", [](const Comm& c) { c.receive(numbers.of(1), (c.rank() + 1) % c.size(), 0); }},
    {"wrong_tag", false, "rank 0 waits in wisp::barrier .* from rank 1; rank 1 waits in wisp::Comm::receive .tag 6 on world. for a message from rank 0: a cycle", [](const Comm& c) { if (c.rank() == 0) c.send(numbers.of(1), 1, 5); if (c.rank() == 1) c.receive(numbers.of(1), 0, 6); c.barrier(); }},
    {"wrong_source", false, "rank 1 waits in wisp::Comm::receive .tag 5 on world. for a message from rank 2; rank 2 waits in wisp::barrier", [](const Comm& c) { if (c.rank() == 0) c.send(numbers.of(1), 1, 5); if (c.rank() == 1) c.receive(numbers.of(1), 2, 5); c.barrier(); }},
    {"from_any_and_nobody", false, "rank 1 waits in wisp::Comm::receive .tag 5 on world. for a message from any rank", [](const Comm& c) { if (c.rank() == 1) c.receive(numbers.of(1), wisp::any_source, 5); c.barrier(); }},
    {"any_tag_and_nobody", false, "rank 1 waits in wisp::Comm::receive .any tag on world. for a message from rank 2", [](const Comm& c) { if (c.rank() == 1) c.receive(numbers.of(1), 2); c.barrier(); }},
    {"from_itself", false, "rank 2 waits in wisp::Comm::receive .tag 1 on world. for a message from rank 2: a cycle", [](const Comm& c) { if (c.rank() == 2) c.receive(numbers.of(1), 2, 1); }},
    {"a_probe_for_nothing", false, "rank 0 waits in wisp::Comm::probe .tag 3 on world. for a message from rank 1; rank 1 waits in wisp::barrier", [](const Comm& c) { if (c.rank() == 0) c.probe(1, 3); c.barrier(); }},
    {"one_that_tests", false, "rank 0 waits in wisp::Comm::receive .tag 2 on world. for a message from rank 1; rank 1 waits in wisp::Comm::ireceive .tag 3 on world. for a message from rank 2", [](const Comm& c) {
       if (c.rank() == 0) c.receive(numbers.of(1), 1, 2);
       if (c.rank() == 1) { auto request = c.ireceive(numbers.of(1), 2, 3); while (!request.test()) {} }
       if (c.rank() == 2) be_busy(); }},

    // Nothing is wrong, and nothing may be said
    {"a_receive_for_later", false, "", [](const Comm& c) { wait_beside(c, 1, [&] { c.receive(numbers.to(1), 2, 4); }); }},
    {"many_receives_for_later", false, "", [](const Comm& c) { wait_beside(c, 20, [&] { c.receive(numbers.to(1), 2, 4); }); }},
    {"one_of_several_requests", false, "", [](const Comm& c) { wait_beside(c, 2, [&] { auto request = c.ireceive(numbers.to(1), 2, 4); wisp::wait_any(std::span(&request, 1)); }); }},
    {"a_task", false, "", [](const Comm& c) {
       wait_beside(c, 1, [&] { c.run([](Comm on) -> wisp::Task<> { co_await wisp::receive(on, numbers.to(1), 2, 4); }(c)); }); }},
    {"tests_beside_what_moves", false, "", [](const Comm& c) {
       wait_beside(c, 1, [&] {
         auto request = c.ireceive(numbers.to(1), 2, 4);
         while (!request.test()) c.sendrecv(numbers.of(1), 0, 7, numbers.to(1), 0, 7);
       }); }},
    {"somebody_computes_and_somebody_moves", false, "", [](const Comm& c) {
       if (c.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(4000));
       wait_beside(c, 1, [&] { c.receive(numbers.to(1), 2, 4); }); }},
};
// clang-format on

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "--list") == 0) {
    for (const Case& one : cases) std::printf("%s\t%d\t%s\n", one.name, one.is_compared ? 1 : 0, one.said);
    return 0;
  }
  MPI_Init(&argc, &argv);
  // Errors of requests are those of no communicator in MPICH, which would end the program before wisp hears
  // of it.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const Case& one : cases) {
    if (std::strcmp(argv[1], one.name) != 0) continue;
    try {
      one.run(Comm::duplicate(MPI_COMM_WORLD));
    } catch (const wisp::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::fflush(stderr);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the others say it too
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return 0;
}
