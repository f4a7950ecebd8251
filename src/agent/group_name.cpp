// SPDX-License-Identifier: Apache-2.0
#include "group_name.h"

#include <algorithm>
#include <array>

namespace assay::agent {
namespace {

constexpr size_t kIdDigits = 64;

bool is_container_id(std::string_view text) {
  return text.size() == kIdDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view parent(std::string_view path) {
  return path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/'));
}

struct Form {
  std::string_view prefix;
  std::string_view runtime;
};
/// As the systemd driver names them; one whose runtime cannot be told has none.
constexpr std::array kForms = {
    Form{"docker-", "docker"},      Form{"cri-containerd-", "containerd"},
    Form{"nerdctl-", "containerd"}, Form{"crio-", "cri-o"},
    Form{"libpod-", "podman"},      Form{"", ""}};

bool take_container(std::string_view path, GroupName& name) {
  std::string_view own = last_part(path);
  if (own.ends_with(".scope")) own.remove_suffix(6);
  for (const auto& [prefix, runtime] : kForms) {
    if (!own.starts_with(prefix) || !is_container_id(own.substr(prefix.size()))) continue;
    name.kind = GroupKind::container;
    name.id = own.substr(prefix.size());
    name.runtime = runtime;
    if (runtime.empty() && last_part(parent(path)) == "docker") name.runtime = "docker";
    return true;
  }
  return false;
}

/// ".../pod<uid>", or ".../kubepods-burstable-pod<uid with underscores>.slice".
std::string pod_uid_of(std::string_view path) {
  std::string_view part = last_part(path);
  if (path.find("kubepods") == path.npos) return "";
  if (part.ends_with(".slice")) part.remove_suffix(6);
  const size_t at = part.rfind("pod");
  if (at == part.npos || part == "kubepods") return "";
  std::string uid(part.substr(at + 3));
  std::replace(uid.begin(), uid.end(), '_', '-');
  return uid;
}

bool is_inside_of_container(std::string_view path) {
  GroupName ignored;
  for (path = parent(path); !path.empty(); path = parent(path))
    if (take_container(path, ignored)) return true;
  return false;
}

}  // namespace

GroupName name_group(std::string_view path) {
  GroupName name;
  name.id = last_part(path);
  if (is_inside_of_container(path)) return name;
  if (take_container(path, name)) {
    name.pod_uid = pod_uid_of(parent(path));
  } else if (name.id.ends_with(".service")) {
    name.kind = GroupKind::service;
  } else if (name.id.starts_with("assay-")) {
    name.kind = GroupKind::run;
  }
  return name;
}

}  // namespace assay::agent
