// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

enum class KeyKind : uint8_t {
  text,  ///< one character
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  function,  ///< F1 to F12
};

struct Key {
  KeyKind kind = KeyKind::text;
  std::string text = {};  ///< the character's bytes
  int number = 0;         ///< of a function key

  bool operator==(const Key&) const = default;
  bool is(char c) const { return kind == KeyKind::text && text.size() == 1 && text.front() == c; }
  bool is_function(int n) const { return kind == KeyKind::function && number == n; }
};

/// Turns what a terminal sends into keys; bytes may come in any cutting. What no key sends is
/// swallowed.
class KeyReader {
 public:
  std::vector<Key> take(std::string_view bytes);
  /// The beginning of a sequence was seen: when nothing follows at once, it was the key Esc.
  bool waiting() const { return !rest_.empty(); }
  /// Nothing has followed.
  std::vector<Key> give_up();

 private:
  std::string rest_;
};

}  // namespace assay::cli
