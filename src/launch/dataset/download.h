// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/launch/dataset.h>
#include <assay/net/http_client.h>

namespace assay::launch {

/// One file at a service.
struct Remote {
  std::string path;
  std::string name;                       ///< for errors
  std::vector<std::string> headers = {};  ///< to send with each request
  std::optional<net::AwsSigning> aws = {};
};

struct DownloadRules {
  /// Asked before the first byte of an answer: how many are to come, where it is known.
  std::function<Result<void>(uint64_t bytes)> room;
  /// Whether this version of the file is there already and need not be fetched; may be empty.
  std::function<bool(const std::string& version)> known = {};
  uint64_t max_bytes = UINT64_MAX;
  int most_failures = 5;    ///< in a row, without a byte more
  Milliseconds pause{200};  ///< after the first failure; doubled with each
};

struct Downloaded {
  uint64_t bytes = 0;
  std::string version;  ///< ETag, or time and length; empty: the server tells none
  bool known = false;   ///< not fetched
};

/// Fetches a file into `part`, which it continues when the server can and the file has not changed
/// (`part`.tag holds its ETag). Tries again after what may pass. A `part` of no use is removed.
class Download {
 public:
  Download(net::HttpClient& client, Remote remote, std::filesystem::path part, DownloadRules rules,
           const Progress& progress);

  Result<Downloaded> run();

 private:
  Result<net::Response> attempt();
  net::Request request() const;
  bool begin(const net::Response& head);
  bool begin_rest(const net::Response& head);
  bool take(std::string_view piece);
  bool is_whole(const net::Response& response) const;
  bool report();
  bool pause(int failures);
  Result<void> open_part();
  bool give_up(Error error);
  void start_over();
  std::filesystem::path tag_file() const;

  net::HttpClient& client_;
  Remote remote_;
  std::filesystem::path part_;
  DownloadRules rules_;
  const Progress& progress_;

  Fd fd_;
  uint64_t size_ = 0;  ///< of the part
  std::string tag_;    ///< strong ETag of the part; empty: it cannot be continued
  std::string version_;
  std::optional<uint64_t> total_;
  bool began_ = false;
  bool known_ = false;
  bool changed_ = false;  ///< the rest is of another version
  std::optional<Error> trouble_;
};

}  // namespace assay::launch
