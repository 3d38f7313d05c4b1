#pragma once

#include <utility>

#include "collectives/call.hpp"
#include "wisp/task.hpp"

/// Operands in the memory of a device, of what has to look at them: operators run on the host.

namespace wisp::detail {

/// Copies of the operands in the host's memory, while one operation runs. Of irregular blocks, only those of
/// a reduction, which follow each other.
class HostOperands {
 public:
  explicit HostOperands(const Arguments& given);

  const Arguments& arguments() const { return on_host_; }
  /// The results, to where the caller wants them. Where there is none, as of an exclusive sum on the first
  /// rank, the buffer is the caller's, who may be using it.
  void write_back() const;

 private:
  struct Result {
    ScratchVector copy;
    ScratchVector before;  ///< of an exclusive sum, what was there: only what differs is a result
  };
  static Result result_in(const Buffer& to, const Arguments& given);
  static void write_back(const Result& result, const Buffer& to);

  Arguments given_;
  Arguments on_host_;
  ScratchVector send_;
  Result receive_;
  Result second_;
};

/// A run on a Channel or a Link, with the operands in the host's memory: they cross the bus once.
template <class Channel, class Run>
Task<> run_on_host(Channel channel, Arguments given, Run* run) {
  const HostOperands operands(given);
  co_await run(std::move(channel), operands.arguments());
  operands.write_back();
}

}  // namespace wisp::detail
