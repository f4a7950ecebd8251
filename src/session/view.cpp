// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/session/session.h>

namespace assay::session {

namespace {

/// What a failed app said last is most often the reason.
std::string last_words(const SessionRecord& session, const RunRecord& run) {
  constexpr size_t kShown = 600;
  const bool failed = run.status == RunStatus::failed || run.status == RunStatus::oom;
  if (!failed || run.exit.refused || session.folder.empty()) return "";
  const std::string text =
      read_file(fmt::format("{}/run-{}/stderr.log", session.folder, run.ordinal)).value_or("");
  const size_t from = text.size() > kShown ? text.find('\n', text.size() - kShown) : 0;
  return masked_text(
      std::string(trim(std::string_view(text).substr(from == std::string::npos ? 0 : from))));
}

}  // namespace

Result<report::SessionView> load_view(store::Store& store, const std::string& id) {
  report::SessionView view;
  ASSAY_TRY(view.session, store.session(id));
  for (const auto& run : view.session.runs) {
    ASSAY_TRY(auto samples, store.samples(view.session.id, run.ordinal));
    ASSAY_TRY(auto analysed, analysis::analyze_run(run, view.session.device, *samples));
    view.runs.push_back({std::move(analysed), std::move(samples), last_words(view.session, run)});
  }
  return view;
}

Result<void> write_documents(const report::SessionView& view, const std::filesystem::path& folder) {
  ASSAY_CHECK(write_file(folder / "session.json", report::session_document(view).dump(2) + "\n"));
  ASSAY_CHECK(write_file(folder / "junit.xml", report::junit_xml(view)));
  ASSAY_TRY(const std::string samples, report::samples_csv(view));
  ASSAY_CHECK(write_file(folder / "samples.csv", samples));
  ASSAY_TRY(const std::string events, report::events_csv(view));
  ASSAY_CHECK(write_file(folder / "events.csv", events));
  ASSAY_TRY(const std::string page, report::html_page(view));
  ASSAY_CHECK(write_file(folder / "report.html", page));
  return {};
}

}  // namespace assay::session
