// SPDX-License-Identifier: Apache-2.0
#include "secrets_names.h"

#include <algorithm>
#include <array>

#include <assay/base/letters.h>

namespace assay::session {
namespace {

/// Any part of a name.
constexpr std::array<std::string_view, 28> kSecretWords = {
    "accesskey", "apikey",     "apikeys",   "auth",       "authkey",     "authorization", "bearer",
    "cookie",    "cookies",    "creds",     "credential", "credentials", "jwt",           "oauth",
    "passcode",  "passphrase", "passwd",    "password",   "passwords",   "privatekey",    "psk",
    "pwd",       "secret",     "secretkey", "secrets",    "sessionkey",  "signingkey",    "token"};
/// Ends of words that are written in one: PGPASSWORD, clientsecret.
constexpr std::array<std::string_view, 5> kSecretEnds = {"password", "passwd", "token", "secret",
                                                         "apikey"};
/// The last part of a name: --pw, X-Amz-Signature; not --signature-def.
constexpr std::array<std::string_view, 2> kSecretLasts = {"pw", "signature"};
/// Keys that are no secrets: --sort-key; all others with an owner are ("openai_key").
constexpr std::array<std::string_view, 13> kHarmlessKeys = {
    "cache", "dict",      "foreign", "group",  "index", "join", "lookup",
    "map",   "partition", "primary", "public", "row",   "sort"};
/// What a key may be a part of: video_key_frame.
constexpr std::array<std::string_view, 4> kKeyCompounds = {"frame", "frames", "point", "points"};
/// Pins of a board.
constexpr std::array<std::string_view, 14> kBoardPins = {
    "button", "clock", "clk",    "cs",    "data",  "echo",  "gpio",
    "input",  "led",   "output", "relay", "reset", "servo", "trigger"};
/// Several keys or tokens are secret when they belong to one of these ("access-tokens").
constexpr std::array<std::string_view, 19> kKeyOwners = {
    "access",     "account", "admin",  "api",      "auth",    "bearer",  "deploy",
    "encryption", "license", "master", "personal", "private", "refresh", "secret",
    "service",    "session", "shared", "signing",  "ssh"};
/// Names that end in one of these tell something about a secret: TOKEN_FILE, --auth-mode.
constexpr std::array<std::string_view, 30> kHarmlessEnds = {
    "algorithm", "count", "dir",    "enabled", "endpoint", "expires", "expiry", "file",
    "folder",    "host",  "issuer", "len",     "length",   "limit",   "max",    "method",
    "min",       "mode",  "name",   "path",    "policy",   "port",    "size",   "sock",
    "timeout",   "ttl",   "type",   "url",     "user",     "username"};
/// Passes that are no passwords: --low-pass, two_pass.
constexpr std::array<std::string_view, 12> kOtherPasses = {
    "all", "band", "by", "first", "high", "last", "low", "multi", "one", "second", "single", "two"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "dbPassword_2" → db, password.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  bool inside = false;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_alnum(name[i]) || is_digit(name[i])) {
      inside = inside && is_digit(name[i]);
      continue;
    }
    const bool hump = i > 0 && is_upper(name[i]) && is_alnum(name[i - 1]) && !is_upper(name[i - 1]);
    if (!inside || hump) parts.emplace_back();
    inside = true;
    parts.back() += lower_case(name.substr(i, 1));
  }
  return parts;
}

bool ends_like_a_secret(std::string_view word) {
  return std::any_of(kSecretEnds.begin(), kSecretEnds.end(), [&](std::string_view end) {
    return word.size() > end.size() && word.substr(word.size() - end.size()) == end;
  });
}

bool is_secret_part(const std::vector<std::string>& parts, size_t i) {
  const std::string_view word = parts[i];
  const std::string_view before = i > 0 ? std::string_view(parts[i - 1]) : std::string_view();
  if (contains(kSecretWords, word) || ends_like_a_secret(word)) return true;
  if (word == "key") {
    const bool is_compound = i + 1 < parts.size() && contains(kKeyCompounds, parts[i + 1]);
    return i > 0 && !contains(kHarmlessKeys, before) && !is_compound;
  }
  if (word == "keys" || word == "tokens") return contains(kKeyOwners, before);
  if (i + 1 < parts.size()) return false;
  if (word == "pin") return !contains(kBoardPins, before);
  return contains(kSecretLasts, word) || (word == "pass" && !contains(kOtherPasses, before));
}

