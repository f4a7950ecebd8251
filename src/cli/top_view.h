// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "top_columns.h"
#include "top_document.h"
#include "top_frame.h"
#include "top_keys.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

struct TopChoice {
  TopOrder order = {};
  std::string filter = {};
  bool unicode = true;
};

/// The live table as a person sees and steers it: keys and documents go in, frames come out. Knows
/// no terminal.
class TopView {
 public:
  explicit TopView(TopChoice choice) : choice_(std::move(choice)) {}

  /// What the agent tells now. While paused it is kept for later.
  void take(TopDocument document);
  /// Why the table is old, in a sentence; empty: it is not.
  void set_trouble(std::string sentence) { trouble_ = std::move(sentence); }
  /// False when the key ends it.
  bool press(const Key& key);
  Lines frame(ScreenSize size);

 private:
  enum class Mode : uint8_t { table, search, filter, app, help };

  void remember_cores();
  void sort_by(const std::string& key);
  void step_order(int direction);
  void move(const Key& key);
  bool scroll(const Key& key);
  void find(bool behind_this);
  void choose(size_t row);
  size_t chosen_row() const;
  bool press_in_table(const Key& key);
  bool press_letter(const Key& key);
  void press_in_text(const Key& key);
  bool press_in_page(const Key& key);
  void arrange();

  Line title(size_t width) const;
  Lines head(ScreenSize size) const;
  Line status() const;
  Line footer(size_t width) const;
  Lines table(ScreenSize size, size_t rows);
  Lines page(size_t width) const;

  TopChoice choice_;
  TopDocument document_;
  std::optional<TopDocument> later_;
  RecentCores recent_;
  std::vector<const TopApp*> rows_;  ///< of document_, filtered and sorted
  std::string trouble_;
  Mode mode_ = Mode::table;
  bool paused_ = false;
  std::string search_;
  std::string chosen_;             ///< id of the app that the keys act on; empty: the first
  size_t chosen_before_ = 0;       ///< its row, for when it is gone
  std::optional<TopApp> watched_;  ///< the app that has the page
  size_t top_ = 0;                 ///< the first row, or line of a page, that is shown
  size_t page_rows_ = 1;           ///< how many are
};

/// The page of one app: advice, goals, what it is, and its values over each span.
Lines app_page(const TopApp& app, size_t width, bool unicode);
Lines help_page();
/// The table as plain text, whole: `width` 0 is as wide as its names need.
std::string once_text(const TopDocument& document, const TopChoice& choice, size_t width);

}  // namespace assay::cli
