// SPDX-License-Identifier: Apache-2.0
#include "top_view.h"

#include <algorithm>

namespace assay::cli {
namespace {

constexpr size_t kRecent = 8;

void remove_last_character(std::string& text) {
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.back());
    text.pop_back();
    if ((byte & 0xC0U) != 0x80U) break;
  }
}

}  // namespace

void TopView::take(TopDocument document) {
  if (paused_) {
    later_ = std::move(document);
    return;
  }
  document_ = std::move(document);
  remember_cores();
  arrange();
  if (!watched_) return;
  for (const auto& app : document_.apps) {
    if (app.id != watched_->id) continue;
    watched_ = app;
    return;
  }
  watched_->running = false;
}

void TopView::remember_cores() {
  RecentCores recent;
  for (const auto& app : document_.apps) {
    auto& values = recent[app.id];
    values = std::move(recent_[app.id]);
    if (const auto now = app.now("cores")) values.push_back(*now);
    if (values.size() > kRecent) values.erase(values.begin());
  }
  recent_ = std::move(recent);
}

void TopView::arrange() {
  rows_ = top_rows(document_, top_columns(document_, recent_, choice_.unicode), choice_.order,
                   choice_.filter);
}

bool TopView::press(const Key& key) {
  if (key.is_function(10)) return false;
  switch (mode_) {
    case Mode::search:
    case Mode::filter:
      press_in_text(key);
      return true;
    case Mode::app:
    case Mode::help:
      return press_in_page(key);
    case Mode::table:
      return press_in_table(key);
  }
  return true;
}

bool TopView::press_in_table(const Key& key) {
  if (key.kind == KeyKind::text) return press_letter(key);
  if (key.kind == KeyKind::escape) {
    choice_.filter.clear();
    arrange();
  } else if (key.kind == KeyKind::enter && !rows_.empty()) {
    watched_ = *rows_[chosen_row()];
    mode_ = Mode::app;
    top_ = 0;
  } else if (key.is_function(1)) {
    mode_ = Mode::help;
    top_ = 0;
  } else if (key.is_function(3)) {
    mode_ = Mode::search;
    search_.clear();
  } else if (key.is_function(4)) {
    mode_ = Mode::filter;
  } else if (key.is_function(6)) {
    step_order(1);
  } else {
    move(key);
  }
  return true;
}

bool TopView::press_letter(const Key& key) {
  if (key.is('q')) return false;
  if (key.is('h') || key.is('?')) return press_in_table({KeyKind::function, "", 1});
  if (key.is('/')) return press_in_table({KeyKind::function, "", 3});
  if (key.is('\\')) return press_in_table({KeyKind::function, "", 4});
  if (key.is('n')) find(true);
  if (key.is('>')) step_order(1);
  if (key.is('<')) step_order(-1);
  if (key.is('P')) sort_by("cores");
  if (key.is('M')) sort_by("memory");
  if (key.is('N')) sort_by("name");
  if (key.is('I')) choice_.order.inverted = !choice_.order.inverted;
  if (key.is(' ')) {
    paused_ = !paused_;
    if (!paused_ && later_) take(*std::exchange(later_, std::nullopt));
  }
  arrange();
  return true;
}

void TopView::press_in_text(const Key& key) {
  std::string& text = mode_ == Mode::search ? search_ : choice_.filter;
  const bool same_again = key.is_function(mode_ == Mode::search ? 3 : 4);
  if (key.kind == KeyKind::text) {
    text += key.text;
  } else if (key.kind == KeyKind::backspace) {
    remove_last_character(text);
  } else if (key.kind == KeyKind::escape) {
    text.clear();
    mode_ = Mode::table;
  } else if (key.kind == KeyKind::enter || (same_again && mode_ == Mode::filter)) {
    mode_ = Mode::table;
  } else {
    move(key);
  }
  if (mode_ != Mode::search) return arrange();
  find(same_again);
}

bool TopView::press_in_page(const Key& key) {
  if (scroll(key)) return true;
  if (key.kind == KeyKind::text && !key.is('q') && !key.is('h') && !key.is('?')) {
    if (key.is(' ')) press_letter(key);
    return true;
  }
  mode_ = Mode::table;
  watched_.reset();
  top_ = 0;
  return true;
}

void TopView::sort_by(const std::string& key) {
  choice_.order = {key, false};
  arrange();
}

void TopView::step_order(int direction) {
  std::vector<std::string> keys;
  for (const auto& column : top_columns(document_, recent_, choice_.unicode))
    if (!column.key.empty()) keys.push_back(column.key);
  const auto at = std::find(keys.begin(), keys.end(), choice_.order.key);
  const auto index = at == keys.end() ? 0 : static_cast<size_t>(at - keys.begin());
  const size_t next = direction > 0 ? index + 1 : index + keys.size() - 1;
  sort_by(keys[next % keys.size()]);
}

size_t TopView::chosen_row() const {
  if (rows_.empty() || chosen_.empty()) return 0;
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [this](const TopApp* app) { return app->id == chosen_; });
  const auto row = static_cast<size_t>(found - rows_.begin());
  return found != rows_.end() ? row : std::min(chosen_before_, rows_.size() - 1);
}

void TopView::choose(size_t row) {
  if (rows_.empty()) return;
  row = std::min(row, rows_.size() - 1);
  chosen_ = row == 0 ? "" : rows_[row]->id;
  chosen_before_ = row;
}

void TopView::move(const Key& key) {
  const size_t row = chosen_row();
  if (key.kind == KeyKind::up) choose(row - std::min<size_t>(row, 1));
  if (key.kind == KeyKind::down) choose(row + 1);
  if (key.kind == KeyKind::page_up) choose(row - std::min(row, page_rows_));
  if (key.kind == KeyKind::page_down) choose(row + page_rows_);
  if (key.kind == KeyKind::home) choose(0);
  if (key.kind == KeyKind::end) choose(rows_.size());
}

/// Lines of a page; frame() stops at its end.
bool TopView::scroll(const Key& key) {
  constexpr size_t kEnd = 1U << 20U;
  if (key.kind == KeyKind::up) top_ -= std::min<size_t>(top_, 1);
  if (key.kind == KeyKind::down) ++top_;
  if (key.kind == KeyKind::page_up) top_ -= std::min(top_, page_rows_);
  if (key.kind == KeyKind::page_down) top_ += page_rows_;
  if (key.kind == KeyKind::home) top_ = 0;
  if (key.kind == KeyKind::end) top_ = kEnd;
  return key.kind >= KeyKind::up && key.kind <= KeyKind::end && key.kind != KeyKind::left;
}

void TopView::find(bool behind_this) {
  if (search_.empty() || rows_.empty()) return;
  const size_t from = chosen_row() + (behind_this ? 1 : 0);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const size_t row = (from + i) % rows_.size();
    if (is_meant(*rows_[row], search_)) return choose(row);
  }
}

}  // namespace assay::cli
