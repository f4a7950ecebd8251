// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/probes/probe.h>
#include <assay/session/session.h>

namespace assay::session {

namespace {

/// At most `size` bytes from the end of a file; empty when it cannot be read.
std::string end_of(const std::string& path, off_t size) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return "";
  std::string text(static_cast<size_t>(std::min(size, info.st_size)), '\0');
  const ssize_t n =
      ::pread(file.get(), text.data(), text.size(), info.st_size - static_cast<off_t>(text.size()));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

/// What a failed app said last is most often the reason.
std::string last_words(const SessionRecord& session, const RunRecord& run) {
  constexpr size_t kShown = 600;
  const bool failed = run.status == RunStatus::failed || run.status == RunStatus::oom;
  if (!failed || run.exit.refused || session.folder.empty()) return "";
  // Masked before it is cut, so that no secret loses the name it is known by.
  // A cluster has one log for both.
  const char* const log = run.runtime == "kubernetes" ? "stdout" : "stderr";
  const std::string text =
      masked_text(end_of(fmt::format("{}/run-{}/{}.log", session.folder, run.ordinal, log), 16384));
  std::string_view words = trim(text);
  if (words.size() <= kShown) return std::string(words);
  words.remove_prefix(words.size() - kShown);
  const size_t line = words.find('\n');
  return std::string(line == std::string_view::npos ? words : words.substr(line + 1));
}

/// The load before a later run is mostly that of the run before it, and tells nothing.
std::vector<std::string> unlike(const BoardState& first, BoardState later) {
  later.load_before = first.load_before;
  return probes::state_differences(first, later);
}

}  // namespace

Result<report::SessionView> load_view(store::Store& store, const std::string& id) {
  report::SessionView view;
  ASSAY_TRY(view.session, store.session(id));
  for (const auto& run : view.session.runs) {
    ASSAY_TRY(auto samples, store.samples(view.session.id, run.ordinal));
    ASSAY_TRY(auto analysed, analysis::analyze_run(run, view.session.device, *samples));
    view.runs.push_back({std::move(analysed), std::move(samples), last_words(view.session, run),
                         unlike(view.session.runs.front().board, run.board)});
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
