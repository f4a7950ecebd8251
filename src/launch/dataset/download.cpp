// SPDX-License-Identifier: Apache-2.0
#include "dataset/download.h"

#include "dataset/safe_folder.h"
#include "dataset/sha256.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kSilence = std::chrono::seconds(30);
constexpr Milliseconds kConnect = std::chrono::seconds(10);
constexpr int kRedirects = 5;
constexpr Milliseconds kPauseStep{50};

std::optional<uint64_t> length_of(const net::Response& head) {
  return parse_uint(head.header("content-length"));
}

/// Only a strong one may be used to continue a file.
std::string strong_tag(const net::Response& head) {
  const std::string tag = head.header("etag");
  return tag.starts_with("W/") ? "" : tag;
}

std::string version_of(const net::Response& head) {
  if (std::string tag = head.header("etag"); !tag.empty()) return tag;
  const std::string modified = head.header("last-modified");
  return modified.empty() ? "" : modified + " " + head.header("content-length");
}

/// "bytes 100-199/200": where it begins and how long the whole is.
struct Range {
  std::optional<uint64_t> begin;
  std::optional<uint64_t> total;
};

Range range_of(const net::Response& head) {
  const std::string text = head.header("content-range");
  std::string_view rest = text;
  if (next_field(rest, ' ') != "bytes") return {};
  std::string_view span = next_field(rest, '/');
  return {parse_uint(next_field(span, '-')), parse_uint(rest)};
}

bool passes(int status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

Error refusal(const Remote& remote, int status) {
  std::string_view to_do = "check the address";
  if (status == 401 || status == 403) to_do = "check who may read it";
  if (status == 412) to_do = "it changed while it was fetched: try again";
  if (passes(status)) to_do = "try again later";
  return {ErrorKind::environment,
          fmt::format("{} answered with status {}; {}", remote.name, status, to_do),
          passes(status)};
}

}  // namespace

Download::Download(net::HttpClient& client, Remote remote, fs::path part, DownloadRules rules,
                   const Progress& progress)
    : client_(client),
      remote_(std::move(remote)),
      part_(std::move(part)),
      rules_(std::move(rules)),
      progress_(progress) {}

fs::path Download::tag_file() const {
  fs::path file = part_;
  return file += ".tag";
}

Result<void> Download::open_part() {
  fd_ = Fd(::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  struct stat status {};
  if (!fd_.valid() || ::fstat(fd_.get(), &status) != 0 || ::fchmod(fd_.get(), 0644) != 0)
    return refused_errno(fmt::format("cannot write {}", part_.native()), errno);
  size_ = static_cast<uint64_t>(status.st_size);
  tag_ = read_file(tag_file(), 4096).value_or("");
  if (tag_.empty()) start_over();
  return {};
}

/// The part belongs to another version, or to nothing that can be continued.
void Download::start_over() {
  ::ftruncate(fd_.get(), 0);
  size_ = 0;
  tag_.clear();
  std::error_code ignored;
  fs::remove(tag_file(), ignored);
}

Result<Downloaded> Download::run() {
  ASSAY_CHECK(open_part());
  uint64_t best = size_;
  int failures = 0;
  while (true) {
    const auto response = attempt();
    if (trouble_) return fail(*trouble_);
    if (response && !changed_ && is_whole(*response)) return Downloaded{size_, version_, known_};
    const Error error = response ? refusal(remote_, response->status) : response.error();
    const bool starts_over = changed_ || (response && response->status == 416);
    if (starts_over) start_over();
    failures = size_ > best ? 0 : failures + 1;
    best = std::max(best, size_);
    if ((!error.temporary && !starts_over) || failures >= rules_.most_failures) return fail(error);
    if (!pause(failures)) return fail(stopped_error());
  }
}

net::Request Download::request() const {
  net::Request request;
  request.path = remote_.path;
  request.headers = remote_.headers;
  request.aws = remote_.aws;
  request.connect_timeout = kConnect;
  request.timeout = Milliseconds(0);
  request.silence = kSilence;
  request.redirects = kRedirects;
  if (size_ > 0) {
    request.headers.push_back(fmt::format("Range: bytes={}-", size_));
    request.headers.push_back("If-Range: " + tag_);
  }
  return request;
}

Result<net::Response> Download::attempt() {
  began_ = false;
  changed_ = false;
  if (size_ > 0 && tag_.empty()) start_over();
  net::Request asked = request();
  asked.still_wanted = [this] { return report(); };
  auto response = client_.stream(asked, [this](std::string_view piece) {
    return (began_ || begin(client_.head())) && take(piece);
  });
  if (response && response->ok() && !began_) begin(*response);
  return response;
}

/// A range that begins behind the end: nothing is missing.
bool Download::is_whole(const net::Response& response) const {
  return response.ok() || (response.status == 416 && range_of(response).total == size_);
}

/// Sets up for what the answer holds: the rest of the part, or all of the file.
bool Download::begin(const net::Response& head) {
  began_ = true;
  version_ = version_of(head);
  if (rules_.known && rules_.known(version_)) {
    known_ = true;
    return false;
  }
  if (head.status == 206) return begin_rest(head);
  start_over();
  tag_ = strong_tag(head);
  total_ = length_of(head);
  if (auto kept = write_file(tag_file(), tag_); !kept) return give_up(kept.error());
  if (auto room = rules_.room(total_.value_or(0)); !room) return give_up(room.error());
  return true;
}

bool Download::begin_rest(const net::Response& head) {
  const Range range = range_of(head);
  // Some servers do not look at If-Range.
  changed_ = size_ > 0 && strong_tag(head) != tag_;
  if (changed_) return false;
  if (range.begin != size_) {
    return give_up({ErrorKind::environment,
                    fmt::format("{} sent another part than was asked for; its server is faulty",
                                remote_.name)});
  }
  total_ = range.total;
  if (auto room = rules_.room(length_of(head).value_or(0)); !room) return give_up(room.error());
  return true;
}

bool Download::take(std::string_view piece) {
  if (piece.size() > rules_.max_bytes - std::min(size_, rules_.max_bytes)) {
    return give_up(
        {ErrorKind::environment, fmt::format("{} is larger than {}", remote_.name,
                                             format_bytes(static_cast<double>(rules_.max_bytes)))});
  }
  if (auto written = write_at(fd_.get(), piece, size_); !written) return give_up(written.error());
  size_ += piece.size();
  return true;
}

bool Download::report() {
  if (progress_(size_, total_)) return true;
  trouble_ = stopped_error();
  return false;
}

bool Download::pause(int failures) {
  const auto until = SteadyClock::now() + rules_.pause * (1 << std::max(0, failures - 1));
  while (SteadyClock::now() < until) {
    if (!progress_(size_, total_)) return false;
    std::this_thread::sleep_for(std::min(kPauseStep, rules_.pause));
  }
  return true;
}

/// For what trying again would not help. The part is of no use then.
bool Download::give_up(Error error) {
  trouble_ = std::move(error);
  std::error_code ignored;
  fs::remove(part_, ignored);
  fs::remove(tag_file(), ignored);
  return false;
}

}  // namespace assay::launch
