// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <zlib.h>

#include <assay/promapi/exposition.h>

namespace assay::promapi {
namespace {

constexpr int kGzipWindow = 15 + 16;  // 16: with gzip's head and checksum
constexpr int kMemoryLevel = 8;
constexpr size_t kPiece = 1U << 16U;

}  // namespace

struct Gzip::State {
  z_stream stream{};
  bool ready = deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                            Z_DEFAULT_STRATEGY) == Z_OK;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { deflateEnd(&stream); }
};

Gzip::Gzip() : state_(std::make_unique<State>()) {}
Gzip::Gzip(Gzip&& other) noexcept = default;
Gzip& Gzip::operator=(Gzip&& other) noexcept = default;
Gzip::~Gzip() = default;

Result<std::string_view> Gzip::compressed(std::string_view text) {
  z_stream& stream = state_->stream;
  if (!state_->ready || deflateReset(&stream) != Z_OK)
    return refused("cannot compress: there is not enough memory");
  // zlib does not write to it, whatever the type says.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  size_t used = 0;
  int done = Z_OK;
  while (done == Z_OK) {
    if (buffer_.size() - used < kPiece) buffer_.resize(std::max(2 * buffer_.size(), 2 * kPiece));
    stream.next_out = reinterpret_cast<Bytef*>(buffer_.data() + used);
    stream.avail_out = static_cast<uInt>(buffer_.size() - used);
    done = deflate(&stream, Z_FINISH);
    used = buffer_.size() - stream.avail_out;
  }
  if (done != Z_STREAM_END) return fail(ErrorKind::internal, "zlib did not end its output");
  return std::string_view(buffer_).substr(0, used);
}

}  // namespace assay::promapi
