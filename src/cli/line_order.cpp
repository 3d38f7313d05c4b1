#include "cli/line_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/bad_input.hpp"

namespace wisp::cli {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void turn(std::string& bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

/// Text whose end is seen: two zeros, which are less than any character; a zero in it is followed by 255.
void append_text(std::string_view text, std::string& to) {
  for (std::size_t zero = text.find('\0'); zero != text.npos; zero = text.find('\0')) {
    to.append(text.substr(0, zero + 1));
    to.push_back('\xff');
    text.remove_prefix(zero + 1);
  }
  to.append(text);
  to.append(2, '\0');
}
/// Bytes of such a text and its end; `flip` is 255 if they are turned.
std::size_t text_size(std::string_view bytes, unsigned char flip) {
  const char zero = static_cast<char>(flip);
  for (std::size_t at = 0;; at += 2) {
    at = bytes.find(zero, at);
    if (bytes[at + 1] == zero) return at + 2;
  }
}
void append_from_text(std::string_view bytes, unsigned char flip, std::string& to) {
  const char zero = static_cast<char>(flip);
  const std::size_t begin = to.size();
  bytes.remove_suffix(2);
  for (std::size_t at = bytes.find(zero); at != bytes.npos; at = bytes.find(zero)) {
    to.append(bytes.substr(0, at + 1));
    bytes.remove_prefix(at + 2);
  }
  to.append(bytes);
  if (flip != 0) turn(to, begin);
}

constexpr unsigned char is_negative = 0x7f, is_zero = 0x80, is_positive = 0x81;

/// A number as sort -n reads it, of any length: sign, how many digits before the point, digits, end. What is
/// no number is zero.
void append_number(std::string_view text, std::string& to) {
  const auto end = text.end();
  auto at = std::find_if_not(text.begin(), end, is_blank);
  const bool has_sign = at != end && *at == '-';
  if (has_sign) ++at;
  const auto digits = std::find_if(at, std::find_if_not(at, end, is_digit), [](char c) { return c != '0'; });
  const auto point = std::find_if_not(digits, end, is_digit);
  auto last = point;
  if (point != end && *point == '.') {
    const auto fraction_end = std::find_if_not(point + 1, end, is_digit);
    last = fraction_end;
    while (last > point + 1 && *(last - 1) == '0') --last;
    if (last == point + 1) last = point;
  }
  if (digits == last) return to.push_back(static_cast<char>(is_zero));
  const std::size_t begin = to.size();
  const auto length = static_cast<std::uint32_t>(point - digits);
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<char>(length >> shift));
  to.append(digits, point);
  if (last != point) to.append(point + 1, last);
  to.push_back('\0');
  if (has_sign) turn(to, begin);
  to.insert(begin, 1, static_cast<char>(has_sign ? is_negative : is_positive));
}
std::size_t number_size(std::string_view bytes, unsigned char flip) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto sign = static_cast<unsigned char>(byte(0) ^ flip);
  if (sign == is_zero) return 1;
  const auto turned = static_cast<unsigned char>(sign == is_negative ? flip ^ 0xff : flip);
  std::size_t length = 0;
  for (std::size_t i = 1; i <= 4; ++i) length = length << 8 | (byte(i) ^ turned);
  return bytes.find(static_cast<char>(turned), 5 + length) + 1;
}

constexpr std::size_t place_bytes = 8;

void append_place(std::uint64_t place, std::string& to) {
  for (int shift = 56; shift >= 0; shift -= 8) to.push_back(static_cast<char>(place >> shift));
}

/// Digits, which are taken from the text; 0 if there are none.
std::size_t take_number(std::string_view& text) {
  constexpr std::size_t behind_all = std::size_t{1} << 40;  // no line is as long
  std::size_t number = 0;
  for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1))
    number = std::min(number * 10 + static_cast<std::size_t>(text[0] - '0'), behind_all);
  return number;
}

}  // namespace

LineKey parse_line_key(const std::string& text, const LineKeyOptions& inherited) {
  const auto fail = [&](std::string_view why) {
    throw BadInput(fmt::format("wisp sort: -k {}: {}", text, why));
  };
  LineKey key;
  bool has_options = false;
  std::string_view rest = text;
  const auto take_options = [&](bool& skips_blanks) {
    for (; !rest.empty() && rest[0] != ','; rest.remove_prefix(1)) {
      has_options = true;
      switch (rest[0]) {
        case 'b':
          skips_blanks = true;
          break;
        case 'n':
          key.is_numeric = true;
          break;
        case 'f':
          key.ignores_case = true;
          break;
        case 'r':
          key.is_reversed = true;
          break;
        default:
          fail(fmt::format("'{}' is not one of b, f, n, r", rest[0]));
      }
    }
  };
  const auto take_point = [&] {
    if (rest.empty() || rest[0] != '.') return false;
    rest.remove_prefix(1);
    return true;
  };
  key.first_field = take_number(rest);
  if (key.first_field == 0) fail("it is not F[.C][OPTS][,F[.C][OPTS]] with fields from 1");
  if (take_point()) {
    key.first_character = take_number(rest);
    if (key.first_character == 0) fail("characters count from 1");
  }
  take_options(key.skips_blanks_at_first);
  if (!rest.empty()) {
    rest.remove_prefix(1);
    key.last_field = take_number(rest);
    if (key.last_field == 0) fail("it is not F[.C][OPTS][,F[.C][OPTS]] with fields from 1");
    if (take_point()) key.last_character = take_number(rest);
    take_options(key.skips_blanks_at_last);
    if (!rest.empty()) fail("there is something behind it");
  }
  if (!has_options) {
    key.is_numeric = inherited.is_numeric;
    key.ignores_case = inherited.ignores_case;
    key.is_reversed = inherited.is_reversed;
  }
  return key;
}

