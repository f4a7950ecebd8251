// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/report/report.h>

/// Sessions made by hand, for tests and for looking at.
namespace assay::report::testing {

/// One run with a met and a missed goal, one goal never reported, few samples.
SessionView small_view();
/// The same run as one that failed, without a warm-up.
SessionView failed_view();
/// Two targets of a vision app, a minute each at 10 Hz, with hostile names among the self-reported.
SessionView page_view();
/// A view of `count` repeats of the small view's run.
SessionView many_runs_view(int count);

constexpr const char* kHostileScript = "</script><script>document.title='owned'</script>";
constexpr const char* kHostileImage = "<img src=x onerror=\"document.title='owned'\">";

}  // namespace assay::report::testing
