// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/session/session.h>

namespace assay::cli {

/// Shows progress on standard error: one line that is redrawn on a terminal, a plain log elsewhere,
/// nothing but the app's own output when quiet.
class LiveLine final : public session::Listener {
 public:
  explicit LiveLine(bool quiet);
  ~LiveLine() override { clear(); }

  void session_started(const SessionRecord& session, int runs) override;
  void progress(const std::string& what, uint64_t done, uint64_t total) override;
  void run_started(const RunRecord& run) override;
  void live(const session::LiveView& view) override;
  bool ready(Milliseconds patience) override;
  void run_ended(const RunRecord& run, const std::string& answer) override;
  void app_output(std::string_view text) override;
  void note(const std::string& text) override;

 private:
  void say(const std::string& line);
  void clear();

  bool quiet_;
  bool terminal_;
  int runs_ = 0;
  std::string doing_;      ///< what progress was told of last
  size_t drawn_ = 0;       ///< columns of the line on the screen
  bool mid_line_ = false;  ///< the app has begun a line of its own
};

/// "pulling waggle/app:1  ████░░░░  40 %  120 MB of 300 MB", or what of it fits.
std::string progress_text(const std::string& what, uint64_t done, uint64_t total, size_t width);

/// "run 1/2  0:12, 0:48 left   1.82 cores   612 MB  fps  12.4  ▁▂▅▇" with the parts that fit into
/// `width` columns. Numbers keep their place.
std::string live_text(const session::LiveView& view, size_t width);

/// What removes a line of `drawn` columns from a terminal that is now `width` wide.
std::string erasure(size_t drawn, size_t width);

}  // namespace assay::cli
