// SPDX-License-Identifier: Apache-2.0
#include "curl.h"

#include <assay/base/late_library.h>

namespace assay::net {
namespace {

Curl load() {
  Curl found;
  LateLibrary library("libcurl.so.4");
  library.find(found.easy_cleanup, "curl_easy_cleanup");
  library.find(found.easy_getinfo, "curl_easy_getinfo");
  library.find(found.easy_init, "curl_easy_init");
  library.find(found.easy_reset, "curl_easy_reset");
  library.find(found.easy_setopt, "curl_easy_setopt");
  library.find(found.easy_strerror, "curl_easy_strerror");
  library.find(found.global_init, "curl_global_init");
  library.find(found.multi_add_handle, "curl_multi_add_handle");
  library.find(found.multi_cleanup, "curl_multi_cleanup");
  library.find(found.multi_info_read, "curl_multi_info_read");
  library.find(found.multi_init, "curl_multi_init");
  library.find(found.multi_perform, "curl_multi_perform");
  library.find(found.multi_poll, "curl_multi_poll");
  library.find(found.multi_remove_handle, "curl_multi_remove_handle");
  library.find(found.multi_wakeup, "curl_multi_wakeup");
  library.find(found.slist_append, "curl_slist_append");
  library.find(found.slist_free_all, "curl_slist_free_all");
  found.loaded = library.loaded();
  if (found.loaded) found.global_init(CURL_GLOBAL_ALL);
  return found;
}

}  // namespace

const Curl& curl() {
  static const Curl kLoaded = load();
  return kLoaded;
}

}  // namespace assay::net
