// SPDX-License-Identifier: Apache-2.0
#include "tokens.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <assay/base/files.h>
#include <assay/base/secret.h>
#include <assay/base/text.h>

namespace assay::agent {
namespace {

constexpr size_t kShortest = 16;
constexpr size_t kLongest = 4096;

Result<void> check_mode(const struct stat& status, const std::string& name) {
  if (!S_ISREG(status.st_mode)) return bad_input(fmt::format("{}: is no file with a token", name));
  if ((status.st_mode & (S_IRWXO | S_IWGRP)) == 0) return {};
  return bad_input(
      fmt::format("{}: others than its owner may read or change this token; chmod 600 it", name));
}

Result<std::string> read_secret(const std::filesystem::path& file) {
  const std::string& name = file.native();
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) {
    auto failure = refused_errno(fmt::format("{}: cannot be read", name), errno);
    failure.value().kind = ErrorKind::input;
    return failure;
  }
  ASSAY_CHECK(check_mode(status, name));
  std::array<char, kLongest> buffer{};
  const auto text = pread_text(fd.get(), buffer);
  const std::string_view secret = trim(text.value_or(""));
  const bool is_plain =
      std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (secret.size() < kShortest || secret.size() + 1 >= kLongest || !is_plain) {
    return bad_input(fmt::format("{}: a token is one word of {} to {} ASCII characters", name,
                                 kShortest, kLongest - 2));
  }
  return std::string(secret);
}

}  // namespace

bool Token::may(Role role) const {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

Result<Tokens> Tokens::load(std::span<const TokenSettings> settings) {
  Tokens tokens;
  for (const auto& setting : settings) {
    ASSAY_TRY(auto secret, read_secret(setting.file));
    if (const Token* same = tokens.find(secret)) {
      return bad_input(fmt::format("{}: is the same token as {}; write another one",
                                   setting.file.native(), same->name));
    }
    tokens.tokens_.push_back({setting.file.filename().native(), std::move(secret), setting.roles});
  }
  return tokens;
}

const Token* Tokens::find(std::string_view secret) const {
  const Token* found = nullptr;
  for (const auto& token : tokens_) {
    if (is_same_secret(token.secret, secret)) found = &token;
  }
  return found;
}

}  // namespace assay::agent
