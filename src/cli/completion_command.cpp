// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <fmt/format.h>
#include <memory>

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

/// What may follow the words typed so far: subcommands and options of the command they lead to.
std::string words_after(CLI::App& root, const std::vector<std::string>& typed) {
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
  command->require_subcommand(1);
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
    context.action = [&app, words]() -> Result<int> {
      fmt::print("{}", words_after(app, words->remaining()));
      return kDone;
    };
  });
}

}  // namespace assay::cli
