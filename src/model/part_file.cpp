// SPDX-License-Identifier: Apache-2.0
#include "part_file.h"

#include <cerrno>
#include <fcntl.h>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <unistd.h>

namespace assay::model {
namespace {

constexpr size_t kSmall = size_t{64} << 10U;  ///< copied by hand
constexpr uint32_t kGraph = 7;
constexpr size_t kForgetEvery = 256;  ///< pieces; the system maps 64 KiB around each

std::string head_of(uint32_t tag, size_t length) {
  std::string head;
  protozero::add_varint_to_buffer(&head, uint64_t{tag} << 3U | 2U);
  protozero::add_varint_to_buffer(&head, length);
  return head;
}

/// What belongs to training a whole model has no meaning for a part.
bool is_training(std::string_view field) {
  return field.starts_with("\xA2\x01");
}

}  // namespace

void PartFile::add(uint32_t tag, std::string_view message) {
  pieces_.push_back({head_of(tag, message.size()), message});
}

void PartFile::add_owned(uint32_t tag, std::string message) {
  add(tag, owned_.emplace_back(std::move(message)));
}

Result<void> PartFile::copy(int fd, std::string_view body) const {
  const std::string_view whole = source_.bytes();
  const bool is_stored =
      body.data() >= whole.data() && body.data() + body.size() <= whole.data() + whole.size();
  if (!is_stored || body.size() < kSmall) return write_all(fd, body);
  auto offset = static_cast<off64_t>(body.data() - whole.data());
  size_t left = body.size();
  while (left > 0) {
    const ssize_t copied = ::copy_file_range(source_.fd(), &offset, fd, nullptr, left, 0);
    if (copied < 0 && errno == EINTR) continue;
    // Across file systems, or on ones that cannot: through the map.
    if (copied <= 0) return write_all(fd, body.substr(body.size() - left));
    left -= static_cast<size_t>(copied);
  }
  return {};
}

Result<void> PartFile::write_to(int fd, const std::vector<std::string_view>& other_fields) const {
  size_t length = 0;
  for (const auto& piece : pieces_) length += piece.head.size() + piece.body.size();
  std::string text;
  for (const auto field : other_fields) {
    if (!is_training(field)) text += field;
  }
  text += head_of(kGraph, length);
  size_t touched = 0;
  for (const auto& piece : pieces_) {
    if (++touched % kForgetEvery == 0) source_.forget();
    text += piece.head;
    if (piece.body.size() < kSmall) text += piece.body;
    if (piece.body.size() < kSmall && text.size() < (size_t{1} << 20U)) continue;
    ASSAY_CHECK(write_all(fd, text));
    text.clear();
    if (piece.body.size() >= kSmall) ASSAY_CHECK(copy(fd, piece.body));
  }
  return write_all(fd, text);
}

Result<void> PartFile::write(const std::filesystem::path& path,
                             const std::vector<std::string_view>& other_fields) const {
  const std::filesystem::path beside = path.native() + ".part";
  const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) return refused_errno("cannot write " + beside.native(), errno);
  auto written = write_to(file.get(), other_fields);
  if (written && ::rename(beside.c_str(), path.c_str()) != 0)
    written = refused_errno("cannot write " + path.native(), errno);
  if (!written) ::unlink(beside.c_str());
  return written;
}

std::string value_message(const std::string& name, const Known& known, bool open) {
  std::string shape;
  for (const int64_t dim : *known.dims) {
    std::string size;
    if (!open && dim >= 0) protozero::pbf_writer(size).add_int64(1, dim);
    protozero::pbf_writer(shape).add_message(1, size);
  }
  std::string tensor;
  protozero::pbf_writer(tensor).add_int32(1, known.type);
  protozero::pbf_writer(tensor).add_message(2, shape);
  std::string type;
  protozero::pbf_writer(type).add_message(1, tensor);
  std::string message;
  protozero::pbf_writer(message).add_string(1, name);
  protozero::pbf_writer(message).add_message(2, type);
  return message;
}

}  // namespace assay::model
