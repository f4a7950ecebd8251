// SPDX-License-Identifier: Apache-2.0
#include "dataset/sha256.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <openssl/evp.h>
#include <unistd.h>
#include <vector>

#include <assay/base/files.h>

namespace assay::launch {
namespace {

struct ContextDelete {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void update(std::string_view bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, ContextDelete> context_;
};

constexpr size_t kPiece = 1U << 20U;

}  // namespace

std::string sha256_of(std::string_view text) {
  Sha256 sum;
  sum.update(text);
  return sum.hex();
}

Result<std::string> sha256_of_file(const std::filesystem::path& file,
                                   const std::function<bool(uint64_t)>& go_on) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return refused_errno(fmt::format("cannot open {}", file.native()), errno);
  Sha256 sum;
  uint64_t done = 0;
  std::vector<char> buffer(kPiece);
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refused_errno(fmt::format("cannot read {}", file.native()), errno);
    if (n == 0) return sum.hex();
    sum.update({buffer.data(), static_cast<size_t>(n)});
    done += static_cast<uint64_t>(n);
    if (!go_on(done)) return fail(stopped_error());
  }
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(),
                                          [](unsigned char c) { return std::isxdigit(c) != 0; });
}

Error stopped_error() {
  return {ErrorKind::environment,
          "the fetch of the dataset was stopped; it goes on where it was "
          "when asked again",
          true};
}

}  // namespace assay::launch
