#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Orders of lines and records as strings whose bytes are in that order: keys are put in front, reversed ones
// with all bits turned. So one sort by bytes does them all, and what it has made is taken apart again.
//
//   -k 2,2n  "b 12"   →   81 00000002 "12" 00 │ b 12          key, then the line itself, which decides on
//   ties -s -k 2,2n        →   81 00000002 "12" 00 │ place │ b 12

namespace wisp::cli {

/// What of a line is compared, as -k says: F[.C][OPTS][,F[.C][OPTS]]. Fields and characters count from 1.
struct LineKey {
  std::size_t first_field = 1;
  std::size_t first_character = 1;
  std::size_t last_field = 0;      ///< 0: to the end of the line
  std::size_t last_character = 0;  ///< 0: to the end of the field
  bool skips_blanks_at_first = false;
  bool skips_blanks_at_last = false;
  bool is_numeric = false;
  bool ignores_case = false;
  bool is_reversed = false;
};

/// Of a key's letters (n, r, f), or for keys without any.
struct LineKeyOptions {
  bool is_numeric = false;
  bool ignores_case = false;
  bool is_reversed = false;
};

/// Throws BadInput if the text is no key.
LineKey parse_line_key(const std::string& text, const LineKeyOptions& inherited);

struct LineOrder {
  std::vector<LineKey> keys;      ///< none: the whole line by its bytes
  std::optional<char> separator;  ///< of fields; none: they begin with blanks
  bool is_reversed = false;       ///< of lines whose keys are equal, or without keys
  bool keeps_places = false;      ///< lines or records with equal keys stay in their order
  /// Of records: the bytes that are compared first, and decide if they are to stay in their order.
  std::size_t key_begin = 0;
  std::size_t key_end = 0;

  /// Lines are compared as they are.
  bool is_plain() const { return keys.empty() && !is_reversed && key_end == 0; }
  /// Appends the line as a string of its order. `place`: where it is in the input.
  void encode(std::string_view line, std::uint64_t place, std::string& to) const;
  /// Appends the line that was encoded.
  void decode(std::string_view encoded, std::string& to) const;
  /// How many bytes of an encoded line its keys take; without keys, all.
  std::size_t key_size(std::string_view encoded) const;

 private:
  std::string_view key_of(std::string_view line, const LineKey& key) const;
  std::size_t field_begin(std::string_view line, std::size_t field) const;
  std::size_t field_end(std::string_view line, std::size_t field) const;
};

}  // namespace wisp::cli
