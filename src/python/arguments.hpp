#pragma once

#include "python/faces.hpp"
#include "python/views.hpp"
#include "wisp/comm.hpp"
#include "wisp/neighborhood.hpp"

// How the buffers of a collective are read, on a communicator or a neighborhood: one buffer, one with a block
// for each rank or neighbor, blocks of any sizes, or of any datatypes.

namespace wisp::python {

using Argument = const nb::object&;

/// How many blocks there are, of those that are sent and those that come.
inline int outgoing(const Comm& on) {
  return on.size();
}
inline int incoming(const Comm& on) {
  return on.size();
}
inline int outgoing(const Neighborhood& on) {
  return static_cast<int>(on.targets().size());
}
inline int incoming(const Neighborhood& on) {
  return static_cast<int>(on.sources().size());
}

template <class On>
ConstBuffer from_one(Views& views, Argument given, const On&) {
  return views.readable(given, {.argument = "sendbuf"});
}
template <class On>
ConstBuffer from_even_blocks(Views& views, Argument given, const On& on) {
  return views.readable(given, {.argument = "sendbuf", .blocks = outgoing(on)});
}
template <class On>
ConstBlocks from_blocks(Views& views, Argument given, const On& on) {
  return views.readable_blocks(given, outgoing(on), {.argument = "sendbuf"});
}
template <class On>
ConstBlocks from_typed_blocks(Views& views, Argument given, const On& on) {
  return views.readable_blocks(given, outgoing(on), {.argument = "sendbuf", .is_typed = true});
}
template <class On>
Buffer to_one(Views& views, Argument given, const On&) {
  return views.writable(given, {.argument = "recvbuf"});
}
template <class On>
Buffer to_even_blocks(Views& views, Argument given, const On& on) {
  return views.writable(given, {.argument = "recvbuf", .blocks = incoming(on)});
}
template <class On>
Blocks to_blocks(Views& views, Argument given, const On& on) {
  return views.writable_blocks(given, incoming(on), {.argument = "recvbuf"});
}
template <class On>
Blocks to_typed_blocks(Views& views, Argument given, const On& on) {
  return views.writable_blocks(given, incoming(on), {.argument = "recvbuf", .is_typed = true});
}

/// The methods of a collective of a sendbuf and a recvbuf.
template <class Options, auto collective, auto read, auto write, class On>
void define_without_root(nb::class_<On>& in, const Faces& names, const char* text) {
  define(
      in, names,
      +[](const On& on, Views& views, Argument sendbuf, Argument recvbuf, Tag tag, Text algorithm) {
        const auto from = read(views, sendbuf, on);
        const auto to = write(views, recvbuf, on);
        return collective(on, from, to, Options{.own_tag = tag, .algorithm = algorithm});
      },
      text, nb::arg("sendbuf").none(), nb::arg("recvbuf").none(), nb::kw_only(), nb::arg("tag") = nb::none(),
      nb::arg("algorithm") = "");
}

}  // namespace wisp::python
