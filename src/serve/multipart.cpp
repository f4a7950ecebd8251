// SPDX-License-Identifier: Apache-2.0
#include "multipart.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>

#include <assay/base/text.h>

namespace assay::serve {
namespace {

constexpr size_t kMostParts = 16;
constexpr size_t kLongestHead = 4096;
constexpr size_t kLongestBoundary = 70;
constexpr size_t kLongestName = 100;

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

/// What stands at `at`, in quotes (where a backslash keeps the next character) or not; moves `at`
/// to the next ";" or the end.
std::optional<std::string> value_at(std::string_view header, size_t& at) {
  std::string value;
  if (at < header.size() && header[at] == '"') {
    for (++at; at < header.size() && header[at] != '"'; ++at) {
      if (header[at] == '\\' && at + 1 < header.size()) ++at;
      value += header[at];
    }
    if (at == header.size()) return std::nullopt;
    at = std::min(header.find(';', at), header.size());
    return value;
  }
  const size_t end = std::min(header.find(';', at), header.size());
  value = std::string(trim(header.substr(at, end - at)));
  at = end;
  return value;
}

/// A parameter of a header: boundary=x, name="file".
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
  size_t at = header.find(';');
  while (at < header.size()) {
    const size_t equals = header.find('=', at);
    if (equals == header.npos) return std::nullopt;
    const std::string_view key = trim(header.substr(at + 1, equals - at - 1));
    at = equals + 1;
    auto value = value_at(header, at);
    if (!value || (key.size() == name.size() && starts_with_word(key, name))) return value;
  }
  return std::nullopt;
}

/// Name and filename from the lines above a part's data.
Result<FormPart> part_of(std::string_view head) {
  while (!head.empty()) {
    std::string_view line = next_field(head, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!starts_with_word(line, "content-disposition:")) continue;
    const auto name = parameter(line, "name");
    if (!name) break;
    return FormPart{*name, parameter(line, "filename").value_or(""), {}};
  }
  return bad_input("a part of the form has no name");
}

}  // namespace

bool is_multipart(std::string_view content_type) {
  return starts_with_word(trim(content_type), "multipart/");
}

Result<std::vector<FormPart>> parse_multipart(std::string_view content_type,
                                              std::string_view body) {
  if (!starts_with_word(trim(content_type), "multipart/form-data"))
    return bad_input("the request must be of type multipart/form-data");
  const auto boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kLongestBoundary)
    return bad_input("the form's type names no boundary");
  const std::string line = "\r\n--" + *boundary;
  // The first boundary may be without the line break.
  size_t at = body.starts_with(std::string_view(line).substr(2)) ? line.size() - 2 : body.npos;
  if (at == body.npos) {
    at = body.find(line);
    if (at != body.npos) at += line.size();
  }
  std::vector<FormPart> parts;
  while (at != body.npos && !body.substr(at).starts_with("--")) {
    if (parts.size() == kMostParts) return bad_input("the form has too many parts");
    const std::string_view rest = body.substr(at);
    const size_t head = rest.substr(0, kLongestHead).find("\r\n\r\n");
    if (head == rest.npos) return bad_input("a part of the form has no end of its head");
    ASSAY_TRY(FormPart part, part_of(rest.substr(0, head + 2)));
    const size_t begin = at + head + 4;
    const size_t end = body.find(line, begin);
    if (end == body.npos) return bad_input("the form ends in the middle of a part");
    part.data = body.substr(begin, end - begin);
    parts.push_back(std::move(part));
    at = end + line.size();
  }
  if (at == body.npos) return bad_input("the form has no parts");
  return parts;
}

std::string safe_filename(std::string_view name) {
  const size_t slash = name.find_last_of("/\\");
  if (slash != name.npos) name.remove_prefix(slash + 1);
  std::string safe;
  for (const char c : name.substr(0, kLongestName)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                       c == '.' || c == '+';
    safe += plain ? c : '_';
  }
  while (safe.starts_with('.')) safe.erase(0, 1);
  return safe.empty() ? "model.onnx" : safe;
}

}  // namespace assay::serve
