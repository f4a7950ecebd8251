// SPDX-License-Identifier: Apache-2.0
#include "docker/log_pump.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace assay::launch {
namespace {

constexpr auto kAttachTime = std::chrono::seconds(10);
/// Podman needs a while to notice the end.
constexpr auto kRestTime = std::chrono::seconds(3);

Result<Fd> open_log(const std::filesystem::path& file) {
  const char* path = file.empty() ? "/dev/null" : file.c_str();
  Fd fd(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600));
  if (!fd.valid()) return refused_errno(fmt::format("cannot write {}", file.native()), errno);
  return fd;
}

}  // namespace

LogPump::LogPump(const net::Endpoint& endpoint, Fd standard, Fd error)
    : engine_(endpoint), files_{std::move(standard), std::move(error)} {}

Result<std::unique_ptr<LogPump>> LogPump::start(const net::Endpoint& endpoint,
                                                const std::string& id,
                                                const std::filesystem::path& standard,
                                                const std::filesystem::path& error) {
  ASSAY_TRY(Fd out, open_log(standard));
  ASSAY_TRY(Fd err, open_log(error));
  std::unique_ptr<LogPump> pump(new LogPump(endpoint, std::move(out), std::move(err)));
  auto attached = pump->attached_.get_future();
  pump->thread_ = std::thread([raw = pump.get(), id] { raw->run(id); });
  if (attached.wait_for(kAttachTime) != std::future_status::ready)
    return refused("the container daemon does not hand over the app's output");
  ASSAY_CHECK(attached.get());
  return pump;
}

LogPump::~LogPump() {
  stopper_.stop();
  if (thread_.joinable()) thread_.join();
}

void LogPump::run(const std::string& id) {
  const auto tell = [this](Result<void> result) {
    if (!told_.exchange(true)) attached_.set_value(std::move(result));
  };
  auto done = engine_.attach(
      id, [&] { tell({}); }, [this](Output output, std::string_view bytes) { take(output, bytes); },
      stopper_);
  tell(done ? Result<void>() : std::move(done));
  ended_ = true;
  over_.set_value();
}

void LogPump::take(Output output, std::string_view bytes) {
  const Fd& file = files_[output == Output::error ? 1 : 0];
  if (!write_all(file.get(), bytes)) dropped_ += bytes.size();
}

void LogPump::finish() {
  is_over_.wait_for(kRestTime);
  stopper_.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace assay::launch
