// SPDX-License-Identifier: Apache-2.0
#include "decide/measurements.h"

#include "decide/words.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unistd.h>

#include <assay/base/files.h>

namespace assay::agent {
namespace {

/// "2022-08-23T13:27:10.562104000", in UTC.
std::string pywaggle_time(Timestamp time) {
  std::string text = format_utc(time);
  return text.substr(0, text.find_first_of(".Z")) +
         fmt::format(".{:09}", unix_ns(time) % 1'000'000'000);
}

}  // namespace

std::string measurement_line(Timestamp time, const AppIdentity& app, const Decision& decision) {
  nlohmann::ordered_json meta = {{"app", decision.name}};
  const auto add = [&](const char* name, std::string_view text) {
    if (!text.empty()) meta[name] = text;
  };
  add("container_id", app.group.kind == GroupKind::container ? app.group.id : "");
  add("image", app.image);
  add("pod", app.pod);
  add("namespace", app.name_space);
  const Finding& finding = decision.main.finding();
  const bool leaks = decision.leak.finding().verdict == Verdict::leaking;
  add("resource", to_string(finding.resource));
  add("sentence", sentence_of(decision));
  if (leaks) add("leaking", leak_sentence(decision.evidence));
  const nlohmann::ordered_json line = {{"name", "assay.verdict"},
                                       {"timestamp", pywaggle_time(time)},
                                       {"value", to_string(finding.verdict)},
                                       {"meta", std::move(meta)}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<void> Measurements::write(const std::string& line) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file_, error);
  if (!error && size >= kFull) std::filesystem::rename(file_, file_.native() + ".1", error);
  const Fd fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd.valid() || ::write(fd.get(), line.data(), line.size()) < 0)
    return refused(
        fmt::format("cannot write advice to {}: {}", file_.native(), std::strerror(errno)));
  return {};
}

}  // namespace assay::agent
