#include "wisp/sort_strings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "effort.hpp"
#include "wisp/detail/sort/string_run.hpp"
#include "wisp/simulate.hpp"

namespace wisp {
namespace {

using Strings = std::vector<std::string>;

/// Strings with long common beginnings, few characters, zeros and bytes above 127.
std::string random_string(std::mt19937& random) {
  static const std::string characters("ab\0\xff\x80z", 6);
  const auto any = [&](std::size_t below) { return random() % below; };
  std::string string;
  if (any(2) == 0) string = std::string(any(40), 'p');
  for (std::size_t left = any(3) == 0 ? any(30) : any(4); left > 0; --left) string += characters[any(6)];
  return string;
}

Strings random_strings(std::size_t count, std::mt19937& random) {
  Strings strings(count);
  for (std::string& string : strings) string = random_string(random);
  return strings;
}

detail::StringCoder code_strings(const Strings& strings) {
  std::string text;
  std::vector<std::uint64_t> begins{0};
  for (const std::string& string : strings) {
    text += string + "\n";
    begins.push_back(text.size());
  }
  return detail::sort_strings(text, begins, 1);
}

Strings decode_strings(std::span<const std::byte> coded) {
  Strings strings;
  for (detail::StringReader reader(coded); reader.next();) strings.emplace_back(reader.string());
  return strings;
}

TEST(StringRunTest, IsSortedAndReadAnywhere) {
  std::mt19937 random(1);
  for (int round = 0; round < 40 * test::seeds(); ++round) {
    Strings strings = random_strings(random() % 300, random);
    const detail::StringCoder coder = code_strings(strings);
    std::sort(strings.begin(), strings.end());
    ASSERT_EQ(decode_strings(coder.coded), strings);
    const detail::StringRun run{coder.coded, coder.marks, coder.size};
    for (std::size_t i = 0; i < strings.size(); ++i) ASSERT_EQ(run.at(i), strings[i]);
    const std::size_t first = random() % (strings.size() + 1);
    const std::size_t last = first + random() % (strings.size() + 1 - first);
    detail::StringStretch stretch = detail::stretch_of(run, first, last);
    stretch.head.insert(stretch.head.end(), stretch.rest.begin(), stretch.rest.end());
    ASSERT_EQ(decode_strings(stretch.head), Strings(strings.begin() + static_cast<std::ptrdiff_t>(first),
                                                    strings.begin() + static_cast<std::ptrdiff_t>(last)));
  }
}

TEST(StringRunTest, MergesAnyNumberOfRuns) {
  std::mt19937 random(2);
  for (int round = 0; round < 20 * test::seeds(); ++round) {
    std::vector<detail::StringCoder> coders;
    std::vector<detail::StringReader> readers;
    Strings expected;
    for (std::size_t runs = random() % 9; runs > 0; --runs) {
      const Strings strings = random_strings(random() % 60, random);
      coders.push_back(code_strings(strings));
      expected.insert(expected.end(), strings.begin(), strings.end());
    }
    for (const detail::StringCoder& coder : coders) readers.emplace_back(coder.coded);
    std::sort(expected.begin(), expected.end());
    detail::StringMerger merger(std::move(readers));
    std::string last;
    for (const std::string& string : expected) {
      ASSERT_TRUE(merger.next());
      ASSERT_EQ(merger.string(), string);
      ASSERT_EQ(merger.common(), detail::common_prefix(last, string));
      last = string;
    }
    ASSERT_FALSE(merger.next());
  }
}

using StringParts = std::vector<Strings>;

SimulationReport sort_string_parts(StringParts& parts, int seed, StringSortOptions options = {}) {
  SimulationOptions cluster;
  cluster.ranks = static_cast<int>(parts.size());
  cluster.seed = static_cast<std::uint64_t>(seed);
  cluster.jitter = seed == 0 ? 0 : 20e-6;
  cluster.rendezvous = seed % 3 == 1;
  return simulate(cluster, [&](Comm comm) -> Task<> {
    std::vector<std::string>& part = parts[static_cast<std::size_t>(comm.rank())];
    if (seed % 4 == 3) {  // many runs on each rank
      co_await detail::sort_strings_on(comm.channel("test"), part, options, 100);
    } else {
      co_await async_sort(comm, part, options);
    }
  });
}

Strings all_strings(const StringParts& parts) {
  Strings all;
  for (const Strings& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(SortStringsTest, AnyRankCountAnyStrings) {
  std::mt19937 random(3);
  for (int seed = 0; seed < test::seeds(); ++seed) {
    for (std::size_t p = 1; p <= 33; p += seed % 2 == 0 ? 1 : 5) {
      StringParts parts(p);
      for (Strings& part : parts) part = random_strings(random() % 3 == 0 ? 0 : random() % 50, random);
      Strings expected = all_strings(parts);
      std::sort(expected.begin(), expected.end());
      sort_string_parts(parts, seed);
      ASSERT_EQ(all_strings(parts), expected) << p << " ranks, seed " << seed;
      for (std::size_t r = 0; r < p; ++r)
        ASSERT_EQ(parts[r].size(), expected.size() / p + (r < expected.size() % p ? 1 : 0));
    }
  }
}

TEST(SortStringsTest, BalancedByCharacters) {
  std::mt19937 random(4);
  for (std::size_t p = 1; p <= 17; ++p) {
    StringParts parts(p);
    for (Strings& part : parts) part = random_strings(random() % 50, random);
    parts[p / 2].push_back(std::string(3000, 'm'));
    Strings expected = all_strings(parts);
    std::sort(expected.begin(), expected.end());
    sort_string_parts(parts, static_cast<int>(p), {StringSortOptions::Balance::characters});
    ASSERT_EQ(all_strings(parts), expected) << p << " ranks";
    const auto characters = [](const Strings& strings) {
      return std::accumulate(strings.begin(), strings.end(), std::size_t{0},
                             [](std::size_t sum, const std::string& string) { return sum + string.size(); });
    };
    const std::size_t share = characters(expected) / p + 1;
    for (const Strings& part : parts) {
      std::size_t longest = 0;
      for (const std::string& string : part) longest = std::max(longest, string.size());
      EXPECT_LE(characters(part), share + longest + 70);
    }
  }
}

TEST(SortStringsTest, OptionsThatDifferAreAnErrorOnEveryRank) {
  StringParts parts = {{"b", "a"}, {}, {"c"}};
  const StringParts before = parts;
  int errors = 0;
  SimulationOptions cluster;
  cluster.ranks = 3;
  simulate(cluster, [&](Comm comm) -> Task<> {
    StringSortOptions options;
    if (comm.rank() == 1) options.balance = StringSortOptions::Balance::characters;
    try {
      co_await async_sort(comm, parts[static_cast<std::size_t>(comm.rank())], options);
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "wisp::sort: options differ between ranks (balance)");
      ++errors;
    }
  });
  EXPECT_EQ(errors, 3);
  EXPECT_EQ(parts, before);
}

TEST(SortStringsTest, WhatIsCommonIsNotSent) {
  StringParts parts(8);
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t i = 0; i < 1000; ++i)
      parts[r].push_back(std::string(500, 'x') + std::to_string(100000 + (i * 8 + r) * 7919 % 65536));
  const SimulationReport report = sort_string_parts(parts, 0);
  // 8,000 strings of 506 characters, of which a few are left; samples are sent whole.
  EXPECT_LT(report.bytes, 8000u * 506u / 4);
}

}  // namespace
}  // namespace wisp
