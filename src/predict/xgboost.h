// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xgboost/c_api.h>

#include <assay/base/result.h>

namespace assay::predict {

/// libxgboost, loaded at the first use: only what trains needs it.
struct Xgboost {
  decltype(&::XGBGetLastError) last_error = nullptr;
  decltype(&::XGDMatrixCreateFromMat_omp) rows_create = nullptr;
  decltype(&::XGDMatrixSetFloatInfo) rows_set_floats = nullptr;
  decltype(&::XGDMatrixFree) rows_free = nullptr;
  decltype(&::XGBoosterCreate) create = nullptr;
  decltype(&::XGBoosterFree) free = nullptr;
  decltype(&::XGBoosterSetParam) set_parameter = nullptr;
  decltype(&::XGBoosterBoostOneIter) boost_by_gradient = nullptr;
  decltype(&::XGBoosterUpdateOneIter) boost_by_objective = nullptr;
  decltype(&::XGBoosterPredictFromDMatrix) predict = nullptr;
  decltype(&::XGBoosterGetNumFeature) feature_count = nullptr;
  decltype(&::XGBoosterFeatureScore) feature_score = nullptr;
  decltype(&::XGBoosterSaveModelToBuffer) save = nullptr;
  decltype(&::XGBoosterLoadModelFromBuffer) load = nullptr;
  Result<void> loaded;

  /// What a call has answered, with the library's own words when it failed.
  Result<void> check(int answer) const;
};

/// Its functions may be called only where it could be loaded.
const Xgboost& xgboost();

}  // namespace assay::predict
