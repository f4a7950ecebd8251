// SPDX-License-Identifier: Apache-2.0
#include "act/undo_file.h"

#include <nlohmann/json.hpp>

#include <assay/base/files.h>

namespace assay::agent {

using nlohmann::json;

namespace {

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Originals parse_originals(std::string_view text) {
  Originals originals;
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return originals;
  for (const auto& [path, entry] : document.items()) {
    if (!entry.is_object()) continue;
    Original original{.pod_uid = text_at(entry, "pod_uid"),
                      .container = text_at(entry, "container")};
    LimitChange& limits = original.limits;
    const auto cores = entry.find("cores");
    const auto memory = entry.find("memory_bytes");
    if (cores != entry.end() && cores->is_number() && *cores >= 0) limits.cores = *cores;
    if (memory != entry.end() && memory->is_number_unsigned()) limits.memory_bytes = *memory;
    if (limits != LimitChange()) originals.emplace(path, std::move(original));
  }
  return originals;
}

std::string to_text(const Originals& originals) {
  json document = json::object();
  for (const auto& [path, original] : originals) {
    json& entry = document[path];
    if (original.limits.cores) entry["cores"] = *original.limits.cores;
    if (original.limits.memory_bytes) entry["memory_bytes"] = *original.limits.memory_bytes;
    if (!original.pod_uid.empty()) entry["pod_uid"] = original.pod_uid;
    if (!original.container.empty()) entry["container"] = original.container;
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
