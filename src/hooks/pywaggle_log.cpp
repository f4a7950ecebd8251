// SPDX-License-Identifier: Apache-2.0
#include "losses.h"
#include "pywaggle_line.h"
#include "recorder.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <assay/base/files.h>
#include <assay/hooks/pywaggle_log.h>

namespace assay::hooks {
namespace {

constexpr const char* kFile = "data.ndjson";
/// What is read at most after the app's end.
constexpr size_t kLastBytes = 64U << 20U;

/// Device and inode; a file without one is none.
std::pair<dev_t, ino_t> identity(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

class FileLog final : public PywaggleLog {
 public:
  FileLog(std::filesystem::path file, const Clock& clock, SampleSink& sink, const Limits& limits)
      : file_(std::move(file)),
        clock_(clock),
        sink_(sink),
        limits_(limits),
        recorder_(sink, limits.names),
        lines_(limits.message_bytes),
        buffer_(std::min<size_t>(1U << 16U, limits.bytes_per_poll)) {}

  void poll() override;
  void finish() override;
  const std::map<std::string, double>& latest() const override { return recorder_.latest(); }
  uint64_t texts() const override { return texts_; }

 private:
  size_t read_up_to(size_t limit);
  bool open_file();
  void begin_again_if_cut_short();
  bool is_replaced() const;
  void take(std::string_view line);

  std::filesystem::path file_;
  const Clock& clock_;
  SampleSink& sink_;
  Limits limits_;
  Recorder recorder_;
  LineCutter lines_;
  PlainZone zone_;
  Caller caller_{0, "published through pywaggle"};
  Losses losses_;
  uint64_t texts_ = 0;
  Fd fd_;
  off_t offset_ = 0;
  std::vector<char> buffer_;
};

bool FileLog::open_file() {
  if (fd_.valid()) return true;
  Fd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  fd_ = std::move(fd);
  offset_ = 0;
  return true;
}

void FileLog::begin_again_if_cut_short() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0 || status.st_size >= offset_) return;
  lines_.cut_off(losses_);
  offset_ = 0;
}

bool FileLog::is_replaced() const {
  struct stat ours {};
  struct stat named {};
  if (::fstat(fd_.get(), &ours) != 0 || ::lstat(file_.c_str(), &named) != 0) return false;
  return identity(ours) != identity(named);
}

/// Gives how much it read; less than the limit when there is no more.
size_t FileLog::read_up_to(size_t limit) {
  size_t done = 0;
  while (done < limit && open_file()) {
    begin_again_if_cut_short();
    const ssize_t n =
        ::pread(fd_.get(), buffer_.data(), std::min(limit - done, buffer_.size()), offset_);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) {
      offset_ += n;
      done += static_cast<size_t>(n);
      lines_.feed({buffer_.data(), static_cast<size_t>(n)}, losses_,
                  [this](std::string_view line) { take(line); });
      continue;
    }
    if (!is_replaced()) break;
    lines_.cut_off(losses_);
    fd_.reset();
    if (!open_file()) break;
  }
  return done;
}

void FileLog::poll() {
  read_up_to(limits_.bytes_per_poll);
  losses_.tell(sink_);
}

void FileLog::finish() {
  if (read_up_to(kLastBytes) == kLastBytes) losses_.add(Trouble::left_unread);
  lines_.cut_off(losses_);
  losses_.tell(sink_);
}

void FileLog::take(std::string_view line) {
  const auto published = parse_pywaggle_line(line, losses_);
  if (!published) return;
  if (published->text) {
    ++texts_;
    return;
  }
  Reading reading;
  reading.name = published->name;
  reading.value = published->value;
  if (published->timer) reading.unit = "ns";
  const Arrival arrival{clock_.now(), clock_.wall()};
  if (published->local) {
    const Timestamp time = zone_.to_wall(*published->local, arrival.wall);
    reading.time = seconds(time.time_since_epoch());
  }
  recorder_.record(reading, caller_, arrival, losses_);
}

}  // namespace

std::unique_ptr<PywaggleLog> follow_pywaggle_log(const std::filesystem::path& folder,
                                                 const Clock& clock, SampleSink& sink,
                                                 const Limits& limits) {
  return std::make_unique<FileLog>(folder / kFile, clock, sink, limits);
}

}  // namespace assay::hooks
