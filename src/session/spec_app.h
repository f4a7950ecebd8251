// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spec_section.h"

#include <optional>
#include <string>

#include <assay/samples/records.h>

namespace assay::session {

/// The top level of a sage.yaml: what we read of it.
struct AppFile {
  App app;
  Section section;  ///< image and command, below what the profiling section says
  std::optional<Profiling> profiling;
};

/// Reads the keys that concern us; all others are accepted, unless they look like one of ours
/// misspelt. With `skip_profiling` the profiling section is not looked at.
AppFile read_app(const YAML::Node& root, bool skip_profiling, Problems& problems);

/// Reads a file that holds a profiling section, under its key or directly.
Profiling read_profile(const YAML::Node& root, Problems& problems);

/// The parts of "[host[:port]/]namespace/name[:version][@digest]".
App app_of_image(const std::string& image);

}  // namespace assay::session
