// SPDX-License-Identifier: Apache-2.0
#include "live_line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

constexpr size_t kReportedShown = 3;

std::string clock_text(Nanoseconds d) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(d).count();
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string sparkline(const std::vector<double>& values) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double top = 0;
  for (const double v : values) top = std::max(top, v);
  std::string line;
  for (const double v : values) {
    const double share = top > 0 ? v / top : 0;
    line += kBars[std::min<size_t>(7, static_cast<size_t>(share * 7.999))];
  }
  return line;
}

/// Cuts after `width` characters, not bytes.
std::string cut(const std::string& text, size_t width) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (starts && columns++ == width) return text.substr(0, i);
  }
  return text;
}

/// Whoever read our messages may have gone away; the app's run goes on all the same.
void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

/// fps first, since that is what most people look for.
std::string reported_text(const std::map<std::string, double>& reported) {
  std::string text;
  size_t shown = 0;
  const auto add = [&](const std::string& name, double value) {
    if (shown++ < kReportedShown) text += fmt::format("  {} {}", name, format_number(value));
  };
  if (const auto fps = reported.find("fps"); fps != reported.end()) add("fps", fps->second);
  for (const auto& [name, value] : reported) {
    if (name != "fps") add(name, value);
  }
  return text;
}

}  // namespace

std::string live_text(const session::LiveView& view, size_t width) {
  std::string text = fmt::format("run {} of {}  {}", view.run, view.runs, clock_text(view.elapsed));
  if (view.stopping) {
    text += ", stopping";
  } else if (view.left) {
    text += fmt::format(", {} left", clock_text(*view.left));
  }
  if (view.cores) text += fmt::format("  {} cores", fmt::format("{:.2f}", *view.cores));
  if (view.memory_bytes) text += fmt::format("  {}", format_bytes(*view.memory_bytes));
  text += reported_text(view.reported);
  if (!view.recent_cores.empty()) text += "  " + sparkline(view.recent_cores);
  return cut(text, width);
}

LiveLine::LiveLine(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void LiveLine::session_started(const SessionRecord& session, int runs) {
  runs_ = runs;
  say(fmt::format("session {} of {} on {}", session.id, session.app.full_name(),
                  session.device.hostname));
}

void LiveLine::run_started(const RunRecord& run) {
  say(fmt::format("run {} of {}: {} (process, {})", run.ordinal, runs_,
                  join_words(run.target.command), run.isolation));
}

void LiveLine::live(const session::LiveView& view) {
  if (quiet_ || !terminal_) return;
  put(fmt::format("\r\033[K{}", live_text(view, terminal_width() - 1)));
  std::fflush(stderr);
  drawn_ = true;
}

void LiveLine::run_ended(const RunRecord& run, const std::string& answer) {
  say(fmt::format("run {} of {} {} after {}: {}", run.ordinal, runs_, to_string(run.status),
                  format_duration(run.duration()), answer));
}

void LiveLine::app_output(std::string_view text) {
  clear();
  put(text);
}

void LiveLine::note(const std::string& text) {
  say(text);
}

void LiveLine::say(const std::string& line) {
  if (quiet_) return;
  clear();
  put(line + "\n");
}

void LiveLine::clear() {
  if (drawn_) put("\r\033[K");
  drawn_ = false;
}

}  // namespace assay::cli
