// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/promapi/target_file.h>

namespace assay::agent {
namespace {

std::string reachable(const std::string& address, const std::string& node) {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const bool everywhere = host.empty() || host == "0.0.0.0" || host == "[::]" || host == "*";
  return everywhere && !node.empty() ? node + address.substr(colon) : address;
}

/// One that a daemon has left behind, or an empty one; not what somebody wrote for another end.
bool is_ours(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return true;
  const auto text = read_file(file);
  if (!text) return false;
  if (trim(*text).empty()) return true;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_array() || json.size() != 1 || !json[0].is_object()) return false;
  const auto labels = json[0].value("labels", nlohmann::json::object());
  return json[0].value("targets", nlohmann::json::array()).size() == 1 &&
         labels.size() == labels.count("instance");
}

}  // namespace

Result<TargetsFile> TargetsFile::write(std::filesystem::path file, const std::string& address,
                                       const std::string& node) {
  if (address.empty())
    return bad_input("a file of targets needs an address to name: give one by --listen");
  if (!is_ours(file))
    return bad_input(
        fmt::format("{} is there and is no file of targets: name another", file.native()));
  promapi::TargetGroup group;
  group.targets.push_back(reachable(address, node));
  if (!node.empty()) group.labels["instance"] = node;
  ASSAY_CHECK(promapi::write_target_file(file, std::span(&group, 1)));
  return TargetsFile(std::move(file));
}

TargetsFile::TargetsFile(TargetsFile&& other) noexcept
    : file_(std::exchange(other.file_, std::filesystem::path())) {}
TargetsFile& TargetsFile::operator=(TargetsFile&& other) noexcept {
  remove();
  file_ = std::exchange(other.file_, std::filesystem::path());
  return *this;
}
TargetsFile::~TargetsFile() {
  remove();
}

void TargetsFile::remove() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace assay::agent
