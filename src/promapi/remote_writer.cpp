// SPDX-License-Identifier: Apache-2.0
#include "remote_writer.h"

#include "authorization.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::promapi {
namespace {

using std::chrono::duration_cast;

constexpr Milliseconds kLongestAsked = std::chrono::hours(1);
constexpr size_t kLongestReason = 200;
constexpr int kTooManyRequests = 429;

net::Endpoint endpoint_of(const RemoteWriteOptions& options) {
  return {.base = options.url,
          .ca_file = options.ca_file,
          .certificate_file = options.certificate_file,
          .key_file = options.key_file};
}

/// The first line of what the receiver says, in bounded length and as text.
std::string reason_of(std::string_view body) {
  std::string_view rest = trim(body);
  std::string reason = valid_utf8(trim(next_field(rest, '\n')).substr(0, kLongestReason));
  std::erase_if(reason, [](unsigned char c) { return c < ' ' || c == 0x7F; });
  return reason;
}

std::string words_of(const net::Response& answer) {
  const std::string reason = reason_of(answer.body);
  return reason.empty() ? fmt::format("it answered {}", answer.status)
                        : fmt::format("it answered {}: {}", answer.status, reason);
}

bool is_refused_for_good(int status) {
  return status >= 400 && status < 500 && status != kTooManyRequests;
}

/// Whether any request would be refused so: a wrong token or address, and not these samples.
bool is_about_us(int status) {
  return status == 401 || status == 403 || status == 404 || status == 407;
}

}  // namespace

std::optional<Milliseconds> retry_after(std::string_view header, Timestamp now) {
  if (const auto count = parse_uint(trim(header))) {
    const auto most = static_cast<uint64_t>(kLongestAsked.count()) / 1000;
    return std::chrono::seconds(std::min(*count, most));
  }
  const std::string text(trim(header));
  std::tm date{};
  const char* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const Timestamp until = from_unix_ns(int64_t{::timegm(&date)} * 1'000'000'000);
  return std::clamp(duration_cast<Milliseconds>(until - now), Milliseconds(0), kLongestAsked);
}

RemoteWriter::RemoteWriter(RemoteWriteOptions options, DiskQueue& queue, const Clock& clock,
                           RemoteWriteSender::Tell tell, uint32_t seed)
    : options_(std::move(options)),
      queue_(queue),
      clock_(clock),
      tell_(std::move(tell)),
      client_(endpoint_of(options_)),
      random_(seed),
      wait_(options_.first_wait) {}

std::string RemoteWriter::where() const {
  return net::shown_url(options_.url);
}

RemoteWriteStatus RemoteWriter::status() const {
  const Lock lock(mutex_);
  return status_;
}

std::optional<Milliseconds> RemoteWriter::wait_left() const {
  const auto left = std::chrono::ceil<Milliseconds>(not_before_ - clock_.now());
  return left.count() > 0 ? std::optional(left) : std::nullopt;
}

std::optional<Milliseconds> RemoteWriter::step(net::Stopper& stopper) {
  if (!record_) record_ = queue_.front();
  if (!record_) return std::nullopt;
  if (const auto left = wait_left()) return left;
  send(stopper);
  return wait_left().value_or(Milliseconds(0));
}

void RemoteWriter::send(net::Stopper& stopper) {
  const auto answer = post(stopper);
  if (!answer) {
    try_later(answer.error().message);
  } else if (answer->status != 0) {
    take_answer(*answer);
  }
}

Result<net::Response> RemoteWriter::post(net::Stopper& stopper) {
  net::Request request;
  request.method = "POST";
  request.headers = {"Content-Type: application/x-protobuf", "Content-Encoding: snappy",
                     "X-Prometheus-Remote-Write-Version: 0.1.0", "User-Agent: assay"};
  ASSAY_TRY(const std::string who,
            authorization(options_.bearer_token_file, options_.basic_auth_file));
  if (!who.empty()) request.headers.push_back(who);
  request.body = record_->bytes;
  request.timeout = options_.timeout;
  return client_.send(request, &stopper);
}

void RemoteWriter::take_answer(const net::Response& answer) {
  if (answer.ok()) return sent();
  if (is_refused_for_good(answer.status)) return drop(answer);
  try_later(words_of(answer), retry_after(answer.header("retry-after"), clock_.wall()));
}

void RemoteWriter::sent() {
  {
    const Lock lock(mutex_);
    ++status_.sent_requests;
    status_.sent_samples += record_->samples;
    status_.last_success = clock_.wall();
    status_.last_error.clear();
  }
  queue_.done();
  record_.reset();
  wait_ = options_.first_wait;
  told_drop_ = false;
  if (!failing_since_) return;
  tell_(fmt::format("remote write to {} works again after {}", where(),
                    format_duration(clock_.now() - *failing_since_)));
  failing_since_.reset();
}

void RemoteWriter::drop(const net::Response& answer) {
  const std::string why = words_of(answer);
  {
    const Lock lock(mutex_);
    ++status_.dropped_requests;
    status_.dropped_samples += record_->samples;
    status_.last_error = why;
  }
  if (!told_drop_)
    tell_(fmt::format("remote write to {} was refused and {} samples are dropped: {}", where(),
                      record_->samples, why));
  told_drop_ = true;
  queue_.done();
  record_.reset();
  // Somebody may put it right before the whole queue is dropped.
  if (is_about_us(answer.status)) not_before_ = clock_.now() + next_wait();
}

void RemoteWriter::try_later(const std::string& why, std::optional<Milliseconds> asked_for) {
  {
    const Lock lock(mutex_);
    ++status_.retries;
    status_.last_error = why;
  }
  if (!failing_since_) {
    failing_since_ = clock_.now();
    tell_(fmt::format("remote write to {} fails and is tried again; samples wait on disk: {}",
                      where(), why));
  }
  not_before_ = clock_.now() + std::max(next_wait(), asked_for.value_or(Milliseconds(0)));
}

/// Twice as long each time, and each time between three and five quarters of it, so that many nodes
/// that lost the same receiver do not come back all at once.
Milliseconds RemoteWriter::next_wait() {
  std::uniform_real_distribution<double> chance(0.75, 1.25);
  const double wait = static_cast<double>(wait_.count()) * chance(random_);
  wait_ = std::min(2 * wait_, options_.longest_wait);
  return Milliseconds(static_cast<int64_t>(wait));
}

}  // namespace assay::promapi
