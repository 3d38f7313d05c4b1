#include "wisp/chain.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "c/block_arguments.hpp"
#include "c/shims.hpp"
#include "chain/link.hpp"
#include "transport/throw_error.hpp"
#include "transport/type_layout.hpp"
#include "transport/type_signature.hpp"
#include "wisp/split.hpp"

// Chains and splits of wisp/chain.h.

struct WISP_Chain_object : wisp::c::Handle<WISP_Chain_object> {
  explicit WISP_Chain_object(wisp::Chain of) : chain(std::move(of)) {}
  wisp::Chain chain;
};

extern "C" const char WISP_Undefined_color = 0;

using namespace wisp;
using namespace wisp::c;

namespace {

const Chain& chain_of(WISP_Chain chain) {
  if (chain == WISP_CHAIN_NULL) throw Error(MPI_ERR_COMM, "chain = WISP_CHAIN_NULL");
  return alive(chain, MPI_ERR_COMM, "chain").chain;
}

WISP_Chain new_chain(Chain chain) {
  return chain.empty() ? WISP_CHAIN_NULL : new WISP_Chain_object(std::move(chain));
}

/// As put_comm.
template <class Make>
void put_chain(WISP_Chain* newchain, const char* name, Make make) {
  WISP_Chain& made = out(newchain, name);
  made = new_chain(make());
}

/// Operations that set a handle when they are done.
Task<> set_handle(Task<Chain> made, WISP_Chain* to) {
  Chain chain = co_await std::move(made);
  *to = new_chain(std::move(chain));
}
Task<> set_handle(Task<Comm> made, WISP_Comm* to) {
  Comm comm = co_await std::move(made);
  *to = new_comm(std::move(comm));
}

bool is_one_of(MPI_Datatype type, std::span<const MPI_Datatype> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Numbers by what they are, whatever they are called or made of.
Label::Kind kind_of(MPI_Datatype type) {
  using Kind = Label::Kind;
  const MPI_Datatype text[] = {MPI_CHAR, MPI_BYTE, MPI_PACKED, MPI_CHARACTER};
  if (is_one_of(type, text)) return Kind::text;
  const MPI_Datatype counted_as_numbers[] = {MPI_C_BOOL, MPI_CXX_BOOL, MPI_WCHAR};
  if (is_one_of(type, counted_as_numbers)) return Kind::unsigned_numbers;
  const std::pair<MPI_Datatype, Kind> numbers[] = {
      {MPI_INT32_T, Kind::signed_numbers},    {MPI_INT64_T, Kind::signed_numbers},
      {MPI_UINT32_T, Kind::unsigned_numbers}, {MPI_UINT64_T, Kind::unsigned_numbers},
      {MPI_INT8_T, Kind::signed_numbers},     {MPI_INT16_T, Kind::signed_numbers},
      {MPI_UINT8_T, Kind::unsigned_numbers},  {MPI_UINT16_T, Kind::unsigned_numbers},
      {MPI_FLOAT, Kind::floating_numbers},    {MPI_DOUBLE, Kind::floating_numbers}};
  const std::optional<std::uint64_t> signature = detail::signature_of(type, 1);
  for (const auto& [number, kind] : numbers) {
    if (signature && signature == detail::signature_of(number, 1)) return kind;
  }
  return Kind::padded;  // only the caller knows what its bytes mean
}

Label label_of(const char* name, const void* data, int count, MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) {
    if (data == WISP_UNDEFINED) detail::throw_error(MPI_ERR_TYPE, "{} = WISP_UNDEFINED without a type", name);
    return {};
  }
  if (data == MPI_IN_PLACE) detail::throw_error(MPI_ERR_BUFFER, "{} cannot be MPI_IN_PLACE", name);
  const std::string count_name = std::string(name) + "_count";
  const std::size_t elements = checked_count(count, count_name.c_str());
  const detail::TypeLayout layout = detail::TypeLayout::of(type);
  if (layout.true_lower != 0 || layout.extent < std::max<MPI_Aint>(1, layout.true_extent)) {
    detail::throw_error(MPI_ERR_TYPE, "{}_type does not begin at 0, or its elements overlap", name);
  }
  const Label::Kind kind = kind_of(type);
  // Numbers are compared without what is between them; else only the caller knows what is to be compared.
  const bool has_gaps = kind == Label::Kind::padded;
  const std::size_t width = has_gaps ? as_size(layout.extent) : layout.size;
  const bool is_undefined = data == WISP_UNDEFINED;
  std::vector<std::byte> bytes(is_undefined && kind == Label::Kind::text ? 0 : elements * width);
  if (!is_undefined && elements > 0) {
    if (data == nullptr) detail::throw_error(MPI_ERR_BUFFER, "{} = NULL", name);
    const auto* const first = static_cast<const std::byte*>(data);
    const bool is_whole = width == as_size(layout.extent);
    // Behind the data of the last element there may be nothing.
    if (is_whole) std::memcpy(bytes.data(), first, (elements - 1) * width + as_size(layout.true_extent));
    for (std::size_t i = 0; !is_whole && i < elements; ++i)
      std::memcpy(&bytes[i * width], first + i * as_size(layout.extent), width);
  }
  Label label(kind, bytes.data(), bytes.size() / width, width);
  if (is_undefined) label.leave_out();
  return label;
}

int bytes_of(Order::Bytes bytes) {
  return static_cast<int>(bytes.size());
}

Order order_of(const WISP_Order* given) {
  Order order;
  if (given == nullptr) return order;
  if (given->compare != nullptr) {
    order.compare = [by = *given](Order::Bytes a, Order::Bytes b) {
      return by.compare(a.data(), bytes_of(a), b.data(), bytes_of(b), by.state);
    };
  }
  if (given->hash != nullptr) {
    order.hash = [by = *given](Order::Bytes label) {
      return by.hash(label.data(), bytes_of(label), by.state);
    };
  }
  return order;
}

void put(int* to, int value) {
  if (to != nullptr) *to = value;
}

}  // namespace

