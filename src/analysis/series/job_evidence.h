// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "series/job_features.h"

#include <string>

namespace assay::analysis {

/// What a feature says of the job, in one plain sentence with the number in it, without a capital
/// or full stop. The feature has to be known.
std::string sentence_about(JobFeature feature, const JobFacts& facts);

}  // namespace assay::analysis
