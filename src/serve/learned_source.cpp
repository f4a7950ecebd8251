// SPDX-License-Identifier: Apache-2.0
#include "learned_source.h"

#include <fmt/format.h>

#include <assay/base/files.h>

namespace assay::serve {
namespace {

constexpr size_t kLargest = size_t{512} << 20U;

}  // namespace

Result<std::optional<std::string>> LearnedSource::changed() {
  auto text = shared_.empty() ? changed_file() : changed_document();
  if (!text) forget();  // what comes back after that is read again
  return text;
}

void LearnedSource::forget() {
  file_time_ = {};
  written_.reset();
}

Result<std::optional<std::string>> LearnedSource::changed_file() {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file_, error);
  if (error)
    return refused(
        fmt::format("nothing was learned yet: there is no file {}; make it with 'assay train'",
                    file_.native()));
  if (time == file_time_) return std::optional<std::string>();
  file_time_ = time;
  ASSAY_TRY(auto text, read_file(file_, kLargest));
  return std::optional(std::move(text));
}

Result<std::optional<std::string>> LearnedSource::changed_document() {
  if (!shelf_) {
    ASSAY_TRY(shelf_, store::Shelf::open(shared_));
  }
  auto found = newer_document();
  if (!found) shelf_.reset();  // the next call connects anew
  return found;
}

Result<std::optional<std::string>> LearnedSource::newer_document() {
  ASSAY_TRY(const auto written, shelf_->written("learned", "placement"));
  if (!written)
    return refused(
        "nothing was learned yet: the shared store has none; put it there with 'assay train "
        "--shared'");
  if (written_ == *written) return std::optional<std::string>();
  ASSAY_TRY(auto document, shelf_->find("learned", "placement"));
  if (!document) return std::optional<std::string>();
  written_ = document->written;
  return std::optional(std::move(document->json));
}

}  // namespace assay::serve