#define WISP_LIST(...) __VA_ARGS__

// The blocking and the nonblocking form; `arguments` are those of the C++ member, in terms of the chain `on`.
#define WISP_FACES(name, parameters, arguments)                                          \
  int WISP_Chain_##name(WISP_LIST parameters WISP_Chain chain) {                         \
    return guarded("WISP_Chain_" #name, [&] {                                            \
      const Chain& on = chain_of(chain);                                                 \
      on.name(WISP_LIST arguments ChainOptions());                                       \
    });                                                                                  \
  }                                                                                      \
  int WISP_Chain_i##name(WISP_LIST parameters WISP_Chain chain, WISP_Request* request) { \
    return guarded("WISP_Chain_i" #name, [&] {                                           \
      put_request(request, [&] {                                                         \
        const Chain& on = chain_of(chain);                                               \
        return on.i##name(WISP_LIST arguments ChainOptions());                           \
      });                                                                                \
    });                                                                                  \
  }

extern "C" {

int WISP_Chain_of_comm(WISP_Comm comm, WISP_Chain* chain) {
  return guarded("WISP_Chain_of_comm",
                 [&] { put_chain(chain, "chain", [&] { return Chain(comm_of(comm)); }); });
}

int WISP_Chain_of_range(WISP_Comm comm, int first, int last, int stride, WISP_Chain* chain) {
  return guarded("WISP_Chain_of_range", [&] {
    put_chain(chain, "chain", [&] { return Chain(comm_of(comm), first, last, stride); });
  });
}

int WISP_Chain_of_neighbors(WISP_Comm comm, int left, int right, int rank, int size, int tag,
                            WISP_Chain* chain) {
  return guarded("WISP_Chain_of_neighbors", [&] {
    put_chain(chain, "chain", [&] {
      return Chain::of_neighbors(comm_of(comm), {size, rank, left, right}, tag);
    });
  });
}

int WISP_Chain_free(WISP_Chain* chain) {
  return guarded("WISP_Chain_free", [&] {
    WISP_Chain& handle = out(chain, "chain");
    free_handle(handle, detail::ChainAccess::context(chain_of(handle)));
  });
}

int WISP_Chain_rank(WISP_Chain chain, int* rank) {
  return guarded("WISP_Chain_rank", [&] { out(rank, "rank") = chain_of(chain).rank(); });
}

int WISP_Chain_size(WISP_Chain chain, int* size) {
  return guarded("WISP_Chain_size", [&] { out(size, "size") = chain_of(chain).size(); });
}

int WISP_Chain_neighbors(WISP_Chain chain, int* address, int* left, int* right) {
  return guarded("WISP_Chain_neighbors", [&] {
    const Chain& on = chain_of(chain);
    put(address, on.address());
    put(left, on.left());
    put(right, on.right());
  });
}

int WISP_Chain_to_comm(WISP_Chain chain, WISP_Comm* newcomm) {
  return guarded("WISP_Chain_to_comm", [&] {
    put_comm(newcomm, [&] { return chain == WISP_CHAIN_NULL ? Comm() : chain_of(chain).to_comm(); });
  });
}

int WISP_Chain_ito_comm(WISP_Chain chain, WISP_Comm* newcomm, WISP_Request* request) {
  return guarded("WISP_Chain_ito_comm", [&] {
    out(newcomm, "newcomm") = WISP_COMM_NULL;
    if (chain == WISP_CHAIN_NULL) {
      out(request, "request") = WISP_REQUEST_NULL;
      return;
    }
    put_request(request, [&] {
      const Chain& on = chain_of(chain);
      return on.start(set_handle(to_comm(on), newcomm));
    });
  });
}

/* Collectives, as those of MPI; operators are applied in rank order. */
WISP_FACES(barrier, (), ())
WISP_FACES(bcast, (void* buffer, MPI_Count count, MPI_Datatype datatype, int root, ),
           (to_receive(buffer, count, datatype, "count"), root, ))
WISP_FACES(reduce,
           (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
            int root, ),
           (to_send(sendbuf, count, datatype, "count"), to_receive(recvbuf, count, datatype, "count"), op,
            root, ))
WISP_FACES(allreduce,
           (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, ),
           (to_send(sendbuf, count, datatype, "count"), to_receive(recvbuf, count, datatype, "count"), op, ))
WISP_FACES(scan, (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, ),
           (to_send(sendbuf, count, datatype, "count"), to_receive(recvbuf, count, datatype, "count"), op, ))
WISP_FACES(exscan, (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, ),
           (to_send(sendbuf, count, datatype, "count"), to_receive(recvbuf, count, datatype, "count"), op, ))
/* Over the ranks up to this one, and over those from this one on, at once; the second without this rank. */
WISP_FACES(double_scan,
           (const void* sendbuf, void* before, void* after, MPI_Count count, MPI_Datatype datatype,
            MPI_Op op, ),
           (to_send(sendbuf, count, datatype, "count"), to_receive(before, count, datatype, "count"),
            to_receive(after, count, datatype, "count"), op, ))
WISP_FACES(double_exscan,
           (const void* sendbuf, void* before, void* after, MPI_Count count, MPI_Datatype datatype,
            MPI_Op op, ),
           (to_send(sendbuf, count, datatype, "count"), to_receive(before, count, datatype, "count"),
            to_receive(after, count, datatype, "count"), op, ))
/* Scans that begin anew where a rank's color (as in WISP_Split) is not that of its left neighbor. */
WISP_FACES(segmented_scan,
           (const void* color, int color_count, MPI_Datatype color_type, const void* sendbuf, void* recvbuf,
            MPI_Count count, MPI_Datatype datatype, MPI_Op op, ),
           (label_of("color", color, color_count, color_type), to_send(sendbuf, count, datatype, "count"),
            to_receive(recvbuf, count, datatype, "count"), op, ))
WISP_FACES(segmented_exscan,
           (const void* color, int color_count, MPI_Datatype color_type, const void* sendbuf, void* recvbuf,
            MPI_Count count, MPI_Datatype datatype, MPI_Op op, ),
           (label_of("color", color, color_count, color_type), to_send(sendbuf, count, datatype, "count"),
            to_receive(recvbuf, count, datatype, "count"), op, ))
/* Counts are those of one rank's block. */
WISP_FACES(gather,
           (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, int root, ),
           (to_send(sendbuf, sendcount, sendtype, "sendcount"),
            is_at_root(on, root) ? all_blocks(on, recvbuf, recvcount, recvtype, "recvcount") : Buffer(),
            root, ))
WISP_FACES(scatter,
           (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, int root, ),
           (is_at_root(on, root) ? all_blocks(on, sendbuf, sendcount, sendtype, "sendcount") : ConstBuffer(),
            to_receive(recvbuf, recvcount, recvtype, "recvcount"), root, ))
WISP_FACES(allgather,
           (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, ),
           (to_send(sendbuf, sendcount, sendtype, "sendcount"),
            all_blocks(on, recvbuf, recvcount, recvtype, "recvcount"), ))

int WISP_Split(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
               const WISP_Order* color_order, const void* key, int key_count, MPI_Datatype key_type,
               const WISP_Order* key_order, MPI_Info info, WISP_Chain* newchain) {
  return guarded("WISP_Split", [&] {
    out(newchain, "newchain");
    const InfoValue algorithm(info, "wisp_algorithm");
    *newchain = new_chain(split(chain_of(chain), label_of("color", color, color_count, color_type),
                                order_of(color_order), label_of("key", key, key_count, key_type),
                                order_of(key_order), {algorithm.get()}));
  });
}

int WISP_Isplit(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
                const WISP_Order* color_order, const void* key, int key_count, MPI_Datatype key_type,
                const WISP_Order* key_order, MPI_Info info, WISP_Chain* newchain, WISP_Request* request) {
  return guarded("WISP_Isplit", [&] {
    out(newchain, "newchain") = WISP_CHAIN_NULL;
    put_request(request, [&] {
      const InfoValue algorithm(info, "wisp_algorithm");
      const Chain& on = chain_of(chain);
      Task<Chain> made =
          async_split(on, label_of("color", color, color_count, color_type), order_of(color_order),
                      label_of("key", key, key_count, key_type), order_of(key_order), {algorithm.get()});
      return on.start(set_handle(std::move(made), newchain));
    });
  });
}

int WISP_Comm_split(WISP_Comm comm, int color, int key, WISP_Comm* newcomm) {
  return guarded("WISP_Comm_split", [&] {
    out(newcomm, "newcomm") = WISP_COMM_NULL;
    *newcomm = new_comm(comm_of(comm).split(color, key));
  });
}

int WISP_Split_by_string(WISP_Chain chain, const char* color, WISP_Chain* newchain) {
  return guarded("WISP_Split_by_string", [&] {
    out(newchain, "newchain");
    if (color == nullptr) throw Error(MPI_ERR_ARG, "color = NULL");
    *newchain = new_chain(by_string(chain_of(chain), color));
  });
}

int WISP_Split_by_host(WISP_Chain chain, WISP_Chain* newchain) {
  return guarded("WISP_Split_by_host",
                 [&] { put_chain(newchain, "newchain", [&] { return by_host(chain_of(chain)); }); });
}

int WISP_Split_by_shared_memory(WISP_Chain chain, WISP_Chain* newchain) {
  return guarded("WISP_Split_by_shared_memory",
                 [&] { put_chain(newchain, "newchain", [&] { return by_shared_memory(chain_of(chain)); }); });
}

int WISP_Split_two_level(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
                         const WISP_Order* color_order, WISP_Chain* members, WISP_Chain* leaders) {
  return guarded("WISP_Split_two_level", [&] {
    out(members, "members");
    out(leaders, "leaders");
    TwoLevels levels =
        two_level(chain_of(chain), label_of("color", color, color_count, color_type), order_of(color_order));
    *members = new_chain(std::move(levels.members));
    *leaders = new_chain(std::move(levels.leaders));
  });
}

int WISP_Group_rank(WISP_Chain chain, const void* color, int color_count, MPI_Datatype color_type,
                    const WISP_Order* color_order, int* group, int* groups, int* rank, int* size) {
  return guarded("WISP_Group_rank", [&] {
    const GroupRank found =
        group_rank(chain_of(chain), label_of("color", color, color_count, color_type), order_of(color_order));
    put(group, found.group);
    put(groups, found.groups);
    put(rank, found.rank);
    put(size, found.size);
  });
}

}  // extern "C"
