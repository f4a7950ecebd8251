// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <assay/session/new_session.h>
#include <assay/session/session.h>
#include <assay/session/spec.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "0"
#endif

namespace assay::session {
namespace {

namespace fs = std::filesystem;

std::string user_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(getuid());
}

/// Sorts by time and is easy to read out: 20260131-120000-7f3a.
std::string new_session_id(Timestamp now) {
  uint16_t random = 0;
  (void)!getrandom(&random, sizeof random, 0);
  std::string utc = format_utc(now);
  std::string digits;
  for (const char c : utc.substr(0, 19)) {
    if (c == 'T') digits += '-';
    if (c >= '0' && c <= '9') digits += c;
  }
  return fmt::format("{}-{:04x}", digits, random);
}

/// A label is masked by its name and by its content, as an environment variable is.
std::map<std::string, std::string> masked_labels(const std::map<std::string, std::string>& labels) {
  Target as_env;
  as_env.env = labels;
  return masked(as_env).env;
}

Result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  const bool is_first = !fs::exists(folder.parent_path(), error);
  fs::create_directories(folder, error);
  if (!error && is_first) fs::permissions(folder.parent_path(), fs::perms::owner_all, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return {};
  return refused(
      fmt::format("cannot make the session's folder {}: {}; choose another place with --output",
                  folder.native(), error.message()));
}

}  // namespace

Result<SessionRecord> add_session(store::Store& store, const NewSession& session,
                                  const Clock& clock) {
  SessionRecord record;
  record.planned_runs = session.planned_runs;
  record.created = clock.now();
  record.id = new_session_id(record.created);
  record.app = session.app;
  record.device = session.device;
  record.user = user_name();
  record.assay_version = ASSAY_VERSION;
  record.labels = masked_labels(session.labels);
  const fs::path folder = fs::absolute(session.sessions_folder / record.id);
  ASSAY_CHECK(make_folder(folder));
  record.folder = folder;
  ASSAY_CHECK(store.add_session(record));
  return record;
}

Result<void> write_session(store::Store& store, const SessionRecord& session) {
  ASSAY_TRY(const auto view, load_view(store, session.id));
  ASSAY_CHECK(write_documents(view, session.folder));
  return store.export_session(session.id, fs::path(session.folder) / "session.assay");
}

}  // namespace assay::session
