// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <optional>

#include <assay/session/spec.h>
#include <assay/store/store.h>

namespace assay::cli {
namespace {

constexpr const char* kBash = R"sh(_assay() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$(assay completion words "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _assay assay
)sh";

constexpr const char* kZsh = R"sh(#compdef assay
_assay() {
  local -a words_left
  words_left=(${(f)"$(assay completion words "${words[@]:1:$((CURRENT-2))}" 2>/dev/null)"})
  compadd -a words_left
  _files
}
compdef _assay assay
)sh";

constexpr const char* kFish =
    R"sh(complete -c assay -a '(assay completion words (commandline -opc)[2..-1] 2>/dev/null)'
)sh";

template <class List>
std::string lines_of(const List& words) {
  return fmt::format("{}\n", fmt::join(words, "\n"));
}

/// The values of an option; nothing for one whose values are anything or files.
std::optional<std::string> values_of(const std::string& option) {
  if (option == "--format") return lines_of(kFormats);
  if (option == "--sort") return lines_of(kTopOrders);
  if (option == "--metrics") return lines_of(session::metric_groups());
  return std::nullopt;
}

/// The history that the words typed so far speak of, if it is there.
std::filesystem::path store_of(const std::vector<std::string>& typed, const Context& context) {
  const auto option = std::find(typed.begin(), typed.end(), "--store");
  const bool given = option != typed.end() && option + 1 != typed.end();
  return given ? std::filesystem::path(*(option + 1)) : context.store;
}

std::string session_ids(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return "";
  const auto store = store::open_sqlite(file);
  if (!store) return "";
  const auto sessions = (*store)->list();
  if (!sessions || sessions->empty()) return "";
  std::string ids = "last\n";
  for (const auto& session : *sessions) ids += session.id + "\n";
  return ids;
}

/// What may follow the words typed so far: values of the last option, else subcommands, options and
/// sessions of the command they lead to.
std::string words_after(CLI::App& root, const std::vector<std::string>& typed,
                        const Context& context) {
  if (!typed.empty()) {
    if (const auto values = values_of(typed.back())) return *values;
  }
  CLI::App* at = &root;
  for (const auto& word : typed) {
    for (auto* next :
         at->get_subcommands([&word](const CLI::App* sub) { return sub->check_name(word); }))
      at = next;
  }
  std::string words;
  for (const auto* sub : at->get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) words += sub->get_name() + "\n";
  }
  for (const auto* option : at->get_options()) {
    for (const auto& name : option->get_lnames()) words += "--" + name + "\n";
  }
  if (at->get_option_no_throw("session") != nullptr) words += session_ids(store_of(typed, context));
  return words;
}

}  // namespace

void add_completion_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("completion", "Print a script that completes assay's words in your shell");
  command->footer(
      "\nUse it with:\n  bash: source <(assay completion bash)\n  zsh:  source <(assay completion "
      "zsh)\n"
      "  fish: assay completion fish | source\n");
  command->require_subcommand(0, 1)->allow_extras();
  command->callback([command, &context] {
    if (!command->get_subcommands().empty()) return;
    context.action = []() -> Result<int> { return bad_input("choose bash, zsh or fish"); };
  });
  const auto add_script = [&](const char* shell, const char* script) {
    command->add_subcommand(shell, fmt::format("For {}", shell))->callback([&context, script] {
      context.action = [script]() -> Result<int> {
        fmt::print("{}", script);
        return kDone;
      };
    });
  };
  add_script("bash", kBash);
  add_script("zsh", kZsh);
  add_script("fish", kFish);
  auto* words = command->add_subcommand("words", "")->group("")->prefix_command();
  words->callback([&app, &context, words] {
    context.action = [&app, &context, words]() -> Result<int> {
      fmt::print("{}", words_after(app, words->remaining(), context));
      return kDone;
    };
  });
}

}  // namespace assay::cli
