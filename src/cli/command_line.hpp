#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

// What the tree of commands and options says about itself: suggestions, completion, a manual page.

namespace wisp::cli {

/// ", did you mean 'groups'?" if one of the names is within two letters of the word; else nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

/// A validator for one of the names, which suggests the nearest.
CLI::Validator one_of(const std::vector<std::string>& names);

enum class Zero { refused, allowed };
/// Turns "2us" into "2e-6": a positive number, or 0, and one of the units. (CLI11's own allows no '/' in a
/// unit.)
CLI::Validator with_unit(const std::map<std::string, double>& units, Zero zero = Zero::refused);

/// A script that completes commands, options and their values.
std::string completion(const CLI::App& app, const std::string& shell);

/// A manual page for section 1.
std::string man_page(const CLI::App& app);

}  // namespace wisp::cli
