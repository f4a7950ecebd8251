// SPDX-License-Identifier: Apache-2.0
#include "xgboost.h"

#include <fmt/format.h>
#include <string_view>

#include <assay/base/late_library.h>

namespace assay::predict {
namespace {

Xgboost load() {
  Xgboost found;
  LateLibrary library("libxgboost.so.0");
  library.find(found.last_error, "XGBGetLastError");
  library.find(found.rows_create, "XGDMatrixCreateFromMat_omp");
  library.find(found.rows_set_floats, "XGDMatrixSetFloatInfo");
  library.find(found.rows_free, "XGDMatrixFree");
  library.find(found.create, "XGBoosterCreate");
  library.find(found.free, "XGBoosterFree");
  library.find(found.set_parameter, "XGBoosterSetParam");
  library.find(found.boost_by_gradient, "XGBoosterBoostOneIter");
  library.find(found.boost_by_objective, "XGBoosterUpdateOneIter");
  library.find(found.predict, "XGBoosterPredictFromDMatrix");
  library.find(found.feature_count, "XGBoosterGetNumFeature");
  library.find(found.feature_score, "XGBoosterFeatureScore");
  library.find(found.save, "XGBoosterSaveModelToBuffer");
  library.find(found.load, "XGBoosterLoadModelFromBuffer");
  found.loaded = library.loaded();
  if (!found.loaded)
    found.loaded =
        refused(fmt::format("training needs XGBoost 1.7 (on Debian the package libxgboost0): {}",
                            found.loaded.error().message));
  return found;
}

}  // namespace

Result<void> Xgboost::check(int answer) const {
  if (answer == 0) return {};
  std::string_view words = last_error();
  words = words.substr(0, words.find("Stack trace"));
  // "[12:34:56] ./src/learner.cc:123: Check failed …": where in its own source is of no use here.
  if (words.starts_with('[') && words.find(": ") < words.find('\n'))
    words.remove_prefix(words.find(": ") + 2);
  while (words.ends_with('\n') || words.ends_with(' ')) words.remove_suffix(1);
  return bad_input(fmt::format("XGBoost: {}", words));
}

const Xgboost& xgboost() {
  static const Xgboost kLoaded = load();
  return kLoaded;
}

}  // namespace assay::predict
