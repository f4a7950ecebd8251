// SPDX-License-Identifier: Apache-2.0
#include "act/undo_file.h"

#include <nlohmann/json.hpp>

#include <assay/base/files.h>

namespace assay::agent {

using nlohmann::json;

Originals parse_originals(std::string_view text) {
  Originals originals;
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return originals;
  for (const auto& [path, limits] : document.items()) {
    if (!limits.is_object()) continue;
    LimitChange change;
    const auto cores = limits.find("cores");
    const auto memory = limits.find("memory_bytes");
    if (cores != limits.end() && cores->is_number() && *cores >= 0) change.cores = *cores;
    if (memory != limits.end() && memory->is_number_unsigned()) change.memory_bytes = *memory;
    if (change != LimitChange()) originals.emplace(path, change);
  }
  return originals;
}

std::string to_text(const Originals& originals) {
  json document = json::object();
  for (const auto& [path, limits] : originals) {
    json& entry = document[path];
    if (limits.cores) entry["cores"] = *limits.cores;
    if (limits.memory_bytes) entry["memory_bytes"] = *limits.memory_bytes;
  }
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Originals UndoFile::load() const {
  if (file_.empty()) return {};
  const auto text = read_file(file_);
  return text ? parse_originals(*text) : Originals();
}

Result<void> UndoFile::save(const Originals& originals) const {
  if (file_.empty()) return {};
  if (!originals.empty()) return write_file(file_, to_text(originals));
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  return {};
}

}  // namespace assay::agent
