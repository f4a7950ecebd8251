// SPDX-License-Identifier: Apache-2.0
#include "uploads.h"

#include "multipart.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <assay/base/wording.h>

namespace assay::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kIdLength = 16;
constexpr size_t kMostKnown = 1000;

std::string random_id() {
  uint64_t bits = 0;
  (void)::getrandom(&bits, sizeof bits, 0);
  return fmt::format("{:016x}", bits);
}

bool is_id(std::string_view text) {
  return text.size() == kIdLength && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// "0123456789abcdef-net.onnx": one of ours.
bool is_ours(const fs::path& file) {
  const std::string name = file.filename().native();
  return name.size() > kIdLength && name[kIdLength] == '-' && is_id(name.substr(0, kIdLength));
}

/// A caller is told about the file that it sent, not about our folder.
Error without_folder(Error error, const fs::path& file, const std::string& name) {
  const size_t at = error.message.find(file.native());
  if (at != std::string::npos) error.message.replace(at, file.native().size(), name);
  return error;
}

Result<void> write_new(const fs::path& file, std::string_view data) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return refused_errno("its file cannot be made", errno);
  return write_all(fd.get(), data);
}

}  // namespace

Result<void> Uploads::open() {
  std::error_code error;
  const bool is_new = !fs::exists(folder_, error);
  fs::create_directories(incoming(), error);
  if (error)
    return refused(
        fmt::format("the folder {} cannot be made: {}", folder_.native(), error.message()));
  if (is_new) fs::permissions(folder_, fs::perms::owner_all, error);
  lock_ = Fd(::open((incoming() / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_.valid() || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return refused(fmt::format("another service has the folder {}; name another one by --uploads",
                               folder_.native()));
  for (const auto& entry : fs::directory_iterator(incoming(), error)) {
    if (entry.path().filename().native().starts_with("body-")) fs::remove(entry.path(), error);
  }
  return {};
}

/// A body on its way, and the room that it has taken so far.
class Uploads::Sent {
 public:
  Sent(Uploads& uploads, std::string caller) : uploads_(uploads), caller_(std::move(caller)) {}
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;
  ~Sent() {
    const Lock lock(uploads_.mutex_);
    uploads_.being_sent_ -= bytes_;
    if (--uploads_.senders_[caller_] == 0) uploads_.senders_.erase(caller_);
  }

  bool take(uint64_t bytes) {
    const Lock lock(uploads_.mutex_);
    if (uploads_.being_sent_ + bytes > uploads_.half_) return false;
    uploads_.being_sent_ += bytes;
    bytes_ += bytes;
    return true;
  }

 private:
  Uploads& uploads_;
  const std::string caller_;
  uint64_t bytes_ = 0;
};

net::RequestPlan Uploads::plan(const net::ServerRequest& head, uint64_t largest,
                               const net::HttpServer::Refuse& refuse) {
  largest = std::min(largest, half_);
  if (head.content_length.value_or(0) > largest)
    return {.refusal = refuse(
                413, fmt::format("the request is too large: at most {} bytes are taken", largest))};
  const std::string caller = net::caller_of(head.address);
  const Lock lock(mutex_);
  const auto sender = senders_.find(caller);
  if (sender != senders_.end() && sender->second >= most_at_once_)
    return {.refusal = refuse(429, fmt::format("{} models are on their way from this address; wait "
                                               "until one has come",
                                               sender->second))};
  if (being_sent_ + head.content_length.value_or(1) > half_)
    return {.refusal = refuse(503, "too much is being sent at this moment; come again later")};
  ++senders_[caller];  // until what is sent is gone
  const auto sent = std::make_shared<Sent>(*this, caller);
  return {.body_bytes = largest, .folder = incoming(), .hold = sent, .take = [sent](size_t bytes) {
            return sent->take(bytes);
          }};
}

Result<void> Uploads::make_room(uint64_t bytes) {
  struct Kept {
    fs::file_time_type time;
    fs::path path;
    uint64_t bytes = 0;
  };
  if (bytes > half_)
    return bad_input(fmt::format("the model has {} bytes, more than are kept here", bytes));
  uint64_t total = bytes + being_written_;
  if (total > half_)
    return refused("too many models are being kept at this moment; come again later");
  std::vector<Kept> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (!entry.is_regular_file(error) || !is_ours(entry.path())) continue;
    all.push_back({entry.last_write_time(error), entry.path(), entry.file_size(error)});
    total += all.back().bytes;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.time < b.time; });
  for (const auto& oldest : all) {
    if (total <= half_) break;
    fs::remove(oldest.path, error);
    known_.erase(oldest.path.filename().native().substr(0, kIdLength));
    total -= oldest.bytes;
  }
  return {};
}

void Uploads::remember(const Uploaded& uploaded) {
  if (known_.size() >= kMostKnown) known_.erase(known_.begin());
  known_.insert_or_assign(uploaded.id, uploaded);
}

Result<Uploaded> Uploads::add(std::string_view filename, std::string_view data) {
  Uploaded uploaded{random_id(), safe_filename(filename), {}, {}};
  uploaded.file = folder_ / fmt::format("{}-{}", uploaded.id, uploaded.name);
  ASSAY_TRY(const auto model, model::scan(data, uploaded.name));
  const auto traced = model::trace(model, {});
  if (!traced)
    return fail(
        {traced.error().kind, fmt::format("{}: {}", uploaded.name, traced.error().message)});
  uploaded.model = model::characteristics(*traced);
  uploaded.model.inputs.clear();
  {
    const Lock lock(mutex_);
    ASSAY_CHECK(make_room(data.size()));
    being_written_ += data.size();
  }
  // Seen by make_room only as a whole: until then it counts as being written.
  const fs::path part = incoming() / fmt::format("body-{}", uploaded.id);
  auto written = write_new(part, data);
  const Lock lock(mutex_);
  being_written_ -= data.size();
  if (written && ::rename(part.c_str(), uploaded.file.c_str()) != 0)
    written = refused_errno("its file cannot be renamed", errno);
  if (!written) {
    ::unlink(part.c_str());
    return refused(fmt::format("the model cannot be kept: {}", written.error().message));
  }
  remember(uploaded);
  return uploaded;
}

Result<Uploaded> Uploads::find(const std::string& id) {
  {
    const Lock lock(mutex_);
    const auto known = known_.find(id);
    if (known != known_.end()) return known->second;
  }
  ASSAY_TRY(Uploaded uploaded, read(id));
  uploaded.model.inputs.clear();
  const Lock lock(mutex_);
  remember(uploaded);
  return uploaded;
}

Result<Uploaded> Uploads::read(const std::string& id) const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (!is_ours(entry.path()) || !entry.path().filename().native().starts_with(id + "-")) continue;
    Uploaded uploaded{id, entry.path().filename().native().substr(kIdLength + 1), entry.path(), {}};
    auto found = model::characteristics(entry.path(), {});
    if (!found) return fail(without_folder(found.error(), entry.path(), uploaded.name));
    uploaded.model = std::move(*found);
    return uploaded;
  }
  return bad_input(
      fmt::format("no model with the id {} is kept here; send it again", in_quotes(id)));
}

void Uploads::remove(const Uploaded& uploaded) {
  ::unlink(uploaded.file.c_str());
  const Lock lock(mutex_);
  known_.erase(uploaded.id);
}

Result<void> check_not_empty(const net::ServerRequest& request) {
  std::error_code error;
  if (fs::file_size(request.body_file, error) > 0 && !error) return {};
  return bad_input("the request has no body: send the ONNX file");
}

}  // namespace assay::serve
