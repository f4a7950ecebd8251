// SPDX-License-Identifier: Apache-2.0
#include "secrets_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include <assay/base/letters.h>

namespace assay::session {

struct PasswordOption {
  std::string_view program;
  std::string_view option;
  bool takes_next = false;      ///< the password may also be the next word
  bool starts_another = false;  ///< the first word that is no option is a program of its own
};

namespace {

constexpr std::array<PasswordOption, 7> kPasswordOptions = {{{"mysql", "-p"},
                                                             {"mysqldump", "-p"},
                                                             {"mysqladmin", "-p"},
                                                             {"mariadb", "-p"},
                                                             {"mariadb-dump", "-p"},
                                                             {"redis-cli", "-a", true},
                                                             {"sshpass", "-p", true, true}}};
constexpr std::array<std::string_view, 5> kUserOptions = {"-u", "-U", "--user", "--proxy-user",
                                                          "--login"};
constexpr std::array<std::string_view, 8> kPasswordEnds = {
    "password", "passwd", "pass", "passphrase", "passcode", "pwd", "psk", "pw"};
constexpr Span kNothing = {0, 0};

bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789") == text.npos;
}

bool is_plain_option(std::string_view word) {
  return word.size() > 2 && word[0] == '-' && std::all_of(word.begin(), word.end(), [](char c) {
           return is_alnum(c) || c == '_' || c == '-' || c == '.';
         });
}

/// No option such as --verbose can follow these, so even a word like that is their value.
bool is_password_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return std::any_of(kPasswordEnds.begin(), kPasswordEnds.end(),
                     [&](std::string_view end) { return lower.ends_with(end); });
}

/// Of "user:password"; not of a URL, nor of "1000:1000".
Span password_of_user(std::string_view word) {
  const size_t colon = word.find(':');
  if (colon == word.npos) return kNothing;
  const auto behind = word.substr(colon + 1);
  if (behind.starts_with("//") || (is_number(word.substr(0, colon)) && is_number(behind)))
    return kNothing;
  return {colon + 1, word.size()};
}

}  // namespace

bool CommandSecrets::is_cut_password(std::string_view word) const {
  return program_ != nullptr && word == program_->option;
}

Span CommandSecrets::attached(std::string_view word) const {
  if (program_ != nullptr && word.starts_with(program_->option) && !is_cut_password(word))
    return {program_->option.size(), word.size()};
  for (const std::string_view option : kUserOptions) {
    if (!word.starts_with(option)) continue;
    const bool is_long = option.starts_with("--");
    const size_t begin = option.size() + (is_long ? 1 : 0);
    if (begin >= word.size() || (is_long && word[option.size()] != '=')) continue;
    const Span password = password_of_user(word.substr(begin));
    if (password.end > 0) return {begin + password.begin, begin + password.end};
  }
  return kNothing;
}

void CommandSecrets::note_option(std::string_view word) {
  if (is_plain_option(word) && is_secret_name(word)) {
    expected_ = is_password_name(word) ? Expected::password : Expected::value;
  } else if (std::find(kUserOptions.begin(), kUserOptions.end(), word) != kUserOptions.end()) {
    expected_ = Expected::user;
  } else if (program_ != nullptr && program_->takes_next && word == program_->option) {
    expected_ = Expected::password;
  }
}

void CommandSecrets::note_program(std::string_view word) {
  const auto name = word.substr(word.rfind('/') + 1);
  const auto* known =
      std::find_if(kPasswordOptions.begin(), kPasswordOptions.end(),
                   [&](const PasswordOption& option) { return option.program == name; });
  if (known != kPasswordOptions.end()) {
    program_ = known;
  } else if (program_ != nullptr &&
             (program_->starts_another || word.find_first_of("|;&") != word.npos)) {
    program_ = nullptr;
  }
}

Span CommandSecrets::next(std::string_view word) {
  const Expected expected = std::exchange(expected_, Expected::nothing);
  const bool whole =
      expected == Expected::password || (expected == Expected::value && !word.starts_with("--"));
  const Span found = whole                        ? Span{0, word.size()}
                     : expected == Expected::user ? password_of_user(word)
                                                  : attached(word);
  // What looks like an option may be one after all: then its value is a secret too.
  if (!whole || word.starts_with("--")) note_option(word);
  if (expected == Expected::nothing && !word.starts_with('-')) note_program(word);
  return found;
}

}  // namespace assay::session
