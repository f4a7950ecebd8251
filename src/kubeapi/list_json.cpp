// SPDX-License-Identifier: Apache-2.0
#include "list_json.h"

#include "answers.h"
#include "object_json.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/wording.h>
#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

template <class T>
struct Words;
template <>
struct Words<Pod> {
  static constexpr const char* kMany = "pods";
  static Pod read(const Json& json) { return read_pod(json); }
};
template <>
struct Words<Node> {
  static constexpr const char* kMany = "nodes";
  static Node read(const Json& json) { return read_node(json); }
};
template <>
struct Words<ObjectMeta> {
  static constexpr const char* kMany = "objects";
  static ObjectMeta read(const Json& json) { return read_meta(json); }
};

/// Large and of no use to us; directly in an object's metadata, spec or status.
constexpr std::array<std::string_view, 6> kLeftOut = {"managedFields", "volumes",     "images",
                                                      "volumesInUse",  "tolerations", "affinity"};

/// Without kLeftOut, which would be most of the memory. An object's own keys are at `depth`.
Json parse(std::string_view text, int depth) {
  const auto keep = [depth](int level, Json::parse_event_t event, const Json& key) {
    return event != Json::parse_event_t::key || level != depth + 1 ||
           std::find(kLeftOut.begin(), kLeftOut.end(), key.get_ref<const std::string&>()) ==
               kLeftOut.end();
  };
  return Json::parse(text, keep, false);
}

template <class T>
bool is_object(const T& object) {
  return !object.name.empty() && !object.uid.empty();
}

template <class T>
WatchEvent<T> read_failure(const Json& status) {
  const Json& code = at(status, "code");
  if (code.is_number_integer() && code.get<int64_t>() == kGone)
    return {.kind = WatchEvent<T>::Kind::expired};
  return {.kind = WatchEvent<T>::Kind::failed, .message = in_quotes(text_at(status, "message"))};
}

}  // namespace

template <class T>
Result<Page<T>> read_page(std::string_view text) {
  const Json json = parse(text, 3);
  const Json& items = at(json, "items");
  const Json& metadata = at(json, "metadata");
  Page<T> page{.items = {},
               .version = text_at(metadata, "resourceVersion"),
               .next = text_at(metadata, "continue")};
  // A list of nothing has no items in some versions.
  if (page.version.empty() || !(items.is_array() || items.is_null()))
    return refused(fmt::format("its answer is no list of {}", Words<T>::kMany));
  page.items.reserve(items.size());
  for (const auto& item : items) {
    T object = Words<T>::read(item);
    if (is_object(object)) page.items.push_back(std::move(object));
  }
  return page;
}

template <class T>
Result<WatchEvent<T>> read_event(std::string_view line) {
  using Kind = typename WatchEvent<T>::Kind;
  const Json json = parse(line, 2);
  const std::string type = text_at(json, "type");
  const Json& object = at(json, "object");
  if (type == "ERROR") return read_failure<T>(object);
  WatchEvent<T> event;
  event.version = text_at(at(object, "metadata"), "resourceVersion");
  const bool known = type == "ADDED" || type == "MODIFIED" || type == "DELETED";
  if (event.version.empty() || !(known || type == "BOOKMARK"))
    return refused(fmt::format("the API server's answer is no watch of {}", Words<T>::kMany));
  if (!known) return event;
  event.kind = type == "DELETED" ? Kind::gone : Kind::set;
  event.object = Words<T>::read(object);
  if (!is_object(event.object))
    return refused(
        fmt::format("the API server's watch has something that is none of {}", Words<T>::kMany));
  return event;
}

template Result<Page<Pod>> read_page(std::string_view);
template Result<Page<Node>> read_page(std::string_view);
template Result<Page<ObjectMeta>> read_page(std::string_view);
template Result<WatchEvent<Pod>> read_event(std::string_view);
template Result<WatchEvent<Node>> read_event(std::string_view);
template Result<WatchEvent<ObjectMeta>> read_event(std::string_view);

}  // namespace assay::kubeapi
