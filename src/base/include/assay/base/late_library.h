// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/base/result.h>

namespace assay {

/// A shared library that is loaded when it is first used, and never unloaded. For those that bring
/// dozens of others with them: what does not use them starts sooner and stays smaller.
class LateLibrary {
 public:
  /// By the name that it has at run time: "libcurl.so.4".
  explicit LateLibrary(const char* name);

  /// Sets a pointer to the library's function of that name.
  template <typename Function>
  LateLibrary& find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol(name));
    return *this;
  }
  /// Whether it was found with all its functions; else in one sentence what is missing.
  const Result<void>& loaded() const { return loaded_; }

 private:
  void* symbol(const char* name);

  std::string name_;
  void* handle_;
  Result<void> loaded_;
};

}  // namespace assay
