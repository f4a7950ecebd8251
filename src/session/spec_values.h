// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/wording.h>
#include <assay/base/yaml.h>
#include <assay/samples/records.h>
#include <assay/session/spec.h>

/// One reader per kind of value. Each adds a problem for what it cannot use and gives the rest.
namespace assay::session {

/// What `dataset` says.
struct DatasetSource {
  std::string source;
  std::string sha256;  ///< empty: not given
};

/// Words of one text by POSIX rules, or a list of words as they are; nothing written: no words.
std::optional<std::vector<std::string>> read_words(const Field& field, Problems& problems);
std::optional<int> read_repeat(const Field& field, Problems& problems);
std::optional<std::vector<std::string>> read_metrics(const Field& field, Problems& problems);
std::optional<std::string> read_runtime(const Field& field, Problems& problems);
std::map<std::string, std::string> read_env(const Field& field, Problems& problems);
std::vector<Goal> read_goals(const Field& field, Problems& problems);
Limits read_resources(const Field& field, Problems& problems);
std::optional<std::vector<std::string>> read_docker_args(const Field& field, Problems& problems);
std::optional<DatasetSource> read_dataset(const Field& field, Problems& problems);
std::optional<std::vector<Stream>> read_playback(const Field& field, Problems& problems);
std::optional<std::vector<Need>> read_needs(const Field& field, Problems& problems);

}  // namespace assay::session
