// SPDX-License-Identifier: Apache-2.0
#include "uploads.h"

#include "multipart.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/wording.h>

namespace assay::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBody = "body-";  ///< of a request, as the server names it
constexpr size_t kIdLength = 16;

std::string random_id() {
  uint64_t bits = 0;
  (void)::getrandom(&bits, sizeof bits, 0);
  return fmt::format("{:016x}", bits);
}

bool is_id(std::string_view text) {
  return text.size() == kIdLength && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// A caller is told about the file that it sent, not about our folder.
Error without_folder(Error error, const fs::path& file, const std::string& name) {
  const size_t at = error.message.find(file.native());
  if (at != std::string::npos) error.message.replace(at, file.native().size(), name);
  return error;
}

}  // namespace

Result<void> Uploads::open() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    return refused(
        fmt::format("the folder {} cannot be made: {}", folder_.native(), error.message()));
  fs::permissions(folder_, fs::perms::owner_all, error);
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().filename().native().starts_with(kBody)) fs::remove(entry.path(), error);
  }
  return {};
}

Result<void> Uploads::make_room(uint64_t bytes) {
  if (bytes > most_bytes_)
    return bad_input(fmt::format("the model has {} bytes, more than are kept here", bytes));
  struct Kept {
    fs::file_time_type time;
    fs::path path;
    uint64_t bytes = 0;
  };
  std::vector<Kept> all;
  uint64_t total = bytes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (!entry.is_regular_file(error) || entry.path().filename().native().starts_with(kBody))
      continue;
    all.push_back({entry.last_write_time(error), entry.path(), entry.file_size(error)});
    total += all.back().bytes;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.time < b.time; });
  for (const auto& oldest : all) {
    if (total <= most_bytes_) break;
    fs::remove(oldest.path, error);
    total -= oldest.bytes;
  }
  return {};
}

Result<Uploaded> Uploads::read(const fs::path& file) const {
  const std::string stored = file.filename().native();
  Uploaded uploaded{stored.substr(0, kIdLength), stored.substr(kIdLength + 1), file, {}};
  auto found = model::characteristics(file, {});
  if (!found) return fail(without_folder(found.error(), file, uploaded.name));
  uploaded.model = std::move(*found);
  return uploaded;
}

Result<Uploaded> Uploads::add(std::string_view filename, std::string_view data) {
  const fs::path file = folder_ / fmt::format("{}-{}", random_id(), safe_filename(filename));
  {
    const Lock lock(mutex_);
    ASSAY_CHECK(make_room(data.size()));
    const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid()) return refused_errno("the model cannot be kept", errno);
    const auto written = write_all(fd.get(), data);
    if (!written) {
      ::unlink(file.c_str());
      return fail(without_folder(written.error(), file, "the model"));
    }
  }
  auto uploaded = read(file);
  if (!uploaded) ::unlink(file.c_str());
  return uploaded;
}

Result<Uploaded> Uploads::find(const std::string& id) {
  const Lock lock(mutex_);
  std::error_code error;
  if (is_id(id)) {
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
      if (entry.path().filename().native().starts_with(id + "-")) return read(entry.path());
    }
  }
  return bad_input(
      fmt::format("no model with the id {} is kept here; send it again", in_quotes(id)));
}

}  // namespace assay::serve
