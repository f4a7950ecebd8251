// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::predict {

/// A sum of columns, each with its sign.
struct Term {
  std::string column;
  double sign = 1;
};
using Sum = std::vector<Term>;

enum class Transform { as_is, log, log1p, share, root_share };

/// A number that is made from columns: "macs", "log(macs)", "log1p(n_se)", "log1p(act, 1e5)" (the
/// logarithm of 1 + act/1e5), "share(macs_fc, macs)" and "root_share(…)", its square root.
struct Feature {
  std::string text;
  Transform transform = Transform::as_is;
  Sum sum;
  Sum whole;  ///< of which it is a share
  double scale = 1;
};

enum class TimeUnit { seconds, milliseconds, microseconds, clock };

/// How a table of measurements that others made is read; docs/training.md has the file's form.
struct Mapping {
  std::string time_column;
  TimeUnit unit = TimeUnit::seconds;
  std::vector<std::string> task;    ///< columns that name device, engine and precision
  std::vector<std::string> device;  ///< columns that name the device; empty: the task's
  std::string model;                ///< column
  std::string kind;                 ///< column that tells apart forms of one model; or empty
  std::map<std::string, std::string> only;  ///< rows with these values alone
  size_t least_rows = 1;                    ///< of a task; others are left out
  std::string join_file;                    ///< a CSV beside the table with more columns; or empty
  std::string join_on;                      ///< the column that both have
  /// What the table's columns are in our words: "macs_conv1x1" is its "macs_pw".
  std::map<std::string, std::string> columns;
  std::vector<Feature> features;
  std::vector<Feature> costs;                       ///< what time is spent on, each a plain sum
  std::vector<std::vector<std::string>> namesakes;  ///< devices that are one; "a1.*" is a beginning
};

/// `name` is for messages: "map.yaml:3: unknown key 'tim'; did you mean 'time'?"
Result<Mapping> read_mapping(const std::string& name, const std::string& text);
Result<Feature> parse_feature(const std::string& text);

}  // namespace assay::predict
