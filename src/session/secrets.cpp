// SPDX-License-Identifier: Apache-2.0
#include "secrets_names.h"
#include "secrets_options.h"

#include <algorithm>

#include <assay/base/letters.h>
#include <assay/session/spec.h>

namespace assay::session {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kQuotes = "\"'`";
constexpr std::string_view kSchemeEnd = "://";
constexpr std::string_view kBearer = "bearer ";
constexpr size_t kLongestName = 64;
constexpr size_t kLongestUserInfo = 1024;
/// Shorter values of secret variables are too common as words to be searched for elsewhere.
constexpr size_t kShortestRepeated = 8;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_space(char c) {
  return is_blank(c) || c == '\n' || c == '\r';
}
bool is_name(char c) {
  return is_alnum(c) || c == '_' || c == '-' || c == '.';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

/// scheme://user:password@host, also when the password holds '/' or '@'.
void find_url_passwords(std::string_view text, std::vector<Span>& spans) {
  for (size_t mark = text.find(kSchemeEnd); mark != text.npos;
       mark = text.find(kSchemeEnd, mark + 1)) {
    const size_t begin = mark + kSchemeEnd.size();
    const auto word = text.substr(begin, std::min(kLongestUserInfo, text.size() - begin));
    const auto url = word.substr(0, word.find_first_of(" \t\r\n\"'`<>"));
    const auto authority = url.substr(0, url.find_first_of("/?#"));
    const size_t colon = authority.find(':');
    const bool is_port = colon != authority.npos && colon + 1 < authority.size() &&
                         std::all_of(authority.begin() + static_cast<ptrdiff_t>(colon) + 1,
                                     authority.end(), is_digit);
    const size_t at = colon != authority.npos && !is_port ? url.rfind('@') : authority.rfind('@');
    if (at == url.npos) continue;
    if (colon < at) {
      spans.push_back({begin + colon + 1, begin + at});
    } else if (at >= 20 &&
               std::any_of(url.begin(), url.begin() + static_cast<ptrdiff_t>(at), is_digit)) {
      spans.push_back({begin, begin + at});  // a token in the user's place
    }
  }
}

/// "Bearer x" outside of a header, when x does not look like a word.
void find_bearers(std::string_view text, const std::string& lower, std::vector<Span>& spans) {
  for (size_t at = lower.find(kBearer); at != lower.npos; at = lower.find(kBearer, at + 1)) {
    const size_t begin = skip_blanks(text, at + kBearer.size());
    size_t end = begin;
    bool digit = false;
    while (end < text.size() && (is_name(text[end]) || is_one_of(text[end], "~+/="))) {
      digit = digit || is_digit(text[end]);
      ++end;
    }
    if (end - begin >= (digit ? 8 : 20)) spans.push_back({begin, end});
  }
}

/// The name that ends before `end`, quotes and blanks between them skipped.
Span name_before(std::string_view text, size_t end) {
  while (end > 0 && is_blank(text[end - 1])) --end;
  while (end > 0 && (is_one_of(text[end - 1], kQuotes) || text[end - 1] == '\\')) --end;
  size_t begin = end;
  while (begin > 0 && end - begin < kLongestName && is_name(text[begin - 1])) --begin;
  return {begin, end};
}

/// Where a value that starts with a quote ends; the quote may itself be escaped, as in nested JSON.
size_t quoted_end(std::string_view text, size_t begin, bool escaped) {
  const char quote = text[begin - 1];
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == quote) return escaped && i > begin && text[i - 1] == '\\' ? i - 1 : i;
    if (text[i] == '\\' && !escaped) ++i;
  }
  return text.size();
}

Span value_after(std::string_view text, size_t begin, bool in_query) {
  begin = skip_blanks(text, begin);
  const bool escaped = begin + 1 < text.size() && text[begin] == '\\';
  const size_t quote = escaped ? begin + 1 : begin;
  if (quote < text.size() && is_one_of(text[quote], kQuotes)) {
    return {quote + 1, quoted_end(text, quote + 1, escaped)};
  }
  size_t end = begin;
  while (end < text.size() && !is_space(text[end]) && !is_one_of(text[end], kQuotes) &&
         text[end] != ';' && !(in_query && is_one_of(text[end], "&#"))) {
    ++end;
  }
  return {begin, end};
}

/// The value of a header: the rest of its line; of an Authorization only what follows its scheme.
Span header_value(std::string_view text, size_t begin, bool keeps_scheme) {
  begin = skip_blanks(text, begin);
  size_t end = begin;
  while (end < text.size() && !is_one_of(text[end], "\r\n\"'`")) ++end;
  const size_t blank = text.substr(begin, end - begin).find(' ');
  if (keeps_scheme && blank != text.npos) begin += blank + 1;
  return {begin, end};
}

