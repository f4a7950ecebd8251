// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::session {

/// Whether a variable, option, header or parameter of this name usually holds a secret:
/// "GITHUB_TOKEN", "--api-key", "dbPassword"; not "AUTHOR", "--tokenizer", "TOKEN_FILE".
bool is_secret_name(std::string_view name);

/// A part of a text, [begin, end).
struct Span {
  size_t begin;
  size_t end;
};

/// Finds what looks like a secret by itself, whatever it is called: access tokens of well-known
/// services, web tokens, private keys.
void find_known_tokens(std::string_view text, std::vector<Span>& spans);

/// ASCII only, as names and prefixes are.
bool is_alnum(char c);

}  // namespace assay::session