enum class Form { word, dashed, upper, dotted };

/// How access tokens of well-known services look: a prefix, then at least `least` characters.
struct TokenShape {
  std::string_view prefix;
  Form form;
  size_t least;
  bool has_digit = false;  ///< else it may be a word, as in "sk-learn-…"
};
constexpr std::array<TokenShape, 19> kTokenShapes = {{{"ghp_", Form::word, 20},
                                                      {"gho_", Form::word, 20},
                                                      {"ghu_", Form::word, 20},
                                                      {"ghs_", Form::word, 20},
                                                      {"ghr_", Form::word, 20},
                                                      {"github_pat_", Form::word, 20},
                                                      {"glpat-", Form::dashed, 16},
                                                      {"xoxa-", Form::dashed, 10},
                                                      {"xoxb-", Form::dashed, 10},
                                                      {"xoxp-", Form::dashed, 10},
                                                      {"xoxr-", Form::dashed, 10},
                                                      {"xoxs-", Form::dashed, 10},
                                                      {"sk-", Form::dashed, 20, true},
                                                      {"nvapi-", Form::dashed, 20, true},
                                                      {"hf_", Form::word, 30},
                                                      {"AKIA", Form::upper, 16},
                                                      {"ASIA", Form::upper, 16},
                                                      {"AIza", Form::dashed, 30, true},
                                                      {"eyJ", Form::dotted, 20}}};
constexpr std::string_view kKeyMark = "PRIVATE KEY-----";
/// Longer text that is no token is not looked at again from each of its characters.
constexpr size_t kLongestRetry = 256;

bool belongs(char c, Form form) {
  switch (form) {
    case Form::upper:
      return is_upper(c) || is_digit(c);
    case Form::word:
      return is_alnum(c) || c == '_';
    case Form::dashed:
      return is_alnum(c) || c == '_' || c == '-';
    case Form::dotted:
      return is_alnum(c) || c == '_' || c == '-' || c == '.';
  }
  return false;
}

bool fits(std::string_view body, const TokenShape& shape) {
  if (body.size() < shape.least) return false;
  if (shape.form == Form::dotted && body.find('.') == std::string_view::npos) return false;
  return !shape.has_digit || std::any_of(body.begin(), body.end(), is_digit);
}

const TokenShape* shape_at(std::string_view text) {
  for (const auto& shape : kTokenShapes) {
    if (text.substr(0, shape.prefix.size()) == shape.prefix) return &shape;
  }
  return nullptr;
}

void find_private_keys(std::string_view text, std::vector<Span>& spans) {
  size_t begin = text.find(kKeyMark);
  while (begin != std::string_view::npos) {
    begin += kKeyMark.size();
    const size_t dashes = text.find("-----END", begin);
    const size_t end = std::min(dashes, text.size());
    spans.push_back({begin, end});
    const size_t close = text.find(kKeyMark, end);
    begin = close == std::string_view::npos ? close : text.find(kKeyMark, close + kKeyMark.size());
  }
}

}  // namespace

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c) || is_digit(c);
}

bool is_secret_name(std::string_view name) {
  if (name == "PWD") return false;  // the shell's working directory
  const auto parts = parts_of(name);
  if (parts.empty() || contains(kHarmlessEnds, parts.back())) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (is_secret_part(parts, i)) return true;
  }
  return false;
}

void find_known_tokens(std::string_view text, std::vector<Span>& spans) {
  find_private_keys(text, spans);
  size_t i = 0;
  while (i < text.size()) {
    const bool at_start = i == 0 || !belongs(text[i - 1], Form::word);
    const TokenShape* shape = at_start ? shape_at(text.substr(i)) : nullptr;
    if (shape == nullptr) {
      ++i;
      continue;
    }
    const size_t body = i + shape->prefix.size();
    size_t end = body;
    while (end < text.size() && belongs(text[end], shape->form)) ++end;
    const bool found = fits(text.substr(body, end - body), *shape);
    if (found) spans.push_back({i, end});
    i = found || end - body > kLongestRetry ? end : i + 1;
  }
}

}  // namespace assay::session