/// The value that the '=' or ':' at `at` gives to a secret name; empty when there is none.
Span named_value(std::string_view text, size_t at) {
  const Span nothing = {at, at};
  const Span span = name_before(text, at);
  const auto name = text.substr(span.begin, span.end - span.begin);
  const char before = span.begin > 0 ? text[span.begin - 1] : ' ';
  const char after = at + 1 < text.size() ? text[at + 1] : '\n';
  if (after == '=' || after == text[at]) return nothing;
  if (text[at] == ':' && (after == '/' || before == '/' || before == '@')) return nothing;
  const std::string lower = lower_case(name);
  // "pass: 3, fail: 0", "no matching signature: expected tensor(float)"
  if (text[at] == ':' && (lower == "pass" || lower == "signature")) return nothing;
  const bool in_query = before == '?' || before == '&';
  const bool query_secret = in_query && (lower == "key" || lower == "sig");
  if (!query_secret && !is_secret_name(name)) return nothing;
  const bool authorization = lower.find("authorization") != lower.npos;
  const bool header = authorization || lower == "cookie" || lower == "set-cookie";
  if (header && text[at] == ':' && !is_one_of(after, kQuotes) && text[at - 1] == name.back()) {
    return header_value(text, at + 1, authorization);
  }
  return value_after(text, at + 1, in_query);
}

void find_named_values(std::string_view text, std::vector<Span>& spans) {
  for (size_t at = text.find_first_of("=:"); at != text.npos;
       at = text.find_first_of("=:", at + 1)) {
    const Span value = named_value(text, at);
    if (value.end <= value.begin) continue;
    spans.push_back(value);
    at = value.end - 1;
  }
}

/// The end of a shell word; `outer` is a quote around the whole command line.
size_t word_end(std::string_view text, size_t at, char outer) {
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == 0 && (is_space(c) || c == outer)) return at;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && is_one_of(c, kQuotes)) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      ++at;
    }
  }
  return text.size();
}

/// A word without the quotes around all of it.
Span inside_quotes(std::string_view text, Span word) {
  const bool is_quoted = word.end - word.begin >= 2 && is_one_of(text[word.begin], kQuotes) &&
                         text[word.end - 1] == text[word.begin];
  return is_quoted ? Span{word.begin + 1, word.end - 1} : word;
}

/// The end of a word that blanks or quotes surround.
size_t plain_end(std::string_view text, size_t at) {
  while (at < text.size() && !is_space(text[at]) && !is_one_of(text[at], kQuotes)) ++at;
  return at;
}

/// Walks over a command line, word by word; each line is one of its own.
class OptionValues {
 public:
  OptionValues(std::string_view text, std::vector<Span>& spans) : text_(text), spans_(spans) {}

  void find() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_value = secrets_.expects_value() && c != outer_;
      if (is_space(c) || (is_one_of(c, kQuotes) && !is_value)) {
        skip(c);
      } else {
        take_word(is_value);
      }
    }
  }

 private:
  void skip(char c) {
    if (c == '\n' || c == outer_) secrets_ = {};
    if (!is_space(c) && (outer_ == 0 || outer_ == c)) outer_ = outer_ == 0 ? c : '\0';
    ++at_;
  }

  void take_word(bool is_value) {
    size_t end = is_value ? word_end(text_, at_, outer_) : plain_end(text_, at_);
    if (!is_value && secrets_.is_cut_password(text_.substr(at_, end - at_)))
      end = word_end(text_, at_, outer_);
    const Span word = is_value ? inside_quotes(text_, {at_, end}) : Span{at_, end};
    const Span secret = secrets_.next(text_.substr(word.begin, word.end - word.begin));
    if (secret.end > secret.begin)
      spans_.push_back({word.begin + secret.begin, word.begin + secret.end});
    at_ = end;
  }

  std::string_view text_;
  std::vector<Span>& spans_;
  CommandSecrets secrets_;
  size_t at_ = 0;
  char outer_ = 0;  ///< the quote that the words stand within
};

std::string with_masks(std::string_view text, std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  std::string out;
  size_t done = 0;
  for (const Span span : spans) {
    if (span.end <= std::max(done, span.begin)) continue;
    if (span.begin >= done) {
      out += text.substr(done, span.begin - done);
      out += kMask;
    }
    done = span.end;
  }
  out += text.substr(done);
  return out;
}

