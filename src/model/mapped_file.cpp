// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

#include <assay/model/graph.h>

namespace assay::model {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  MappedFile file;
  // A pipe of that name must not be waited for.
  file.fd_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.fd_.valid()) {
    const int why = errno;
    if (why == ENOENT) return bad_input("there is no file " + path.native());
    return refused_errno("cannot open " + path.native(), why);
  }
  struct stat status {};
  if (::fstat(file.fd_.get(), &status) != 0)
    return refused_errno("cannot read " + path.native(), errno);
  if (!S_ISREG(status.st_mode)) return bad_input(path.native() + " is no file with a model");
  if (status.st_size == 0) return bad_input(path.native() + " is empty");
  const auto size = static_cast<size_t>(status.st_size);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd_.get(), 0);
  if (start == MAP_FAILED) return refused_errno("cannot map " + path.native(), errno);
  (void)::madvise(start, size, MADV_RANDOM);
  file.bytes_ = {static_cast<const char*>(start), size};
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : fd_(std::move(other.fd_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void MappedFile::forget() const {
  if (!bytes_.empty())
    (void)::madvise(const_cast<char*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

}  // namespace assay::model
