// SPDX-License-Identifier: Apache-2.0
#include "docker/ready.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr std::string_view kListening = "0A";
/// As the kernel writes addresses: each word in the machine's order of bytes.
constexpr std::string_view kLoopback6 = "00000000000000000000000001000000";
constexpr std::string_view kLoopback4 = "7F";
/// An IPv4 address in a table of IPv6.
constexpr std::string_view kMapped = "0000000000000000FFFF0000";

bool is_loopback(std::string_view address) {
  if (address == kLoopback6) return true;
  if (address.starts_with(kMapped)) address.remove_prefix(kMapped.size());
  return address.size() == 8 && address.ends_with(kLoopback4);
}

/// "   0: 00000000:1F40 00000000:0000 0A 00000000:00000000 ..."
bool is_listener(std::string_view line, int port) {
  std::vector<std::string_view> fields;
  while (!line.empty() && fields.size() < 4) {
    const auto field = next_field(line, ' ');
    if (!field.empty()) fields.push_back(field);
  }
  if (fields.size() < 4 || fields[3] != kListening) return false;
  std::string_view local = fields[1];
  const std::string_view address = next_field(local, ':');
  int found = 0;
  std::from_chars(local.data(), local.data() + local.size(), found, 16);
  return found == port && !is_loopback(address);
}

std::string shown(std::string_view line) {
  std::string text(trim(line));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return text;
}

}  // namespace

bool listens(const SysRoot& root, pid_t pid, int port) {
  for (const auto* table : {"tcp", "tcp6"}) {
    const auto text = root.read(fmt::format("/proc/{}/net/{}", pid, table));
    if (!text) continue;
    for (std::string_view rest = *text; !rest.empty();) {
      if (is_listener(next_field(rest, '\n'), port)) return true;
    }
  }
  return false;
}

bool LogWatch::seen() {
  if (seen_ || text_.empty()) return true;
  if (!fd_.valid()) fd_ = Fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 65536> buffer{};
  ssize_t size = 0;
  while (!seen_ && (size = ::read(fd_.get(), buffer.data(), buffer.size())) > 0) {
    rest_.append(buffer.data(), static_cast<size_t>(size));
    seen_ = rest_.find(text_) != std::string::npos;
    if (rest_.size() >= text_.size()) rest_.erase(0, rest_.size() - text_.size() + 1);
  }
  return seen_;
}

std::string last_lines(const std::filesystem::path& file, size_t lines) {
  constexpr off_t kMost = 4096;
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kMost> buffer{};
  const off_t end = ::lseek(fd.get(), 0, SEEK_END);
  const ssize_t size =
      ::pread(fd.get(), buffer.data(), buffer.size(), std::max<off_t>(0, end - kMost));
  if (size <= 0) return "";
  std::string_view text = trim({buffer.data(), static_cast<size_t>(size)});
  std::string out;
  for (size_t i = 0; i < lines && !text.empty(); ++i) {
    const size_t newline = text.rfind('\n');
    const size_t from = newline == std::string_view::npos ? 0 : newline + 1;
    out.insert(0, "\n  " + shown(text.substr(from)));
    text = trim(text.substr(0, from));
  }
  return out;
}

}  // namespace assay::launch
