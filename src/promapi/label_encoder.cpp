// SPDX-License-Identifier: Apache-2.0
#include "label_encoder.h"

#include "label_message.h"

#include <algorithm>

namespace assay::promapi {
namespace {

/// Where the value ends that begins the text: at the first quote that is not escaped.
size_t end_of_value(std::string_view text) {
  const size_t quote = text.find('"');
  size_t at = text.substr(0, quote).find('\\');
  if (at == text.npos) return std::min(quote, text.size());
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at, text.size());
}

void unescape(std::string_view text, std::string& to) {
  to.clear();
  for (size_t at = 0; at < text.size(); ++at) {
    const bool escaped = text[at] == '\\' && at + 1 < text.size();
    if (escaped) ++at;
    to += escaped && text[at] == 'n' ? '\n' : text[at];
  }
}

}  // namespace

LabelEncoder::LabelEncoder(std::span<const Label> external) : external_(clean_labels(external)) {}

std::string_view LabelEncoder::encode(std::string_view name, std::string_view suffix,
                                      const LabelText& labels, std::span<const Label> extra) {
  parts_.clear();
  name_.assign(name).append(suffix);
  add({"__name__", name_});
  add_text(labels.text());
  for (const auto& label : extra) add({label.name, label.value});
  for (const auto& [label, value] : external_) add({label, value});
  encoded_.clear();
  for (const auto& part : parts_) write(part);
  return encoded_;
}

/// Of two with one name the first stays.
void LabelEncoder::add(const Part& part) {
  const auto at = std::lower_bound(parts_.begin(), parts_.end(), part.name,
                                   [](const Part& a, std::string_view b) { return a.name < b; });
  if (at == parts_.end() || at->name != part.name) parts_.insert(at, part);
}

/// Takes name="value",name="value" apart.
void LabelEncoder::add_text(std::string_view text) {
  constexpr std::string_view kBegin = "=\"";
  for (size_t at = text.find(kBegin); at != text.npos; at = text.find(kBegin)) {
    const std::string_view name = text.substr(0, at);
    text.remove_prefix(at + kBegin.size());
    const size_t end = end_of_value(text);
    const std::string_view value = text.substr(0, end);
    add({name, value, value.find('\\') != value.npos});
    text.remove_prefix(std::min(end + 2, text.size()));
  }
}

void LabelEncoder::write(const Part& part) {
  if (part.escaped) unescape(part.value, value_);
  write_label(encoded_, part.name, part.escaped ? std::string_view(value_) : part.value);
}

}  // namespace assay::promapi
