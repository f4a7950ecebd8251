// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "secrets_names.h"

#include <cstdint>
#include <string_view>

namespace assay::session {

struct PasswordOption;

/// Reads a command line word by word and tells which part of each word is a secret: the value of a
/// secret option, the password in `-u user:password`, and what follows the letter of programs that
/// are known to take a password there.
class CommandSecrets {
 public:
  /// The secret part of the next word; empty when there is none.
  Span next(std::string_view word);
  /// The next word belongs to the option before it.
  bool expects_value() const { return expected_ != Expected::nothing; }
  /// What follows this word without a blank would be a password: "-p" of mysql -p'two words'.
  bool is_cut_password(std::string_view word) const;

 private:
  enum class Expected : uint8_t { nothing, value, password, user };
  Span attached(std::string_view word) const;
  void note_option(std::string_view word);
  void note_program(std::string_view word);

  Expected expected_ = Expected::nothing;
  const PasswordOption* program_ = nullptr;
};

}  // namespace assay::session
