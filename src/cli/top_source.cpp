// SPDX-License-Identifier: Apache-2.0
#include "top_source.h"

#include "named_file.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

constexpr const char* kPort = "http://127.0.0.1:9410";
constexpr Milliseconds kPatience{5000};
constexpr Milliseconds kSilence{15'000};
constexpr Milliseconds kBetweenTries{1000};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

AgentAddress at_socket(const std::string& path) {
  AgentAddress address;
  address.endpoint.unix_socket = path;
  address.shown = path;
  return address;
}

/// "https://pole-7:9410", "pole-7:9410", "/run/assay/agent.sock" or "unix:///run/…".
AgentAddress address_of(std::string text) {
  constexpr std::string_view kUnix = "unix://";
  if (text.starts_with(kUnix)) return at_socket(text.substr(kUnix.size()));
  if (text.find("://") == std::string::npos) {
    std::error_code error;
    if (text.find('/') != std::string::npos || std::filesystem::is_socket(text, error))
      return at_socket(text);
    text = "http://" + text;
  }
  while (text.ends_with('/')) text.pop_back();
  AgentAddress address;
  address.shown = net::shown_url(text);
  address.endpoint.base = std::move(text);
  return address;
}

std::vector<AgentAddress> usual_addresses() {
  std::vector<AgentAddress> addresses;
  const std::string runtime = variable("XDG_RUNTIME_DIR");
  std::vector<std::string> sockets = {"/run/assay/agent.sock"};
  if (!runtime.empty()) sockets.insert(sockets.begin(), runtime + "/assay/agent.sock");
  for (const auto& socket : sockets) {
    std::error_code error;
    if (std::filesystem::is_socket(socket, error)) addresses.push_back(at_socket(socket));
  }
  addresses.push_back(address_of(kPort));
  return addresses;
}

Result<std::string> token_of(const std::filesystem::path& file) {
  constexpr size_t kLongest = 4096;
  std::string token = variable("ASSAY_TOKEN");
  if (!file.empty()) {
    ASSAY_TRY(token, read_named_file(file, kLongest));
  }
  token = trim(token);
  const bool clean =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7F'; });
  if (!clean)
    return bad_input("the token holds characters that no token has: is it the right file?");
  return token;
}

net::Request request_for(const AgentAddress& address, const char* path) {
  net::Request request;
  request.path = path;
  request.headers = address.headers;
  request.connect_timeout = kPatience;
  return request;
}

std::string refusal(const AgentAddress& address, int status) {
  if (status == 401 || status == 403) {
    return fmt::format("the agent at {} {}: name {} file with --token-file, or set ASSAY_TOKEN",
                       address.shown,
                       address.headers.empty() ? "wants a token" : "refused this token",
                       address.headers.empty() ? "its" : "another");
  }
  return fmt::format("{} answered with status {}: is it an assay-agent?", address.shown, status);
}

Result<AgentAnswer> ask(const AgentAddress& address) {
  net::HttpClient client(address.endpoint);
  net::Request request = request_for(address, "/api/v1/apps");
  request.timeout = 2 * kPatience;
  auto response = client.send(request);
  if (!response) {
    return refused(
        fmt::format("no agent answers at {}: start `assay-agent` there, or name another with --url",
                    address.shown));
  }
  if (!response->ok()) return refused(refusal(address, response->status));
  auto document = read_top_document(response->body);
  if (!document)
    return refused(fmt::format("what answers at {} is no assay-agent: name another with --url",
                               address.shown));
  return AgentAnswer{address, std::move(response->body), std::move(*document)};
}

}  // namespace

Result<std::vector<AgentAddress>> agent_addresses(const std::string& given,
                                                  const std::filesystem::path& token_file) {
  ASSAY_TRY(const std::string token, token_of(token_file));
  const std::string wanted = given.empty() ? variable("ASSAY_URL") : given;
  auto addresses =
      wanted.empty() ? usual_addresses() : std::vector<AgentAddress>{address_of(wanted)};
  for (auto& address : addresses)
    if (!token.empty()) address.headers.push_back("Authorization: Bearer " + token);
  return addresses;
}

Result<AgentAnswer> ask_agent(const std::vector<AgentAddress>& addresses) {
  for (size_t i = 0; i + 1 < addresses.size(); ++i)
    if (auto answer = ask(addresses[i])) return answer;
  return ask(addresses.back());
}

TopSource::TopSource(AgentAddress address)
    : address_(std::move(address)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { follow(stop); }) {}

TopSource::~TopSource() {
  thread_.request_stop();
  stopper_.stop();
}

void TopSource::follow(const std::stop_token& stop) {
  net::HttpClient client(address_.endpoint);
  net::Request request = request_for(address_, "/api/v1/stream");
  request.timeout = Milliseconds(0);
  request.silence = kSilence;
  while (!stop.stop_requested()) {
    EventReader reader;
    const auto response = client.stream(
        request,
        [&](std::string_view piece) {
          take_piece(reader, piece);
          return !stop.stop_requested();
        },
        &stopper_);
    if (stop.stop_requested()) return;
    tell_broken(response && !response->ok() ? refusal(address_, response->status) : "");
    Lock lock(mutex_);
    pause_.wait_for(lock, stop, kBetweenTries, [] { return false; });
  }
}

void TopSource::take_piece(EventReader& reader, std::string_view piece) {
  const auto text = reader.take(piece);
  auto document = text ? read_top_document(*text) : std::nullopt;
  if (!document) return;
  const Lock lock(mutex_);
  news_ = {std::move(document), true, ""};
  wake();
}

void TopSource::tell_broken(const std::string& reason) {
  const Lock lock(mutex_);
  news_.connected = false;
  news_.reason = reason;
  wake();
}

void TopSource::wake() const {
  // Only full when nobody has looked for ages, and then it wakes as well.
  static_cast<void>(::eventfd_write(event_.get(), 1));
}

TopSource::News TopSource::take() {
  eventfd_t count = 0;
  static_cast<void>(::eventfd_read(event_.get(), &count));
  const Lock lock(mutex_);
  News news = news_;
  news_.document.reset();
  return news;
}

}  // namespace assay::cli
