// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/base/yaml.h>

namespace assay {
namespace {

/// Whether the quoted text that `text` begins with has an end.
bool is_closed(std::string_view text) {
  const char quote = text.front();
  for (size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool doubled = quote == '\'' && text.substr(i + 1, 1) == "'";
      if (!doubled) return true;
      ++i;
    }
  }
  return false;
}

/// Hears a document without keeping it, to tell one document from several before building nodes
/// (YAML::LoadAll does not end on some broken texts), and to find a quote that is left open, which
/// YAML::Load takes for text up to the end of the file.
class DocumentStart final : public YAML::EventHandler {
 public:
  explicit DocumentStart(std::string_view text) : text_(text) {}

  int line() const { return line_; }
  /// The line of the quote that is never closed; 0: none.
  int open_quote() const { return open_quote_; }

  void OnDocumentStart(const YAML::Mark& mark) override { line_ = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    const auto at = static_cast<size_t>(mark.pos);
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;
    if (!is_closed(text_.substr(at))) open_quote_ = mark.line + 1;
  }
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}

 private:
  std::string_view text_;
  int line_ = 0;
  int open_quote_ = 0;
};

bool has_one_document(const std::string& text, const YamlUse& use, Problems& problems) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentStart start(text);
  if (!parser.HandleNextDocument(start)) {
    problems.add(0, fmt::format("is empty; {}", use.least));
    return false;
  }
  if (start.open_quote() > 0) {
    problems.add(start.open_quote(), "the quote that opens here is never closed");
    return false;
  }
  if (parser.HandleNextDocument(start)) {
    problems.add(start.line(), "a second document starts here; keep one document per file");
    return false;
  }
  return true;
}

/// The size of the character that `text` begins with; 0 when it is none.
size_t utf8_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  const bool beyond = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : size;
}

/// Bytes that YAML forbids; its reader would take some of them for the end of the file.
bool is_text(const std::string& text, Problems& problems) {
  const auto bad = std::find_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
  });
  if (bad != text.end()) {
    const auto line = static_cast<int>(std::count(text.begin(), bad, '\n')) + 1;
    problems.add(line, "has control characters; is this a YAML file? Save it as UTF-8 text");
    return false;
  }
  if (!is_utf8(text)) problems.add(0, "is not UTF-8 text; save it as UTF-8");
  return problems.empty();
}

/// The first line that a tab indents; 0: none.
int tab_indented_line(std::string_view text) {
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = next_field(text, '\n');
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos &&
        line.substr(0, first).find('\t') != std::string_view::npos)
      return number;
  }
  return 0;
}

void not_valid(const std::string& text, const YAML::Exception& error, Problems& problems) {
  if (const int line = tab_indented_line(text); line > 0) {
    problems.add(line, "YAML allows no tabs for indentation; use spaces");
    return;
  }
  problems.add(error.mark.line + 1,
               fmt::format("not valid YAML: {}; check indentation, quotes and brackets before here",
                           error.msg));
}

Field field_of(const std::string& key, int line, const YAML::Node& value) {
  return {key, value, value.IsScalar() ? line_of(value) : line};
}

}  // namespace

std::optional<YAML::Node> load_map(const std::string& text, const YamlUse& use,
                                   Problems& problems) {
  if (text.size() > kLargestYaml) {
    problems.add(0,
                 fmt::format("is larger than {} KiB; is this {}?", kLargestYaml >> 10U, use.what));
    return std::nullopt;
  }
  if (!is_text(text, problems)) return std::nullopt;
  try {
    if (!has_one_document(text, use, problems)) return std::nullopt;
    YAML::Node root = YAML::Load(text);
    if (root.IsMap()) return root;
    problems.add(line_of(root), fmt::format("holds {}; write keys with values, as in \"{}\"",
                                            kind_of(root), use.example));
  } catch (const YAML::DeepRecursion& error) {
    problems.add(error.mark.line + 1,
                 fmt::format("is nested too deep to be {}; use fewer levels", use.what));
  } catch (const YAML::Exception& error) {
    not_valid(text, error, problems);
  } catch (const std::exception& error) {
    problems.add(0, fmt::format("not readable as YAML: {}", error.what()));
  }
  return std::nullopt;
}

std::vector<Field> fields_of(const YAML::Node& map, Problems& problems) {
  std::vector<Field> fields;
  std::map<std::string, int> seen;
  for (const auto& entry : map) {
    const int line = line_of(entry.first);
    if (!entry.first.IsScalar()) {
      problems.add(line, fmt::format("a key must be text, not {}; write \"key: value\"",
                                     kind_of(entry.first)));
      continue;
    }
    const auto& key = entry.first.Scalar();
    if (const auto [first, is_new] = seen.emplace(key, line); !is_new) {
      problems.add(line, fmt::format("key {} is given again (first in line {}); remove one of them",
                                     in_quotes(key), first->second));
      continue;
    }
    fields.push_back(field_of(key, line, entry.second));
  }
  return fields;
}

std::vector<Field> fields_of(const YAML::Node& map, std::span<const std::string_view> ours,
                             Problems& problems) {
  YAML::Node own(YAML::NodeType::Map);
  std::vector<Field> fields;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) continue;
    if (std::find(ours.begin(), ours.end(), entry.first.Scalar()) != ours.end()) {
      own.force_insert(entry.first, entry.second);
    } else {
      fields.push_back(field_of(entry.first.Scalar(), line_of(entry.first), entry.second));
    }
  }
  for (auto& field : fields_of(own, problems)) fields.push_back(std::move(field));
  return fields;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = utf8_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

int line_of(const YAML::Node& node) {
  return node.Mark().line + 1;
}

std::string_view kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "text";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    default:
      return "nothing";
  }
}

}  // namespace assay