/// "--token=x y", "NAME=x": in a list of words all that follows belongs to the name.
std::optional<std::string> masked_assignment(const std::string& word) {
  const size_t equal = word.find('=');
  if (equal == std::string::npos ||
      !std::all_of(word.begin(), word.begin() + static_cast<ptrdiff_t>(equal), is_name)) {
    return std::nullopt;
  }
  if (!is_secret_name(std::string_view(word).substr(0, equal))) return std::nullopt;
  return word.substr(0, equal + 1) + (equal + 1 < word.size() ? std::string(kMask) : "");
}

std::vector<std::string> masked_words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  CommandSecrets secrets;
  for (const auto& word : words) {
    const Span secret = secrets.next(word);
    if (secret.end > secret.begin) {
      out.push_back(with_masks(word, {secret}));
      continue;
    }
    const auto assignment = masked_assignment(word);
    out.push_back(assignment ? *assignment : masked_text(word));
  }
  return out;
}

/// The length of what stands before NAME=VALUE in one word: "--env=", "-e", "-ite=".
size_t env_option_size(std::string_view word) {
  constexpr std::string_view kLong = "--env=";
  if (word.starts_with(kLong)) return kLong.size();
  if (!word.starts_with('-')) return 0;
  size_t at = 1;
  while (at < word.size() && is_one_of(word[at], "dit")) ++at;
  if (at >= word.size() || word[at] != 'e') return 0;
  return word.substr(at + 1).starts_with('=') ? at + 2 : at + 1;
}

std::vector<std::string> masked_docker_args(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const auto& word : words) {
    const size_t size = env_option_size(word);
    const std::string rest = word.substr(size);
    const auto assignment = masked_assignment(rest);
    out.push_back(word.substr(0, size) + (assignment ? *assignment : masked_text(rest)));
  }
  return out;
}

using Env = std::map<std::string, std::string>;

void mask_env(Env& env) {
  for (auto& [name, value] : env) {
    if (value.empty()) continue;
    value = is_secret_name(name) ? std::string(kMask) : masked_text(value);
  }
}

void mask_need(Need& need) {
  need.image = masked_text(need.image);
  need.command = masked_words(need.command);
  need.ready_log = masked_text(need.ready_log);
  mask_env(need.env);
}

void replace_all(std::string& text, const std::string& secret) {
  for (size_t at = text.find(secret); at != text.npos; at = text.find(secret, at + kMask.size())) {
    text.replace(at, secret.size(), kMask);
  }
}

void replace_all(std::vector<std::string>& words, Env& env, const std::string& secret) {
  for (auto& word : words) replace_all(word, secret);
  for (auto& entry : env) replace_all(entry.second, secret);
}

/// The values of secret variables that are long enough to be told from other words.
std::vector<std::string> secrets_in(const Env& env) {
  std::vector<std::string> secrets;
  for (const auto& [name, value] : env) {
    if (value.size() >= kShortestRepeated && is_secret_name(name)) secrets.push_back(value);
  }
  return secrets;
}

/// Hides the values of secret variables wherever else they stand.
void hide_repeated(const Env& env, Target& out) {
  for (const auto& secret : secrets_in(env)) {
    replace_all(out.command, out.env, secret);
    for (auto& word : out.docker_args) replace_all(word, secret);
    for (auto& need : out.needs) {
      replace_all(need.command, need.env, secret);
      replace_all(need.ready_log, secret);
    }
  }
}

}  // namespace

Target masked(const Target& target) {
  Target out = target;
  out.image = masked_text(target.image);
  out.workdir = masked_text(target.workdir);
  out.dataset = masked_text(target.dataset);
  out.command = masked_words(target.command);
  out.docker_args = masked_docker_args(target.docker_args);
  mask_env(out.env);
  for (auto& need : out.needs) mask_need(need);
  hide_repeated(target.env, out);
  for (const auto& need : target.needs) hide_repeated(need.env, out);
  return out;
}

std::string masked_text(const std::string& text) {
  std::vector<Span> spans;
  find_url_passwords(text, spans);
  find_named_values(text, spans);
  OptionValues(text, spans).find();
  find_bearers(text, lower_case(text), spans);
  find_known_tokens(text, spans);
  return spans.empty() ? text : with_masks(text, std::move(spans));
}

std::string masked_text(std::string text, const Target& target) {
  for (const auto& secret : secrets_in(target.env)) replace_all(text, secret);
  for (const auto& need : target.needs) {
    for (const auto& secret : secrets_in(need.env)) replace_all(text, secret);
  }
  return masked_text(text);
}

}  // namespace assay::session
