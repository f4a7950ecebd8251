// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libpq-fe.h>

#include <assay/base/result.h>

namespace assay::store {

/// libpq, loaded at the first use: it brings two dozen libraries with it.
struct Libpq {
  decltype(&::PQconnectdbParams) connect = nullptr;
  decltype(&::PQstatus) status = nullptr;
  decltype(&::PQreset) reset = nullptr;
  decltype(&::PQfinish) finish = nullptr;
  decltype(&::PQerrorMessage) error = nullptr;
  decltype(&::PQexecParams) run = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQntuples) rows = nullptr;
  decltype(&::PQgetvalue) value = nullptr;
  decltype(&::PQclear) clear = nullptr;
  Result<void> loaded;
};

/// Its functions may be called only where it could be loaded.
const Libpq& libpq();

}  // namespace assay::store