std::size_t LineOrder::field_begin(std::string_view line, std::size_t field) const {
  std::size_t at = 0;
  for (; field > 1 && at < line.size(); --field) {
    if (separator) {
      at = std::min(line.find(*separator, at), line.size() - 1) + 1;
    } else {
      while (at < line.size() && is_blank(line[at])) ++at;
      while (at < line.size() && !is_blank(line[at])) ++at;
    }
  }
  return at;
}

std::size_t LineOrder::field_end(std::string_view line, std::size_t field) const {
  if (!separator) return field_begin(line, field + 1);
  return std::min(line.find(*separator, field_begin(line, field)), line.size());
}

std::string_view LineOrder::key_of(std::string_view line, const LineKey& key) const {
  const auto skip_blanks = [&](std::size_t at) {
    while (at < line.size() && is_blank(line[at])) ++at;
    return at;
  };
  std::size_t begin = field_begin(line, key.first_field);
  if (key.skips_blanks_at_first) begin = skip_blanks(begin);
  begin = std::min(begin + key.first_character - 1, line.size());
  std::size_t end = line.size();
  if (key.last_field > 0 && key.last_character == 0) end = field_end(line, key.last_field);
  if (key.last_field > 0 && key.last_character > 0) {
    end = field_begin(line, key.last_field);
    if (key.skips_blanks_at_last) end = skip_blanks(end);
    end = std::min(end + key.last_character, line.size());
  }
  return line.substr(begin, std::max(begin, end) - begin);
}

void LineOrder::encode(std::string_view line, std::uint64_t place, std::string& to) const {
  const std::size_t begin = to.size();
  if (key_end > 0) {
    to.append(line.substr(key_begin, key_end - key_begin));
    if (is_reversed) turn(to, begin);
    const std::size_t rest = to.size();
    if (keeps_places) append_place(place, to);
    to.append(line.substr(0, key_begin));
    to.append(line.substr(key_end));
    if (is_reversed && !keeps_places) turn(to, rest);
    return;
  }
  for (const LineKey& key : keys) {
    const std::size_t at = to.size();
    const std::string_view text = key_of(line, key);
    if (key.is_numeric) {
      append_number(text, to);
    } else if (key.ignores_case) {
      std::string upper(text);
      for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
      append_text(upper, to);
    } else {
      append_text(text, to);
    }
    if (key.is_reversed) turn(to, at);
  }
  if (keeps_places) append_place(place, to);
  const std::size_t at = to.size();
  if (is_reversed && !keeps_places) {
    append_text(line, to);
    turn(to, at);
  } else {
    to.append(line);
  }
}

std::size_t LineOrder::key_size(std::string_view encoded) const {
  if (key_end > 0) return key_end - key_begin;
  if (keys.empty()) return encoded.size();
  std::size_t size = 0;
  for (const LineKey& key : keys) {
    const unsigned char flip = key.is_reversed ? 0xff : 0;
    size += key.is_numeric ? number_size(encoded.substr(size), flip) : text_size(encoded.substr(size), flip);
  }
  return size;
}

void LineOrder::decode(std::string_view encoded, std::string& to) const {
  if (key_end > 0) {
    const std::string_view key = encoded.substr(0, key_end - key_begin);
    const std::string_view rest = encoded.substr(key.size() + (keeps_places ? place_bytes : 0));
    const auto append = [&](std::string_view part, bool is_turned) {
      const std::size_t at = to.size();
      to.append(part);
      if (is_turned) turn(to, at);
    };
    append(rest.substr(0, key_begin), is_reversed && !keeps_places);
    append(key, is_reversed);
    append(rest.substr(key_begin), is_reversed && !keeps_places);
    return;
  }
  if (!keys.empty()) encoded.remove_prefix(key_size(encoded) + (keeps_places ? place_bytes : 0));
  if (is_reversed && !keeps_places) {
    append_from_text(encoded, 0xff, to);
  } else {
    to.append(encoded);
  }
}

}  // namespace wisp::cli
