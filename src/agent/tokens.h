// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/agent/agent.h>
#include <assay/base/result.h>

namespace assay::agent {

/// A text that whoever has it may do something by.
struct Token {
  std::string name;  ///< its file's, for logs; never the token
  std::string secret;
  std::vector<Role> roles;

  bool may(Role role) const;
};

/// The tokens that the operator has given out.
class Tokens {
 public:
  /// Reads all files. One that others may read, or whose text is too short to be a secret, is
  /// refused.
  static Result<Tokens> load(std::span<const TokenSettings> settings);

  /// Nothing when there is none. Takes as long for one that is nearly right as for any other of
  /// that length.
  const Token* find(std::string_view secret) const;

 private:
  std::vector<Token> tokens_;
};

}  // namespace assay::agent
