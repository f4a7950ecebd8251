// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spec_values.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/samples/records.h>

namespace assay::session {

/// What one level of a spec says; absent means "as the level above says".
struct Section {
  std::optional<std::string> name;
  std::optional<std::string> image;
  std::optional<std::vector<std::string>> command;
  std::optional<std::vector<std::string>> args;
  std::optional<std::string> workdir;
  std::optional<DatasetSource> dataset;
  std::optional<std::string> runtime;
  std::optional<std::vector<std::string>> docker_args;
  std::optional<std::vector<Stream>> playback;
  std::optional<std::vector<Need>> needs;
  std::optional<Nanoseconds> timeout;
  std::optional<Nanoseconds> warmup;
  std::optional<Nanoseconds> interval;
  std::optional<Nanoseconds> grace;
  std::optional<int> repeat;
  std::optional<std::vector<std::string>> metrics;
  std::map<std::string, std::string> env;
  Limits limits;
  std::vector<Goal> goals;
  Places places;
  int line = 0;  ///< where it starts
};

/// The `profiling` section: what holds for all targets, and each target's own.
struct Profiling {
  Section defaults;
  std::vector<Section> targets;  ///< empty: one target with the defaults
};

Profiling read_profiling(const YAML::Node& section, Problems& problems);

/// One key of a section, or of the file's top level that a section also has: image, command.
void read_key(const Field& field, Section& section, Problems& problems);

/// The lower level laid over the upper one: env, goals and resources are merged name by name, all
/// else is replaced.
Section overlay(Section upper, const Section& lower);

}  // namespace assay::session
