// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  int repeat = 0;
  std::vector<std::string> goals;
  std::vector<std::string> metrics;
  std::vector<std::string> env;
  std::string cpus;
  std::string memory;
  std::string pids;
};

void add_spec_options(CLI::App& command, SpecArguments& args);

/// The spec with the options applied. The error's message has one line per thing that is wrong.
Result<session::Spec> read_spec(const SpecArguments& args, const std::vector<std::string>& command,
                                int pid = 0);

/// Several errors as one, a line each, of the worst kind among them.
Error all_of(const std::vector<Error>& errors);

}  // namespace assay::cli
