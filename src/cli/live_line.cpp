// SPDX-License-Identifier: Apache-2.0
#include "live_line.h"

#include "terminal.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <vector>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

constexpr size_t kReportedShown = 3;

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

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// Whoever read our messages may have gone away; the app's run goes on all the same.
void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

size_t terminal_width() {
  return terminal_columns(STDERR_FILENO, 80);
}

std::string time_part(const session::LiveView& view) {
  std::string text = view.runs > 1 ? fmt::format("run {}/{}  ", view.run, view.runs) : "";
  text += clock_text(view.elapsed);
  if (view.stopping) return text + ", stopping; Ctrl-C again to insist";
  return view.left ? fmt::format("{}, {} left", text, clock_text(*view.left)) : text;
}

/// fps first, since that is what most people look for.
std::vector<std::string> reported_parts(const session::LiveView& view) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& name, double value) {
    const auto unit = view.units.find(name);
    const bool has_unit = unit != view.units.end() && !unit->second.empty();
    parts.push_back(fmt::format("{} {:>{}}", name,
                                analysis::format_value(value, has_unit ? unit->second : ""),
                                has_unit ? 7 : 5));
  };
  if (const auto fps = view.reported.find("fps"); fps != view.reported.end())
    add("fps", fps->second);
  for (const auto& [name, value] : view.reported) {
    if (name != "fps" && parts.size() < kReportedShown) add(name, value);
  }
  return parts;
}

}  // namespace

std::string live_text(const session::LiveView& view, size_t width) {
  std::string text = time_part(view);
  bool full = false;
  const auto add = [&](const std::string& part) {
    full = full || columns(text) + 2 + columns(part) > width;
    if (!full) text += "  " + part;
  };
  if (view.cores) add(fmt::format("{:>5.2f} cores", *view.cores));
  if (view.memory_bytes) add(fmt::format("{:>7}", format_bytes(*view.memory_bytes)));
  for (const auto& part : reported_parts(view)) add(part);
  if (!view.recent_cores.empty()) add(sparkline(view.recent_cores));
  return columns(text) <= width ? text : "";
}

std::string progress_text(const std::string& what, uint64_t done, uint64_t total, size_t width) {
  constexpr size_t kBar = 20;
  constexpr size_t kShortestName = 12;
  std::string numbers;
  if (total > 0) {
    const size_t full = std::min(kBar, static_cast<size_t>(done * kBar / total));
    std::string bar;
    for (size_t i = 0; i < kBar; ++i) bar += i < full ? "█" : "░";
    numbers = fmt::format(
        "  {} {:>3} %  {} of {}", bar, std::min<uint64_t>(100, done * 100 / total),
        format_bytes(static_cast<double>(done)), format_bytes(static_cast<double>(total)));
  } else if (done > 0) {
    numbers = "  " + format_bytes(static_cast<double>(done));
  }
  const size_t room = width - std::min(width, columns(numbers));
  if (columns(what) <= room) return what + numbers;
  return room < kShortestName ? what.substr(0, width) : what.substr(0, room - 1) + "…" + numbers;
}

std::string erasure(size_t drawn, size_t width) {
  if (drawn == 0) return "";
  // A terminal that became narrower has broken the line into several.
  const size_t rows_above = width > 0 ? (drawn - 1) / width : 0;
  return rows_above == 0 ? "\r\033[K" : fmt::format("\r\033[{}A\033[J", rows_above);
}

LiveLine::LiveLine(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void LiveLine::session_started(const SessionRecord& session, int runs) {
  runs_ = runs;
  say(fmt::format("session {} of {} on {}", session.id, session.app.full_name(),
                  session.device.hostname));
}

void LiveLine::run_started(const RunRecord& run) {
  const std::string name = run.target.name.empty() ? "" : fmt::format(" ({})", run.target.name);
  std::vector<std::string> words = run.target.command;
  if (!run.target.image.empty()) words.insert(words.begin(), run.target.image);
  say(fmt::format("run {} of {}{}: {} ({}, {})", run.ordinal, runs_, name, join_words(words),
                  run.runtime, run.isolation));
}

void LiveLine::progress(const std::string& what, uint64_t done, uint64_t total) {
  if (quiet_) return;
  if (!terminal_) {
    if (what != doing_) say(what);
  } else {
    const std::string line = progress_text(what, done, total, terminal_width() - 1);
    clear();
    put(line);
    std::fflush(stderr);
    drawn_ = columns(line);
  }
  doing_ = what;
}

void LiveLine::live(const session::LiveView& view) {
  if (quiet_ || !terminal_ || mid_line_) return;
  const std::string line = live_text(view, terminal_width() - 1);
  clear();
  put(line);
  std::fflush(stderr);
  drawn_ = columns(line);
}

bool LiveLine::ready(Milliseconds patience) {
  pollfd room = {STDERR_FILENO, POLLOUT, 0};
  return ::poll(&room, 1, static_cast<int>(patience.count())) > 0;
}

void LiveLine::run_ended(const RunRecord& run, const std::string& answer) {
  // The summary of a single run follows at once and says the same.
  if (runs_ > 1) say(fmt::format("run {} of {}: {}", run.ordinal, runs_, answer));
}

void LiveLine::app_output(std::string_view text) {
  clear();
  put(text);
  if (!text.empty()) mid_line_ = text.back() != '\n';
}

void LiveLine::note(const std::string& text) {
  say(text);
}

void LiveLine::say(const std::string& line) {
  if (quiet_) return;
  clear();
  put((mid_line_ ? "\n" : "") + line + "\n");
  mid_line_ = false;
}

void LiveLine::clear() {
  put(erasure(drawn_, terminal_width()));
  drawn_ = 0;
}

}  // namespace assay::cli
