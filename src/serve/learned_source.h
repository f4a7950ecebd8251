// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/store/shelf.h>

namespace assay::serve {

/// Where what was learned comes from: a file, or a store that several machines share.
class LearnedSource {
 public:
  /// `shared` wins where it is not empty.
  LearnedSource(std::filesystem::path file, std::string shared)
      : file_(std::move(file)), shared_(std::move(shared)) {}

  /// The text of what was learned, when it is another than at the last call; nothing when it is the
  /// same. An error says that there is none, or why it cannot be read.
  Result<std::optional<std::string>> changed();
  /// The next call has the text, be it another or the same.
  void forget();
  /// For messages.
  std::string name() const { return shared_.empty() ? file_.native() : "the shared store"; }

 private:
  Result<std::optional<std::string>> changed_file();
  Result<std::optional<std::string>> changed_document();
  Result<std::optional<std::string>> newer_document();

  const std::filesystem::path file_;
  const std::string shared_;
  std::filesystem::file_time_type file_time_{};
  std::unique_ptr<store::Shelf> shelf_;  ///< nothing: not connected
  std::optional<Timestamp> written_;
};

}  // namespace assay::serve
