#include "c/shims.hpp"
#include "transport/throw_error.hpp"

namespace wisp::c {
namespace {

/// The C interface promises the sentence of the last error; it belongs to the thread that made it.
std::string& last_sentence() {
  thread_local std::string sentence;
  return sentence;
}

}  // namespace

int keep_error(const char* call, int error_class, const std::string& sentence) noexcept {
  try {
    // "wisp::bcast: root = …" becomes "WISP_Bcast: root = …".
    const std::size_t colon = sentence.find(": ");
    const bool names_call = sentence.starts_with("wisp::") && colon != std::string::npos;
    last_sentence() = detail::formatted("{}: {}", call, names_call ? sentence.substr(colon + 2) : sentence);
  } catch (...) {
    last_sentence().clear();
  }
  return error_class;
}

}  // namespace wisp::c

extern "C" const char* WISP_Error_message(void) {
  return wisp::c::last_sentence().c_str();
}
