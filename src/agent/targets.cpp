// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include <span>
#include <system_error>
#include <utility>

#include <assay/promapi/target_file.h>

namespace assay::agent {
namespace {

std::string reachable(const std::string& address, const std::string& node) {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const bool everywhere = host.empty() || host == "0.0.0.0" || host == "[::]" || host == "*";
  return everywhere && !node.empty() ? node + address.substr(colon) : address;
}

}  // namespace

Result<TargetsFile> TargetsFile::write(std::filesystem::path file, const std::string& address,
                                       const std::string& node) {
  if (address.empty())
    return bad_input("a file of targets needs an address to name: give one by --listen");
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
