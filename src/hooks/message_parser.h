// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_tokens.h"
#include "losses.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace assay::hooks {

/// What a client says with a name: a value, what the app calls itself ("kind": "app"), or by which
/// number it will speak of a metric in shared memory ("slot" of its events, or "histogram").
enum class Role : uint8_t { value, app, slot, histogram };

/// One thing that a client said. The texts live until the call that got them returns.
struct Reading {
  std::string_view name;
  double value = 0;
  double time = std::numeric_limits<double>::quiet_NaN();  ///< Unix seconds; NaN: not told
  std::string_view unit;
  std::string_view kind;
  Role role = Role::value;
  uint32_t index = 0;  ///< of the slot or histogram
};

class ReadingSink {
 public:
  virtual ~ReadingSink() = default;
  virtual void take(const Reading& reading) = 0;
  /// The client sent an empty object, which asks for shared memory.
  virtual void greeted() {}
};

/// Reads one client's messages, however they are cut: JSON objects of metrics, each
/// {"name": {"value": 1, "timestamp": s, "unit": "…", "kind": "…"}} or {"name": 1}, ended by their
/// closing brace and separated by white space. A message counts as a whole: its readings are given
/// on when it is complete, and a broken one gives none. Reading goes on behind a broken message at
/// the next blank line or line that begins with "{". Works byte by byte and keeps only the tokens
/// it needs, so that no input can cost more than `message_bytes` of memory or linear time.
class MessageParser {
 public:
  static constexpr int kMaxDepth = 16;
  static constexpr size_t kMaxMetrics = 256;  ///< in one message

  explicit MessageParser(size_t message_bytes) : message_bytes_(message_bytes) {}

  void feed(std::string_view bytes, ReadingSink& sink, Losses& losses);
  /// The client is gone: a message begun and not completed is lost.
  void finish(Losses& losses);

 private:
  enum class State : uint8_t {
    between,
    skip_line,
    key_or_end,
    key,
    in_key,
    colon,
    value,
    value_or_end,
    in_string,
    in_scalar,
    after_value,
  };
  enum class Field : uint8_t { other, value, time, unit, kind, slot, histogram };
  enum class Number : uint8_t { none, good, out_of_range, not_a_number };
  struct Text {
    size_t begin = 0;
    size_t size = 0;
  };
  struct Staged {
    Text name, unit, kind;
    Number number = Number::none;
    double value = 0;
    double time = std::numeric_limits<double>::quiet_NaN();
    Role role = Role::value;
    uint32_t index = 0;
  };

  void step(ReadingSink& sink, Losses& losses);
  void step_between(Losses& losses);
  void step_structure(ReadingSink& sink, Losses& losses);
  void step_string(Losses& losses);
  void step_scalar(Losses& losses);
  bool take_space(Losses& losses);
  void begin_message();
  void begin_value(Losses& losses);
  void begin_string(bool keep, State state);
  void open(bool object, Losses& losses);
  void close(bool object, ReadingSink& sink, Losses& losses);
  void end_key();
  static Field field_of(std::string_view key);
  void end_string_value();
  void end_scalar(Number number, double value);
  void end_index(Number number, double value);
  void end_metric();
  bool is_told_without_value();
  void commit(ReadingSink& sink, Losses& losses);
  void broken(Trouble trouble, Losses& losses);
  bool in_message() const { return state_ != State::between && state_ != State::skip_line; }
  bool in_object() const { return ((objects_ >> static_cast<unsigned>(depth_)) & 1U) != 0; }
  bool in_metric() const { return depth_ == 2 && in_object(); }
  Text keep(std::string_view text);
  std::string_view view(Text text) const;

  size_t message_bytes_;
  State state_ = State::between;
  bool recovering_ = false;    ///< behind a broken message, up to a blank line or a good message
  bool at_line_start_ = true;  ///< the byte before was a newline
  bool line_is_empty_ = true;  ///< nothing but white space since the last newline
  int depth_ = 0;
  uint32_t objects_ = 0;  ///< bit d: the container at depth d is an object
  Field field_ = Field::other;
  StringToken string_;
  ScalarToken scalar_;
  Staged metric_;
  bool name_too_long_ = false;
  std::vector<Staged> staged_;
  std::string texts_;        ///< what `Text`s point into
  Losses of_message_;        ///< troubles of single metrics, counted when the message is complete
  size_t message_size_ = 0;  ///< bytes of the message in earlier pieces

  // The piece at hand.
  const char* p_ = nullptr;
  const char* message_begin_ = nullptr;
  const char* stop_ = nullptr;  ///< the end of the piece, or where the message gets too long
  const char* end_ = nullptr;
};

}  // namespace assay::hooks
