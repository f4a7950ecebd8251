// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <assay/base/files.h>
#include <assay/base/secret.h>
#include <assay/base/text.h>

namespace assay {
namespace {

Result<std::string> random_secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return refused_errno("no random numbers can be had", errno);
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Result<std::string> make_secret(const std::filesystem::path& file) {
  ASSAY_TRY(const std::string secret, random_secret());
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    if (errno == EEXIST) return own_secret(file);  // another one was faster
    return refused_errno(fmt::format("{} cannot be made", file.native()), errno);
  }
  ASSAY_CHECK(write_all(fd.get(), secret + "\n"));
  return secret;
}

}  // namespace

bool is_same_secret(std::string_view kept, std::string_view given) {
  if (kept.empty()) return false;
  unsigned difference = kept.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(kept[i % kept.size()] ^ given[i]);
  return difference == 0;
}

Result<std::string> own_secret(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) return make_secret(file);
    return refused_errno(fmt::format("{} cannot be read", file.native()), errno);
  }
  if ((status.st_mode & (S_IRWXO | S_IRWXG)) != 0)
    return bad_input(
        fmt::format("{}: others than its owner may read this secret; chmod 600 it", file.native()));
  ASSAY_TRY(const std::string text, read_file(file, 4096));
  std::string secret(trim(text));
  if (secret.size() < 16)
    return bad_input(
        fmt::format("{}: a secret has at least 16 characters; remove the file and a "
                    "new one is made",
                    file.native()));
  return secret;
}

}  // namespace assay
