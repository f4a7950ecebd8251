// SPDX-License-Identifier: Apache-2.0
#include "postgres/libpq.h"

#include <fmt/format.h>

#include <assay/base/late_library.h>

namespace assay::store {
namespace {

Libpq load() {
  Libpq found;
  LateLibrary library("libpq.so.5");
  library.find(found.connect, "PQconnectdbParams");
  library.find(found.status, "PQstatus");
  library.find(found.reset, "PQreset");
  library.find(found.finish, "PQfinish");
  library.find(found.error, "PQerrorMessage");
  library.find(found.run, "PQexecParams");
  library.find(found.result_status, "PQresultStatus");
  library.find(found.rows, "PQntuples");
  library.find(found.value, "PQgetvalue");
  library.find(found.clear, "PQclear");
  found.loaded = library.loaded();
  if (!found.loaded)
    found.loaded =
        refused(fmt::format("a shared store needs libpq (on Debian the package libpq5): {}",
                            found.loaded.error().message));
  return found;
}

}  // namespace

const Libpq& libpq() {
  static const Libpq kLoaded = load();
  return kLoaded;
}

}  // namespace assay::store
