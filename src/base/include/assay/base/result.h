// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace assay {

/// Who has to act on an error; `main` turns it into an exit code.
enum class ErrorKind {
  input,        ///< the user gave something wrong: exit 2
  app,          ///< the profiled application failed: exit 3
  environment,  ///< this machine refused or lacks something: exit 4
  internal,     ///< a defect of ours: exit 4
};

/// What failed, where, and what to do, in one sentence that a user can read.
struct Error {
  ErrorKind kind = ErrorKind::environment;
  std::string message;
  bool temporary = false;  ///< the same may well work a little later
};

/// A value or an Error; must be looked at. Handle it in one of three ways:
///
///     auto text = read_file(path);          // 1. ask
///     if (!text) return fail(text.error());
///
///     ASSAY_TRY(auto text, read_file(path));  // 2. pass the error on
///
///     auto text = read_file(path).value_or("");  // 3. have a default
///
/// The base class is a stand-in for C++23's std::expected, to be swapped in this one file.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Failure = tl::unexpected<Error>;

inline Failure fail(Error error) {
  return Failure(std::move(error));
}
inline Failure fail(ErrorKind kind, std::string message) {
  return Failure(Error{kind, std::move(message)});
}
inline Failure bad_input(std::string message) {
  return fail(ErrorKind::input, std::move(message));
}
inline Failure refused(std::string message) {
  return fail(ErrorKind::environment, std::move(message));
}

/// `refused` with the text of an errno value behind the message: "cannot open x: No such file ...".
Failure refused_errno(std::string message, int errno_value);

}  // namespace assay

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

/// `ASSAY_TRY(auto x, call())` binds the value, or returns the error from the enclosing function.
#define ASSAY_TRY(declaration, expression) \
  ASSAY_TRY_INNER(ASSAY_CONCAT(assay_try_, __LINE__), declaration, expression)
// A declaration cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSAY_TRY_INNER(name, declaration, expression)      \
  auto name = (expression);                                 \
  if (!name) return ::assay::fail(std::move(name).error()); \
  declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)

/// `ASSAY_CHECK(call())` does the same for a Result<void>.
#define ASSAY_CHECK(expression)                             \
  do {                                                      \
    if (auto assay_check = (expression); !assay_check)      \
      return ::assay::fail(std::move(assay_check).error()); \
  } while (false)
