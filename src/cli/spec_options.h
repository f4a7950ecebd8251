// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include <assay/session/spec.h>

namespace assay::cli {

/// What the command line says about the spec, as typed.
struct SpecArguments {
  std::string what;  ///< a spec's file or folder, or an image
  std::string profile;
  std::string timeout;
  std::string interval;
  std::string warmup;
  std::string grace;
  std::optional<int> repeat;
  std::vector<std::string> goals;
  std::vector<std::string> metrics;
  std::vector<std::string> env;
  std::string cpus;
  std::string memory;
  std::string pids;
  std::string gpus;
  std::string runtime;
  std::string docker_args;
  std::string dataset;
};

void add_spec_options(CLI::App& command, SpecArguments& args);

/// The spec with the options applied, and everything that is wrong with either. With errors the
/// spec is what could be read of it, to look for further ones.
struct ReadSpec {
  session::Spec spec;
  std::vector<session::Diagnostic> errors;
};
ReadSpec read_spec(const SpecArguments& args, const Context& context);

/// What `--pid`, `--container` and `--for` say, as typed.
struct ProcessArguments {
  std::string pid;
  std::string container;
  std::string duration;
};
/// The same for a process or container that already runs: `duration` becomes its timeout.
struct ReadProcess {
  ReadSpec read;
  pid_t pid = 0;
  std::string container;
  bool attached() const { return pid != 0 || !container.empty(); }
};
ReadProcess read_process(const ProcessArguments& process, const SpecArguments& args,
                         const Context& context);

/// Several errors as one, a line each, of the worst kind among them.
Error all_of(const std::vector<session::Diagnostic>& errors);

/// `assay run python3 x.py`: "…; did you mean: assay run -- python3 x.py", where `what`, which is
/// no spec, is a command or a file; else nothing.
std::optional<std::string> forgotten_dashes(const std::string& what, const Context& context);

}  // namespace assay::cli
