// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>

namespace assay::launch::testing {

/// A server of this folder's Python scripts. It tells about itself in a line of JSON when it can be
/// asked, and ends with its owner.
class ScriptServer {
 public:
  explicit ScriptServer(const std::string& script, std::vector<std::string> arguments);
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;
  ~ScriptServer();

  const nlohmann::json& facts() const { return facts_; }

 private:
  pid_t pid_ = -1;
  Fd input_;
  nlohmann::json facts_;
};

/// Sets a variable for as long as it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace assay::launch::testing
