// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <assay/model/graph.h>

namespace assay::model {

/// What a scan as a whole has come to: its first error, and what it may still keep.
class Progress {
 public:
  Progress(std::string_view bytes, const MappedFile* mapped) : bytes_(bytes), mapped_(mapped) {}

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  /// The first one stays. Says at which byte of the file `at` is.
  void fail(const std::string& what, const char* at);
  /// Counts `items` things of `bytes` that are kept.
  void keep(size_t items, size_t bytes, const char* at);
  /// Tells how far the scan is, so that pages behind it can go.
  void reached(const char* at);

 private:
  std::string_view bytes_;
  const MappedFile* mapped_;
  const char* forgotten_ = bytes_.data();
  std::string error_;
  size_t items_ = 0;
  size_t kept_ = 0;
};

/// The fields of one protobuf message, in their order. Protozero's readers know lengths of 32 bits
/// and throw; this one has 64 and remembers the first error in `progress`, after which nothing
/// follows.
class Fields {
 public:
  /// `what` is the message's name in errors; it must outlive this.
  Fields(std::string_view message, Progress& progress, const char* what)
      : at_(message.data()), end_(at_ + message.size()), progress_(progress), what_(what) {}

  bool next();
  uint32_t tag() const { return tag_; }
  bool is_bytes() const { return wire_ == 2; }
  /// Of a length-delimited field; empty for others.
  std::string_view bytes() const { return bytes_; }
  /// The same copied, as something that is kept.
  std::string text();
  int64_t integer() const { return static_cast<int64_t>(number_); }
  float real() const;
  double real64() const;
  /// The field from its tag to its end.
  std::string_view whole() const { return {start_, static_cast<size_t>(at_ - start_)}; }
  Progress& progress() const { return progress_; }

  // Repeated numbers, packed or one by one; at most `most` are appended.
  void integers(std::vector<int64_t>& out, size_t most);
  void reals(std::vector<double>& out, size_t most);
  void reals64(std::vector<double>& out, size_t most);

 private:
  bool number(const char*& at, const char* end, uint64_t& value);
  bool fixed(size_t size);
  bool delimited();

  const char* at_;
  const char* end_;
  const char* start_ = nullptr;
  Progress& progress_;
  const char* what_;
  uint32_t tag_ = 0;
  uint32_t wire_ = 0;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

}  // namespace assay::model
