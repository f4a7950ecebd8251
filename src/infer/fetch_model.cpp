// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/infer/worker.h>
#include <assay/net/http_client.h>

namespace assay::infer {
namespace {

constexpr Milliseconds kSilence{30'000};

/// "http://node:7000/file" is the service's base and its path.
Result<std::pair<std::string, std::string>> split_url(const std::string& url) {
  const size_t scheme = url.find("://");
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return bad_input(fmt::format("{} is no address of a model", net::shown_url(url)));
  const size_t slash = url.find('/', scheme + 3);
  if (slash == url.npos) return std::pair(url, std::string("/"));
  return std::pair(url.substr(0, slash), url.substr(slash));
}

/// What comes, written until it is too large or cannot be written.
struct Taken {
  int fd = -1;
  uint64_t bytes = 0;
  Result<void> written = {};

  bool take(std::string_view piece) {
    bytes += piece.size();
    if (bytes > kLargestModel)
      written = refused(
          fmt::format("it is larger than {}", format_bytes(static_cast<double>(kLargestModel))));
    else
      written = write_all(fd, piece);
    return written.has_value();
  }
};

Result<void> fetch_to(int fd, const std::string& url, const std::string& key) {
  ASSAY_TRY(const auto parts, split_url(url));
  net::HttpClient client({.base = parts.first});
  net::Request request;
  request.path = parts.second;
  request.timeout = Milliseconds(0);
  request.silence = kSilence;
  if (key.find_first_of("\r\n") != key.npos) return bad_input("the key has to be one line");
  if (!key.empty()) request.headers.push_back("Authorization: Bearer " + key);
  Taken taken{.fd = fd};
  ASSAY_TRY(const net::Response response,
            client.stream(request, [&](std::string_view piece) { return taken.take(piece); }));
  ASSAY_CHECK(taken.written);
  if (!response.ok()) return refused(fmt::format("the answer is {}", response.status));
  if (taken.bytes == 0) return refused("it is empty");
  return {};
}

}  // namespace

Result<std::filesystem::path> fetch_model(const std::string& url, const std::string& key,
                                          const std::filesystem::path& folder) {
  std::string name = (folder / "assay-model-XXXXXX").native();
  const Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid())
    return refused_errno(fmt::format("no file can be made in {}", folder.native()), errno);
  if (const auto fetched = fetch_to(fd.get(), url, key); !fetched) {
    ::unlink(name.c_str());
    return refused(fmt::format("the model at {} cannot be fetched: {}", net::shown_url(url),
                               fetched.error().message));
  }
  return std::filesystem::path(name);
}

}  // namespace assay::infer
