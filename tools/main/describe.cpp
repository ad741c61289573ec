#include "tools/main/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace deputy::tools {
namespace {

struct Option {
  std::vector<std::string> names;  ///< "--soc", "-o"; empty: positional
  std::string positional, doc;
  std::vector<std::string> choices;  ///< of the value, when there are few
  bool takes_value = false, repeatable = false;
};

// The parts between braces of a type such as "TEXT:{auto,npu,cpu}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t from = type.find('{'), to = type.find('}');
  std::vector<std::string> out;
  if (from == std::string::npos || to == std::string::npos) return out;
  for (std::size_t at = from + 1; at < to;) {
    const std::size_t end = std::min(type.find(',', at), to);
    out.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<Option> options_of(const CLI::App& app) {
  std::vector<Option> out;
  for (const CLI::Option* option : app.get_options()) {
    Option o;
    for (const std::string& name : option->get_snames()) o.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) o.names.push_back("--" + name);
    if (o.names.empty()) o.positional = option->get_name(true);
    o.doc = option->get_description(), o.choices = choices_of(*option);
    o.takes_value = option->get_items_expected_max() > 0,
    o.repeatable = option->get_items_expected_max() > 1;
    out.push_back(std::move(o));
  }
  return out;
}

/// A command with the path that leads to it: "deputy", "deputy bench", "deputy bench ratios".
struct Command {
  std::string path;
  const CLI::App* app;
};

void collect(const std::string& path, const CLI::App& app, std::vector<Command>& out) {
  out.push_back({path, &app});
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    collect(path + " " + sub->get_name(), *sub, out);
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> out;
  collect("deputy", app, out);
  return out;
}

std::string words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(sub->get_name());
  for (const Option& o : options_of(app)) {
    words.insert(words.end(), o.names.begin(), o.names.end());
    if (o.names.empty()) words.insert(words.end(), o.choices.begin(), o.choices.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// Whatever roff would read as its own.
std::string roff(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool first = i == 0 || text[i - 1] == '\n';
    if (first && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else
      out += text[i];
  }
  return out;
}

std::string quoted_for_zsh(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += fmt::format("\\{}", c);
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string words, values;
  for (const Command& c : commands_of(app)) {
    words += fmt::format("    '{}') words='{}' ;;\n", c.path, words_of(*c.app));
    for (const Option& o : options_of(*c.app)) {
      if (o.choices.empty() || o.names.empty()) continue;
      for (const std::string& name : o.names)
        values +=
            fmt::format("    '{} {}') words='{}' ;;\n", c.path, name, fmt::join(o.choices, " "));
    }
  }
  // The command is the longest path of words that are no options; a word behind an option with
  // choices is one of these.
  return "# bash completion for deputy: source <(deputy completion bash)\n"
         "_deputy() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=deputy "
         "words='' i\n"
         "  local known=' " +
         [&] {
           std::string all;
           for (const Command& c : commands_of(app))
             all += c.path.substr(c.path.rfind(' ') + 1) + " ";
           return all;
         }() +
         "'\n"
         "  for ((i = 1; i < COMP_CWORD && i < 3; ++i)); do\n"
         "    [[ $known == *\" ${COMP_WORDS[i]} \"* ]] && path+=\" ${COMP_WORDS[i]}\" || break\n"
         "  done\n"
         "  case \"$path $prev\" in\n" +
         values +
         "  esac\n"
         "  [[ -n $words ]] || case \"$path\" in\n" +
         words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  [[ ${#COMPREPLY[@]} -gt 0 || $cur == -* ]] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "}\n"
         "complete -o filenames -F _deputy deputy\n";
}

std::string zsh_completion(const CLI::App& app) {
  std::string out =
      "#compdef deputy\n# zsh completion for deputy: deputy completion zsh > _deputy, in a folder "
      "of $fpath\n\n";
  std::string list;
  for (const Command& c : commands_of(app)) {
    std::string name = c.path;
    std::ranges::replace(name, ' ', '_');
    std::ranges::replace(name, '-', '_');
    out += fmt::format("_{}_options() {{\n  _arguments \\\n", name);
    int place = 0;
    for (const Option& o : options_of(*c.app)) {
      const std::string doc = quoted_for_zsh(o.doc);
      const std::string action =
          o.choices.empty() ? "_files" : fmt::format("({})", fmt::join(o.choices, " "));
      // Arguments by their place; only the last may stand for all that follow.
      if (o.names.empty())
        out += fmt::format("    '{}:{}:{}' \\\n", o.repeatable ? "*" : std::to_string(++place),
                           quoted_for_zsh(o.positional), action);
      for (const std::string& flag : o.names)
        out +=
            fmt::format("    '*{}[{}]{}' \\\n", flag, doc, o.takes_value ? ":value:" + action : "");
    }
    out += "    && return\n}\n\n";
    if (c.app != &app && c.path.find(' ') == c.path.rfind(' '))
      list +=
          fmt::format("    '{}:{}'\n", c.app->get_name(), quoted_for_zsh(c.app->get_description()));
  }
  return out + "_deputy() {\n  local -a commands=(\n" + list +
         "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n  else\n"
         "    local command=${words[2]//-/_} depth=2\n"
         "    (($+functions[_deputy_${command}_${words[3]//-/_}_options])) && "
         "command+=_${words[3]//-/_} depth=3\n"
         "    words=(\"${(@)words[depth,-1]}\")\n    ((CURRENT -= depth - 1))\n"
         "    (($+functions[_deputy_${command}_options])) && _deputy_${command}_options\n  "
         "fi\n}\n\n_deputy \"$@\"\n";
}

std::string man_page(const CLI::App& app, const std::string& version) {
  std::string out = fmt::format(
      ".TH DEPUTY 1 \"\" \"deputy {}\" \"User Commands\"\n.SH NAME\ndeputy \\- {}\n.SH SYNOPSIS\n"
      ".B deputy\nCOMMAND [OPTION]...\n.SH DESCRIPTION\n{}\n",
      roff(version), "run neural networks on a virtual system\\-on\\-chip",
      roff(app.get_description()));
  for (const Command& c : commands_of(app)) {
    out += c.app == &app
               ? ".SH OPTIONS\n"
               : fmt::format(".SH {}\n{}.\n", roff(c.path), roff(c.app->get_description()));
    for (const Option& o : options_of(*c.app)) {
      const std::string name =
          o.names.empty() ? o.positional : fmt::format("{}", fmt::join(o.names, ", "));
      std::string value = o.choices.empty() ? (o.takes_value && !o.names.empty() ? " VALUE" : "")
                                            : fmt::format(" {{{}}}", fmt::join(o.choices, ","));
      out += fmt::format(".TP\n.B {}{}\n{}\n", roff(name), roff(value), roff(o.doc));
    }
    if (!c.app->get_footer().empty()) out += ".PP\n.nf\n" + roff(c.app->get_footer()) + "\n.fi\n";
  }
  return out +
         ".SH EXIT STATUS\n0 success, 2 command line, 3 model, 4 configuration, 5 unsupported, 6 "
         "hardware fault, 7 file, 8 mismatch, 9 input, 10 "
         "busy,\n11 deadline, 12 cancelled; deputy ci has codes of its own: 0, 1, 2.\n";
}

}  // namespace deputy::tools
