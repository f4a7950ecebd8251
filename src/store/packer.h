// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;

namespace assay::store {

/// zstd with one reused context. For one thread at a time.
class Packer {
 public:
  /// With `checksum`, damage is found when unpacking.
  explicit Packer(int level, bool checksum = false);

  std::string pack(std::string_view bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

/// Unpacks one whole frame of at most `limit` bytes; nothing when it is damaged, cut or larger.
/// Never allocates more than `limit`.
std::optional<std::string> unpack(std::string_view packed, size_t limit);

}  // namespace assay::store
