// Communicators, their making, and messages between two ranks.

#include "wisp/comm.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>
#include <vector>

#include "comm/comm_access.hpp"
#include "python/arguments.hpp"
#include "python/module.hpp"
#include "python/mpi4py.hpp"
#include "transport/mpi_engine.hpp"
#include "transport/mpi_process.hpp"
#include "wisp/split.hpp"

namespace wisp::python {
namespace {

/// The interpreter's lock is the lock: a second one would deadlock with it where an operator of Python's is
/// called.
MPI_Comm comm_below(nb::handle of, const char* call) {
  const MPI_Comm comm = comm_in(of, "comm");
  detail::check_comm(comm, call);  // before the engine is made with it
  detail::MpiEngine::of_process(comm)->trust_threads();
  return comm;
}

ConstBuffer to_send(Views& views, Argument buf, const char* argument = "buf") {
  return views.readable(buf, {.argument = argument});
}
Buffer to_receive(Views& views, Argument buf, const char* argument = "buf") {
  return views.writable(buf, {.argument = argument});
}

/// What `loads` makes of the bytes of a message of any size; None from MPI.PROC_NULL.
OwnRequest start_receive_of_object(const Comm& comm, const nb::object& loads, int source, int tag) {
  detail::check_member(comm, "wisp::Comm::recv");
  const auto data = std::make_shared<nb::object>();
  Request request = comm.ireceive_whole(
      MPI_BYTE,
      [data](std::size_t bytes) -> void* {
        *data = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
        if (!data->is_valid()) throw nb::python_error();
        return PyBytes_AS_STRING(data->ptr());
      },
      source, tag);
  return {std::move(request), Views(), [data, loads](const Status& of) -> nb::object {
            return of.source == MPI_PROC_NULL ? nb::none() : loads(*data);
          }};
}

void define_messages(nb::class_<Comm>& comm) {
  const auto buf = nb::arg("buf").none();
  const auto dest = nb::arg("dest");
  const auto tag = nb::arg("tag") = 0;
  const auto source = nb::arg("source") = any_source;
  const auto from_tag = nb::arg("tag") = any_tag;
  const auto status = nb::arg("status") = nb::none();

  using Send = Request (Comm::*)(const ConstBuffer&, int, int) const;
  const auto define_send = [&](const Faces& names, Send start, Send init, const char* text) {
    const auto own = [](Send how) {
      return [how](const Comm& on, Argument data, int to, int with_tag) {
        check_alive(on, "wisp::Comm::Send");
        Views views;
        Request request = (on.*how)(to_send(views, data), to, with_tag);
        return OwnRequest(std::move(request), std::move(views));
      };
    };
    comm.def(
        names.blocking,
        [started = own(start)](const Comm& on, Argument data, int to, int with_tag) {
          started(on, data, to, with_tag).wait();
        },
        buf, dest, tag, text);
    comm.def(names.nonblocking, own(start), buf, dest, tag, "The same, started.");
    comm.def(names.persistent, own(init), buf, dest, tag, "The same as a persistent request.");
  };
  define_send({"Send", "Isend", "Send_init"}, &Comm::isend, &Comm::send_init,
              "A message to another rank. α + nβ.");
  define_send({"Ssend", "Issend", "Ssend_init"}, &Comm::issend, &Comm::ssend_init,
              "The same; it ends when the receive has begun.");
  using Receive = Request (Comm::*)(const Buffer&, int, int) const;
  const auto own = [](Receive how) {
    return [how](const Comm& on, Argument data, int from, int with_tag) {
      check_alive(on, "wisp::Comm::Recv");
      Views views;
      Request request = (on.*how)(to_receive(views, data), from, with_tag);
      return OwnRequest(std::move(request), std::move(views));
    };
  };
  comm.def(
      "Recv",
      [started = own(&Comm::ireceive)](const Comm& on, Argument data, int from, int with_tag,
                                       nb::handle into) {
        MPI_Status* const to_tell = status_in(into);
        return told(started(on, data, from, with_tag).wait(), to_tell);
      },
      buf, source, from_tag, status, "Receives a message, and gives its status.");
  comm.def("Irecv", own(&Comm::ireceive), buf, source, from_tag, "The same, started.");
  comm.def("Recv_init", own(&Comm::receive_init), buf, source, from_tag, "The same as a persistent request.");
  comm.def(
      "Sendrecv",
      [](const Comm& on, Argument sendbuf, int to, int sendtag, Argument recvbuf, int from, int recvtag,
         nb::handle into) {
        check_alive(on, "wisp::Comm::Sendrecv");
        MPI_Status* const to_tell = status_in(into);
        Views views;
        const ConstBuffer sent = to_send(views, sendbuf, "sendbuf");
        Request request =
            on.isendrecv(sent, to, sendtag, to_receive(views, recvbuf, "recvbuf"), from, recvtag);
        return told(OwnRequest(std::move(request), std::move(views)).wait(), to_tell);
      },
      nb::arg("sendbuf").none(), dest, nb::arg("sendtag") = 0, nb::arg("recvbuf") = nb::none(), source,
      nb::arg("recvtag") = any_tag, status, "Sends and receives at once, and gives the status of what came.");
  comm.def(
      "Sendrecv_replace",
      [](const Comm& on, Argument data, int to, int sendtag, int from, int recvtag, nb::handle into) {
        check_alive(on, "wisp::Comm::Sendrecv_replace");
        MPI_Status* const to_tell = status_in(into);
        Views views;
        Request request = on.isendrecv_replace(to_receive(views, data), to, sendtag, from, recvtag);
        return told(OwnRequest(std::move(request), std::move(views)).wait(), to_tell);
      },
      buf, dest, nb::arg("sendtag") = 0, source, nb::arg("recvtag") = any_tag, status,
      "The same from and into one buffer.");
  comm.def("_irecv", &start_receive_of_object, nb::arg("loads"), nb::arg("source"), nb::arg("tag"));
  comm.def(
      "Probe",
      [](const Comm& on, int from, int with_tag, nb::handle into) {
        MPI_Status* const to_tell = status_in(into);
        detail::check_member(on, "wisp::Comm::Probe");
        if (!detail::CommAccess::world(on).engine().can_wait())
          throw Error(MPI_ERR_COMM, "wisp::Comm::Probe: a rank of a simulated cluster cannot wait");
        Request probing(probe(on, from, with_tag), detail::CommAccess::context(on),
                        Request::Unwinding::cancels);
        return told(wait_for(probing), to_tell);
      },
      source, from_tag, status, "The status of the next message that matches, which stays to be received.");
  comm.def(
      "Iprobe",
      [](const Comm& on, int from, int with_tag, nb::handle into) {
        MPI_Status* const to_tell = status_in(into);
        const std::optional<Status> found = on.iprobe(from, with_tag);
        if (found) told(*found, to_tell);
        return found;
      },
      source, from_tag, status, "The same, or None if none has arrived.");
}

/// Blocks of bytes to ranks that need not know of them.
OwnRequest start_exchange(const Comm& comm, const std::vector<std::pair<int, nb::object>>& messages) {
  check_alive(comm, "wisp::Comm::exchange");
  Views views;
  std::vector<Outgoing> outgoing;
  for (const auto& [destination, block] : messages)
    outgoing.push_back({destination, to_send(views, block, "messages")});
  const auto arrivals = std::make_shared<Arrivals>();
  Request request = comm.iexchange(outgoing, *arrivals);
  return {std::move(request), std::move(views), [arrivals](const Status&) -> nb::object {
            nb::list blocks;
            for (const Arrivals::Block& block : *arrivals)
              blocks.append(nb::make_tuple(block.source, nb::bytes(block.bytes.data(), block.bytes.size())));
            return blocks;
          }};
}

Label label(const std::optional<nb::bytes>& ordered) {
  if (!ordered) return std::optional<std::string>();
  return std::span(static_cast<const std::byte*>(ordered->data()), ordered->size());
}

Task<> split_into(std::shared_ptr<Comm> made, Comm comm, Label color, Label key) {
  const Chain chain = co_await async_split(comm, std::move(color), {}, std::move(key));
  if (chain.empty()) co_return;
  Request request = chain.ito_comm(*made);
  co_await request;
}

/// Colors and keys as bytes in their order; a color of None is none.
OwnRequest start_split(const Comm& comm, const std::optional<nb::bytes>& color, const nb::bytes& key) {
  detail::check_member(comm, "wisp::Comm::split");
  const auto made = std::make_shared<Comm>();
  Request request = comm.start(split_into(made, comm, label(color), label(key)));
  return {std::move(request), Views(), [made](const Status&) { return nb::cast(*made); }};
}

}  // namespace

void define_comm(nb::module_& module) {
  auto comm = nb::class_<Comm>(
      module, "Comm",
      "Ranks of an MPI communicator, mostly a range of them. Made locally, freed when nobody holds it; "
      "operations on different communicators never interfere.");
  comm.def(
          "__init__",
          [](Comm* made, nb::handle of, int mpi_communicators) {
            new (made) Comm(Comm::duplicate(comm_below(of, "wisp::Comm::duplicate"), {mpi_communicators}));
          },
          nb::arg("comm").none(), nb::arg("mpi_communicators") = 1,
          "All ranks of a communicator of mpi4py. Collective the first time (as many are made as "
          "`mpi_communicators` says, freed with it), local afterwards. Each of these has room for some more "
          "communicators at one time.")
      .def_static(
          "attach", [](nb::handle of) { return Comm::attach(comm_below(of, "wisp::Comm::attach")); },
          nb::arg("comm"),
          "The same without a duplicate: messages share the communicator with those of the caller, whose own "
          "receives must name their tags meanwhile (below half of the largest one).")
      .def_prop_ro("rank", &Comm::rank, "The caller's rank; MPI.UNDEFINED if it is no member.")
      .def_prop_ro("size", &Comm::size)
      .def_prop_rw(
          "name", &Comm::describe, [](const Comm& of, const std::string& name) { of.set_name(name); },
          "One that it was given, or how it was made, as in world[0..6:2].")
      .def("get_failed", &Comm::failed,
           "The ranks of its processes that have failed, as far as this process knows. Local.")
      .def("Get_rank", &Comm::rank)
      .def("Get_size", &Comm::size)
      .def("__repr__",
           [](const Comm& of) {
             const std::string size = std::to_string(of.size());
             return of.is_member() ? "wisp.Comm(rank " + std::to_string(of.rank()) + " of " + size + ")"
                                   : "wisp.Comm(no member of " + size + " ranks)";
           })
      .def("__bool__", &Comm::is_member, "True where the caller is a member.")
      .def("range", &Comm::range, nb::arg("first"), nb::arg("last"), nb::arg("stride") = 1,
           "The ranks first, first + stride, … up to last (which is one of them), empty if last < first. "
           "Local, "
           "no message, O(log p).")
      .def(
          "subset", [](const Comm& of, const std::vector<int>& ranks) { return of.subset(ranks); },
          nb::arg("ranks"), "The given ranks, in that order. Local; O(log p) for each.")
      .def(
          "Create_group",
          [](const Comm& of, nb::handle group, int tag) {
            const auto made = std::make_shared<Comm>();
            Request request = of.icreate_group(group_in(group, "group"), tag, *made);
            OwnRequest(std::move(request), Views(), [made](const Status&) { return nb::none(); }).wait();
            return *made;
          },
          nb::arg("group"), nb::arg("tag") = 0,
          "The ranks of a group of mpi4py's; called by its members, in any order with other creations.")
      .def(
          "Dup", [](const Comm& of, nb::handle) { return of.range(0, of.size() - 1); },
          nb::arg("info") = nb::none(), "The same ranks, apart from this one. Local, no message.")
      .def(
          "Free", [](Comm& of) { of = Comm(); }, "Lets go of it: it is empty then. Local.")
      .def(
          "Get_group", [](const Comm& of) { return wrapped_group(of.mpi_group()); },
          "The same processes as a group of mpi4py's, which the caller frees. Local.")
      .def("node", &Comm::node, "The ranks on the caller's node. Local, no message.")
      .def("node_leaders", &Comm::node_leaders, "The first rank of each node; empty for others. Local.")
      .def("_split", &start_split, nb::arg("color").none(), nb::arg("key"))
      .def("translate", &Comm::translate, nb::arg("rank"), nb::arg("other"),
           "The rank in `other` of the process with `rank` here, or MPI.UNDEFINED.")
      .def(
          "to_mpi",
          [](const Comm& of, int tag) {
            MPI_Comm made = MPI_COMM_NULL;
            {
              const nb::gil_scoped_release others_run;  // MPI alone is called
              made = of.to_mpi(tag);
            }
            return wrapped_comm(made);
          },
          nb::arg("tag") = 0,
          "A communicator of mpi4py with the same ranks, which the caller frees. Collective.")
      .def("_iexchange", &start_exchange, nb::arg("messages"));
  define_messages(comm);
  define_collectives(comm);
}

}  // namespace wisp::python
