// SPDX-License-Identifier: Apache-2.0
#include "top_keys.h"

#include <algorithm>
#include <array>
#include <optional>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

constexpr char kEscape = '\033';
/// No key sends more; beyond it somebody plays with us.
constexpr size_t kLongestSequence = 16;

struct Final {
  char last;
  KeyKind kind;
  int number = 0;
};
constexpr std::array kFinals = {Final{'A', KeyKind::up},          Final{'B', KeyKind::down},
                                Final{'C', KeyKind::right},       Final{'D', KeyKind::left},
                                Final{'H', KeyKind::home},        Final{'F', KeyKind::end},
                                Final{'M', KeyKind::enter},       Final{'P', KeyKind::function, 1},
                                Final{'Q', KeyKind::function, 2}, Final{'R', KeyKind::function, 3},
                                Final{'S', KeyKind::function, 4}};

struct Tilde {
  int code;
  KeyKind kind;
  int number = 0;
};
constexpr std::array kTildes = {Tilde{1, KeyKind::home},          Tilde{4, KeyKind::end},
                                Tilde{5, KeyKind::page_up},       Tilde{6, KeyKind::page_down},
                                Tilde{7, KeyKind::home},          Tilde{8, KeyKind::end},
                                Tilde{11, KeyKind::function, 1},  Tilde{12, KeyKind::function, 2},
                                Tilde{13, KeyKind::function, 3},  Tilde{14, KeyKind::function, 4},
                                Tilde{15, KeyKind::function, 5},  Tilde{17, KeyKind::function, 6},
                                Tilde{18, KeyKind::function, 7},  Tilde{19, KeyKind::function, 8},
                                Tilde{20, KeyKind::function, 9},  Tilde{21, KeyKind::function, 10},
                                Tilde{23, KeyKind::function, 11}, Tilde{24, KeyKind::function, 12}};

/// What was read: so many bytes, and a key where they are one. 0 bytes: more has to come.
struct Piece {
  size_t bytes = 0;
  std::optional<Key> key = {};
};

std::optional<Key> key_of(std::string_view parameters, char last) {
  if (last == '~') {
    const auto code = parse_int(next_field(parameters, ';'));
    for (const auto& tilde : kTildes)
      if (code == tilde.code) return Key{tilde.kind, "", tilde.number};
    return std::nullopt;
  }
  for (const auto& final : kFinals)
    if (last == final.last) return Key{final.kind, "", final.number};
  return std::nullopt;
}

/// "ESC [ 5 ~" and "ESC O P"; the Linux console's "ESC [ [ A" is F1.
Piece sequence(std::string_view bytes) {
  if (bytes.size() < 3) return {};
  if (bytes[1] == 'O') return {3, key_of("", bytes[2])};
  if (bytes[2] == '[') {
    if (bytes.size() < 4) return {};
    const int number = bytes[3] - 'A' + 1;
    if (number < 1 || number > 5) return {4};
    return {4, Key{KeyKind::function, "", number}};
  }
  const auto end =
      std::find_if(bytes.begin() + 2, bytes.end(), [](char c) { return c >= '@' && c <= '~'; });
  const auto size = static_cast<size_t>(end - bytes.begin());
  if (end != bytes.end()) return {size + 1, key_of(bytes.substr(2, size - 2), *end)};
  return size < kLongestSequence ? Piece{} : Piece{size};
}

size_t character_size(unsigned char first) {
  if (first < 0xC2) return 1;
  if (first < 0xE0) return 2;
  return first < 0xF0 ? 3 : 4;
}

Piece character(std::string_view bytes) {
  const char first = bytes.front();
  if (first == '\r' || first == '\n') return {1, Key{KeyKind::enter}};
  if (first == '\x7F' || first == '\b') return {1, Key{KeyKind::backspace}};
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x20) return {1};
  const size_t size = character_size(byte);
  if (size > bytes.size()) return {};
  return {size, Key{KeyKind::text, std::string(bytes.substr(0, size))}};
}

Piece first_piece(std::string_view bytes) {
  if (bytes.front() != kEscape) return character(bytes);
  if (bytes.size() == 1) return {};
  if (bytes[1] == '[' || bytes[1] == 'O') return sequence(bytes);
  return {1, Key{KeyKind::escape}};
}

}  // namespace

std::vector<Key> KeyReader::take(std::string_view bytes) {
  rest_ += bytes;
  std::vector<Key> keys;
  while (!rest_.empty()) {
    Piece piece = first_piece(rest_);
    if (piece.bytes == 0) break;
    if (piece.key) keys.push_back(std::move(*piece.key));
    rest_.erase(0, piece.bytes);
  }
  return keys;
}

std::vector<Key> KeyReader::give_up() {
  if (rest_.empty()) return {};
  const bool escape = rest_.front() == kEscape;
  const std::string behind = rest_.substr(1);
  rest_.clear();
  if (!escape) return {};
  std::vector<Key> keys = {Key{KeyKind::escape}};
  for (auto& key : take(behind)) keys.push_back(std::move(key));
  return keys;
}

}  // namespace assay::cli
