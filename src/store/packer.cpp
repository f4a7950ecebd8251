// SPDX-License-Identifier: Apache-2.0
#include "packer.h"

#include <zstd.h>

namespace assay::store {

void Packer::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

Packer::Packer(int level, bool checksum) : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, checksum ? 1 : 0);
}

std::string Packer::pack(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress2(context_.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  // With a buffer of ZSTD_compressBound, only memory can run out.
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

std::optional<std::string> unpack(std::string_view packed, size_t limit) {
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  // ERROR and UNKNOWN are the two largest values.
  if (size > limit) return std::nullopt;
  std::string bytes(size, '\0');
  const size_t got = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
  return bytes;
}

}  // namespace assay::store
