#include "c/shims.hpp"

#include <string>
#include <utility>

#include "transport/throw_error.hpp"
#include "wisp/detail/at_thread_end.hpp"

namespace wisp::c {
namespace {

/// The C interface promises the sentence of the last error; it belongs to the thread that made it. A pointer:
/// what runs at the end of the program, when objects of threads are gone, may err as well.
constinit thread_local std::string* last_sentence = nullptr;

void free_sentence() noexcept {
  delete std::exchange(last_sentence, nullptr);
}

}  // namespace

int keep_error(const char* call, int error_class, const std::string& sentence) noexcept {
  try {
    // "wisp::bcast: root = …" becomes "WISP_Bcast: root = …".
    const std::size_t colon = sentence.find(": ");
    const bool names_call = sentence.starts_with("wisp::") && colon != std::string::npos;
    if (last_sentence == nullptr) {
      last_sentence = new std::string;
      detail::at_thread_end<&free_sentence>();
    }
    *last_sentence = detail::formatted("{}: {}", call, names_call ? sentence.substr(colon + 2) : sentence);
  } catch (...) {
    if (last_sentence != nullptr) last_sentence->clear();
  }
  return error_class;
}

}  // namespace wisp::c

extern "C" const char* WISP_Error_message(void) {
  return wisp::c::last_sentence == nullptr ? "" : wisp::c::last_sentence->c_str();
}
