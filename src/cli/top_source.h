// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "top_document.h"

#include <condition_variable>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/mutex.h>
#include <assay/base/result.h>
#include <assay/net/http_client.h>

namespace assay::cli {

/// An agent that may be asked.
struct AgentAddress {
  net::Endpoint endpoint;
  std::string shown;                 ///< for messages
  std::vector<std::string> headers;  ///< with the token, where there is one
};

/// Where agents may be, the first that answers is meant: the address given, else ASSAY_URL, else
/// the sockets of this machine and its port. The token is the file's, else ASSAY_TOKEN.
Result<std::vector<AgentAddress>> agent_addresses(const std::string& given,
                                                  const std::filesystem::path& token_file);

/// The agent's table as it is now, as text. Told in the error: what to do when there is none.
struct AgentAnswer {
  AgentAddress address;
  std::string body;
  TopDocument document;
};
Result<AgentAnswer> ask_agent(const std::vector<AgentAddress>& addresses);

/// Follows an agent's stream in a thread of its own, and begins again by itself when it breaks.
class TopSource {
 public:
  struct News {
    std::optional<TopDocument> document;  ///< the newest that was not taken yet
    bool connected = false;
    std::string reason;  ///< why it is not, where the agent said so
  };

  explicit TopSource(AgentAddress address);
  TopSource(const TopSource&) = delete;
  TopSource& operator=(const TopSource&) = delete;
  ~TopSource();

  /// Readable when there are news.
  int descriptor() const { return event_.get(); }
  News take();

 private:
  void follow(const std::stop_token& stop);
  void take_piece(EventReader& reader, std::string_view piece);
  void tell_broken(const std::string& reason);
  void wake() const;

  AgentAddress address_;
  Fd event_;
  net::Stopper stopper_;
  Mutex mutex_;
  std::condition_variable_any pause_;
  News news_ ASSAY_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace assay::cli
