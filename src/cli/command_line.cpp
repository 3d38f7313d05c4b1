#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "wisp/version.h"

namespace wisp::cli {
namespace {

/// Letters to insert, remove or change (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

/// The option's own names, and the values that it may have if they are known.
struct Described {
  std::vector<std::string> names;
  std::vector<std::string> values;
  std::string what;
  bool takes_value;
};

/// The values of `one_of`, which writes them in braces.
std::vector<std::string> values_of(const std::string& type) {
  std::vector<std::string> values;
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return values;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t next = std::min(type.find(',', at), end);
    values.push_back(type.substr(at, next - at));
    at = next + 1;
  }
  return values;
}

bool takes_value(const CLI::Option& option) {
  return option.get_expected_max() > 0;
}

std::vector<Described> options_of(const CLI::App& app) {
  std::vector<Described> options;
  for (const CLI::Option* option : app.get_options()) {
    Described described{
        {}, values_of(option->get_type_name()), option->get_description(), takes_value(*option)};
    for (const std::string& name : option->get_snames()) described.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) described.names.push_back("--" + name);
    options.push_back(std::move(described));
  }
  return options;
}

std::string words_of(const std::vector<Described>& options) {
  std::string words;
  for (const Described& option : options) {
    for (const std::string& name : option.names) words += name + " ";
    if (option.names.empty() && !option.values.empty())
      words += fmt::format("{} ", fmt::join(option.values, " "));
  }
  return words;
}

std::string bash_completion(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names += command->get_name() + " ";
    const std::vector<Described> options = options_of(*command);
    std::string values;
    for (const Described& option : options) {
      if (option.names.empty() || !option.takes_value) continue;
      values += fmt::format("        {}) COMPREPLY=({}); return ;;\n", fmt::join(option.names, "|"),
                            option.values.empty() ? "$(compgen -f -- \"$word\")"
                                                  : fmt::format("$(compgen -W '{}' -- \"$word\")",
                                                                fmt::join(option.values, " ")));
    }
    cases += fmt::format(
        "    {})\n      case $before in\n{}      esac\n"
        "      COMPREPLY=($(compgen -W '{}' -- \"$word\") $(compgen -f -- \"$word\")) ;;\n",
        command->get_name(), values, words_of(options));
  }
  // The command is the word behind the program, wherever that stands.
  return fmt::format(
      R"(# Completion of wisp in bash: source it, or put it where bash-completion looks.
_wisp() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} i command=
  COMPREPLY=()
  for ((i = 0; i + 1 < COMP_CWORD; ++i)); do
    [ "${{COMP_WORDS[i]##*/}}" = wisp ] && command=${{COMP_WORDS[i+1]}} && break
  done
  case $command in
    '') COMPREPLY=($(compgen -W '{}--help --version' -- "$word")) ;;
{}  esac
}}
complete -o filenames -F _wisp wisp
)",
      names, cases);
}

/// zsh runs bash's completions.
std::string zsh_completion(const CLI::App& app) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash_completion(app);
}

std::string fish_completion(const CLI::App& app) {
  const auto quoted = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return "'" + text + "'";
  };
  std::string script = "# Completion of wisp in fish.\n";
  for (const CLI::App* command : commands_of(app)) {
    script += fmt::format("complete -c wisp -n __fish_use_subcommand -f -a {} -d {}\n", command->get_name(),
                          quoted(command->get_description()));
    for (const Described& option : options_of(*command)) {
      const std::string values =
          option.values.empty() ? "" : fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
      const std::string condition =
          fmt::format("complete -c wisp -n '__fish_seen_subcommand_from {}'", command->get_name());
      if (option.names.empty() && !values.empty()) script += condition + values + "\n";
      for (const std::string& name : option.names) {
        if (!name.starts_with("--")) continue;
        script += fmt::format("{} -l {}{}{} -d {}\n", condition, name.substr(2),
                              option.takes_value && values.empty() ? " -r" : "", values, quoted(option.what));
      }
    }
  }
  return script;
}

/// For troff: no line begins with a dot or a quote, and a hyphen can be copied.
std::string escaped(const std::string& text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '-' || c == '\\') result += '\\';
    result += c;
    begins_line = c == '\n';
  }
  return result;
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t most_typos = 2;
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return distance(word, a) < distance(word, b);
  });
  if (nearest == names.end() || distance(word, *nearest) > std::min(most_typos, nearest->size() / 2))
    return "";
  return fmt::format(", did you mean '{}'?", *nearest);
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  return CLI::Validator(
      [names](std::string& text) -> std::string {
        if (std::find(names.begin(), names.end(), text) != names.end()) return {};
        const std::string near = suggestion(text, names);
        return fmt::format("'{}' is not one of {}{}", text, fmt::join(names, ", "), near);
      },
      fmt::format("{{{}}}", fmt::join(names, ",")));
}

CLI::Validator with_unit(const std::map<std::string, double>& units, Zero zero) {
  std::vector<std::string> names;
  for (const auto& [name, factor] : units) names.push_back(name);
  return CLI::Validator(
      [units, names, zero](std::string& text) -> std::string {
        std::size_t used = 0;
        double number = 0;
        try {
          number = std::stod(text, &used);
        } catch (const std::exception&) {
          return "'" + text + "' is not a number with a unit";
        }
        const auto unit = units.find(text.substr(used));
        if (unit == units.end())
          return "'" + text + "' needs a unit: " + fmt::format("{}", fmt::join(names, ", "));
        if (zero == Zero::allowed && !(number >= 0)) return "'" + text + "' is below 0";
        if (zero == Zero::refused && !(number > 0)) return "'" + text + "' is not above 0";
        if (!std::isfinite(number * unit->second)) return "'" + text + "' is no number that a computer has";
        text = fmt::format("{}", number * unit->second);
        return {};
      },
      "NUMBER+UNIT");
}

std::string completion(const CLI::App& app, const std::string& shell) {
  return shell == "fish" ? fish_completion(app) : shell == "zsh" ? zsh_completion(app) : bash_completion(app);
}

std::string man_page(const CLI::App& app) {
  std::string page = fmt::format(
      ".TH WISP 1 \"\" \"wisp {}\" \"wisp\"\n.ad l\n.SH NAME\nwisp \\- {}\n.SH SYNOPSIS\n.B mpirun \\-n\n.I "
      "P\n"
      ".B wisp\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH COMMANDS\n",
      WISP_VERSION, escaped(app.get_description()));
  for (const CLI::App* command : commands_of(app)) {
    page += fmt::format(".SS {}\n{}.\n", escaped(command->get_name()), escaped(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      page += fmt::format(
          ".TP\n\\fB{}\\fR {}\n{}\n", escaped(option->get_name(option->get_positional(), true)),
          escaped(takes_value(*option) ? option->get_type_name() : ""), escaped(option->get_description()));
    }
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(command->get_footer()));
  }
  return page +
         ".SH EXIT STATUS\n0 if all is well, 2 for a wrong call or input, 1 for anything else; of run, that "
         "of the\nprogram, or 127 if it cannot be started.\n";
}

}  // namespace wisp::cli
