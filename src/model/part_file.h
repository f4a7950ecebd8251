// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <assay/model/trace.h>

namespace assay::model {

/// A model that is put together from messages of another one. Large messages go from file to file
/// without passing through this process, where the system can do that.
class PartFile {
 public:
  /// `source` is where added messages stand; it must outlive this.
  explicit PartFile(const MappedFile& source) : source_(source) {}

  /// A field of the graph: a message of the source.
  void add(uint32_t tag, std::string_view message);
  /// The same with bytes of our own.
  void add_owned(uint32_t tag, std::string message);
  /// Writes it beside `path` first, so that a file of that name is always whole.
  Result<void> write(const std::filesystem::path& path,
                     const std::vector<std::string_view>& other_fields) const;

 private:
  struct Piece {
    std::string head;
    std::string_view body;
  };
  Result<void> write_to(int fd, const std::vector<std::string_view>& other_fields) const;
  Result<void> copy(int fd, std::string_view body) const;

  const MappedFile& source_;
  std::vector<Piece> pieces_;
  std::deque<std::string> owned_;
};

/// A value's name, type and shape as ONNX writes them; with `open`, only how many dimensions.
std::string value_message(const std::string& name, const Known& known, bool open);

}  // namespace assay::model
