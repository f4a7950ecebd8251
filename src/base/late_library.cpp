// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <assay/base/late_library.h>

namespace assay {

LateLibrary::LateLibrary(const char* name)
    : name_(name), handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    loaded_ =
        refused(fmt::format("the library {} cannot be loaded: {}; install the package that "
                            "has it",
                            name, ::dlerror()));
  }
}

void* LateLibrary::symbol(const char* name) {
  void* const found = handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
  if (found == nullptr && loaded_)
    loaded_ = refused(fmt::format("the library {} has no {}; install a newer one", name_, name));
  return found;
}

}  // namespace assay
