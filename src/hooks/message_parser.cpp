// SPDX-License-Identifier: Apache-2.0
#include "message_parser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::hooks {
namespace {

/// What a client's buffers may keep between messages.
constexpr size_t kKeptBytes = 4096;
constexpr double kMaxIndex = 1e6;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

void MessageParser::feed(std::string_view bytes, ReadingSink& sink, Losses& losses) {
  p_ = bytes.data();
  end_ = p_ + bytes.size();
  message_begin_ = p_;
  const size_t room = message_bytes_ - std::min(message_size_, message_bytes_);
  stop_ = in_message() ? p_ + std::min(room, bytes.size()) : end_;
  while (p_ != end_) {
    if (p_ == stop_) {
      broken(Trouble::too_long, losses);
    } else {
      step(sink, losses);
    }
  }
  message_size_ = in_message() ? message_size_ + static_cast<size_t>(end_ - message_begin_) : 0;
}

void MessageParser::finish(Losses& losses) {
  if (in_message()) losses.add(Trouble::cut_off);
  state_ = State::between;
}

void MessageParser::step(ReadingSink& sink, Losses& losses) {
  switch (state_) {
    case State::between:
    case State::skip_line:
      return step_between(losses);
    case State::in_key:
    case State::in_string:
      return step_string(losses);
    case State::in_scalar:
      return step_scalar(losses);
    default:
      return step_structure(sink, losses);
  }
}

void MessageParser::step_between(Losses& losses) {
  if (state_ == State::skip_line) {
    const char* const newline = std::find(p_, end_, '\n');
    if (newline != p_) line_is_empty_ = false;
    p_ = newline;
    if (p_ == end_) return;
    state_ = State::between;
  }
  if (take_space(losses)) return;
  if (*p_ == '{' && (!recovering_ || at_line_start_)) return begin_message();
  if (!recovering_) return broken(Trouble::not_json, losses);
  state_ = State::skip_line;
}

/// Takes one byte if it is white space. A blank line ends whatever was begun.
bool MessageParser::take_space(Losses& losses) {
  if (!is_space(*p_)) return false;
  const bool newline = *p_ == '\n';
  if (newline && line_is_empty_) {
    if (in_message()) broken(Trouble::not_json, losses);
    state_ = State::between;
    recovering_ = false;
  }
  at_line_start_ = newline;
  line_is_empty_ = line_is_empty_ || newline;
  ++p_;
  return true;
}

void MessageParser::begin_message() {
  message_begin_ = p_++;
  message_size_ = 0;
  stop_ = message_begin_ + std::min(message_bytes_, static_cast<size_t>(end_ - message_begin_));
  at_line_start_ = line_is_empty_ = false;
  depth_ = 1;
  objects_ = 1U << 1U;
  staged_.clear();
  texts_.clear();
  if (of_message_.any()) of_message_.clear();
  state_ = State::key_or_end;
}

void MessageParser::step_structure(ReadingSink& sink, Losses& losses) {
  if (take_space(losses)) return;
  const char c = *p_;
  const bool may_end =
      state_ == State::key_or_end || state_ == State::value_or_end || state_ == State::after_value;
  if ((c == '}' || c == ']') && may_end) return close(c == '}', sink, losses);
  switch (state_) {
    case State::key_or_end:
    case State::key:
      if (c != '"') return broken(Trouble::not_json, losses);
      return begin_string(depth_ == 1 || in_metric(), State::in_key);
    case State::colon:
      if (c != ':') return broken(Trouble::not_json, losses);
      state_ = State::value;
      break;
    case State::after_value:
      if (c != ',') return broken(Trouble::not_json, losses);
      state_ = in_object() ? State::key : State::value;
      break;
    default:
      return begin_value(losses);
  }
  at_line_start_ = line_is_empty_ = false;
  ++p_;
}

void MessageParser::begin_value(Losses& losses) {
  const char c = *p_;
  if (c == '{' || c == '[') return open(c == '{', losses);
  if (c == '"') {
    const bool keeps = in_metric() && (field_ == Field::unit || field_ == Field::kind);
    return begin_string(keeps, State::in_string);
  }
  scalar_.begin();
  state_ = State::in_scalar;
  step_scalar(losses);
}

void MessageParser::begin_string(bool keeps, State state) {
  at_line_start_ = line_is_empty_ = false;
  ++p_;
  string_.begin(keeps);
  state_ = state;
}

void MessageParser::step_string(Losses& losses) {
  switch (string_.take(p_, stop_)) {
    case Step::more:
      return;
    case Step::bad:
      return broken(Trouble::not_json, losses);
    case Step::done:
      break;
  }
  if (state_ == State::in_key) {
    end_key();
  } else {
    end_string_value();
  }
}

void MessageParser::end_key() {
  state_ = State::colon;
  const std::string_view key = string_.text();
  if (depth_ == 1) {
    metric_ = {};
    metric_.name = keep(key);
    name_too_long_ = string_.cut();
    field_ = Field::value;
  } else if (depth_ == 2 && in_object()) {
    field_ = field_of(key);
  }
}

MessageParser::Field MessageParser::field_of(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, Field>, 6> kFields{
      {{"value", Field::value},
       {"timestamp", Field::time},
       {"unit", Field::unit},
       {"kind", Field::kind},
       {"slot", Field::slot},
       {"histogram", Field::histogram}}};
  for (const auto& [name, field] : kFields)
    if (name == key) return field;
  return Field::other;
}

void MessageParser::end_string_value() {
  if (in_metric() && (field_ == Field::unit || field_ == Field::kind)) {
    state_ = State::after_value;
    if (!string_.cut())
      (field_ == Field::unit ? metric_.unit : metric_.kind) = keep(string_.text());
    return;
  }
  end_scalar(Number::not_a_number, 0);
}

void MessageParser::step_scalar(Losses& losses) {
  const Step step = scalar_.take(p_, stop_);
  at_line_start_ = line_is_empty_ = false;
  if (step == Step::more) return;
  double value = 0;
  switch (scalar_.read(value)) {
    case ScalarToken::Kind::number:
      return end_scalar(Number::good, value);
    case ScalarToken::Kind::out_of_range:
      return end_scalar(Number::out_of_range, 0);
    case ScalarToken::Kind::word:
      return end_scalar(Number::not_a_number, 0);
    case ScalarToken::Kind::bad:
      return broken(Trouble::not_json, losses);
  }
}

void MessageParser::end_scalar(Number number, double value) {
  state_ = State::after_value;
  if (depth_ == 1 || (in_metric() && field_ == Field::value)) {
    metric_.number = number;
    metric_.value = value;
    if (depth_ == 1) end_metric();
  } else if (in_metric() && field_ == Field::time) {
    // Zero is implausible by itself, and gets the metric its loss there.
    metric_.time = number == Number::good ? value : 0;
  } else if (in_metric() && (field_ == Field::slot || field_ == Field::histogram)) {
    end_index(number, value);
  }
}

void MessageParser::end_index(Number number, double value) {
  if (number != Number::good || !(value >= 0 && value <= kMaxIndex)) return;
  metric_.role = field_ == Field::slot ? Role::slot : Role::histogram;
  metric_.index = static_cast<uint32_t>(value);
}

void MessageParser::open(bool object, Losses& losses) {
  if (depth_ == kMaxDepth) return broken(Trouble::too_deep, losses);
  if (field_ == Field::value && (in_metric() || (depth_ == 1 && !object))) {
    metric_.number = Number::not_a_number;
  }
  ++p_;
  at_line_start_ = line_is_empty_ = false;
  ++depth_;
  const uint32_t bit = 1U << static_cast<unsigned>(depth_);
  objects_ = object ? objects_ | bit : objects_ & ~bit;
  state_ = object ? State::key_or_end : State::value_or_end;
}

void MessageParser::close(bool object, ReadingSink& sink, Losses& losses) {
  if (object != in_object()) return broken(Trouble::not_json, losses);
  ++p_;
  at_line_start_ = line_is_empty_ = false;
  state_ = State::after_value;
  --depth_;
  if (depth_ == 1) end_metric();
  if (depth_ == 0) commit(sink, losses);
}

void MessageParser::end_metric() {
  if (name_too_long_) return of_message_.add(Trouble::bad_name);
  switch (metric_.number) {
    case Number::none:
      if (!is_told_without_value()) return of_message_.add(Trouble::no_value);
      break;
    case Number::not_a_number:
      return of_message_.add(Trouble::not_a_number);
    case Number::out_of_range:
      return of_message_.add(Trouble::out_of_range);
    case Number::good:
      metric_.role = Role::value;
      break;
  }
  if (staged_.size() == kMaxMetrics) return of_message_.add(Trouble::too_many_metrics);
  staged_.push_back(metric_);
}

bool MessageParser::is_told_without_value() {
  if (metric_.role == Role::value && view(metric_.kind) == "app") metric_.role = Role::app;
  return metric_.role != Role::value;
}

void MessageParser::commit(ReadingSink& sink, Losses& losses) {
  state_ = State::between;
  recovering_ = false;
  stop_ = end_;
  if (of_message_.any()) losses.add(of_message_);
  if (staged_.empty() && !of_message_.any()) sink.greeted();
  for (const Staged& s : staged_) {
    sink.take({view(s.name), s.value, s.time, view(s.unit), view(s.kind), s.role, s.index});
  }
  if (texts_.capacity() > kKeptBytes) texts_ = std::string();
  if (staged_.capacity() * sizeof(Staged) > kKeptBytes) staged_ = std::vector<Staged>();
}

/// A new object at the start of a line is taken for a new message, not for more of the broken one.
void MessageParser::broken(Trouble trouble, Losses& losses) {
  losses.add(trouble);
  recovering_ = true;
  stop_ = end_;
  const bool restart = trouble == Trouble::not_json && *p_ == '{' && at_line_start_;
  state_ = restart ? State::between : State::skip_line;
}

MessageParser::Text MessageParser::keep(std::string_view text) {
  texts_.append(text);
  return {texts_.size() - text.size(), text.size()};
}

std::string_view MessageParser::view(Text text) const {
  return std::string_view(texts_).substr(text.begin, text.size);
}

}  // namespace assay::hooks
