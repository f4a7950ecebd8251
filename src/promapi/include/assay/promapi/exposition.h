// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/promapi/family_writer.h>

namespace assay::promapi {

/// Prometheus' own text, version 0.0.4, or OpenMetrics 1.0.0.
enum class TextFormat { classic, openmetrics };

/// What a scraper is to be given.
struct Negotiated {
  TextFormat format = TextFormat::classic;
  std::string_view content_type;  ///< for the answer's header; lives forever
  bool gzip = false;              ///< the answer may be compressed
};

/// By the request's headers "Accept" and "Accept-Encoding", empty where it has none. OpenMetrics is
/// for those who name it and like it at least as much as plain text; whatever else is asked for,
/// garbage too, is answered with the classic text.
Negotiated negotiate(std::string_view accept, std::string_view accept_encoding);

/// Writes what a scrape gets: start, then each family with its samples, then finish. The buffer is
/// kept from scrape to scrape, so that nothing is allocated once it has its size. Not thread-safe.
class Exposition final : public FamilyWriter {
 public:
  void start(TextFormat format);

  /// The whole text, until the next start.
  std::string_view finish();

 private:
  void begin(FamilyKind kind, std::string_view help, std::string_view unit) override;
  void write(std::string_view suffix, const LabelText& labels, std::span<const Label> extra,
             double value, Time time) override;
  void write_head();
  char* room(size_t bytes);
  void put(std::string_view text);
  void put_escaped(std::string_view text, bool quotes);

  TextFormat format_ = TextFormat::classic;
  FamilyKind kind_ = FamilyKind::unknown;
  bool pending_ = false;  ///< the family has no sample yet
  std::string help_;
  std::string unit_;
  std::string buffer_;  ///< its size is what was allocated
  size_t used_ = 0;
};

/// Compresses as HTTP's "gzip", quickly rather than well. State and buffer are kept from text to
/// text. Not thread-safe.
class Gzip {
 public:
  Gzip();
  Gzip(Gzip&& other) noexcept;
  Gzip& operator=(Gzip&& other) noexcept;
  ~Gzip();

  /// Until the next call. Fails only without memory.
  Result<std::string_view> compressed(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string buffer_;
};

}  // namespace assay::promapi
