// SPDX-License-Identifier: Apache-2.0
#include "docker/log_pump.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <utility>

namespace assay::launch {
namespace {

constexpr auto kAttachTime = std::chrono::seconds(10);
/// Podman needs a while to notice the end.
constexpr auto kRestTime = std::chrono::seconds(3);
constexpr auto kPatience = Milliseconds(1000);
constexpr int kLooks = 3;
constexpr int kLookAgain = 20;  // milliseconds

Result<Fd> open_log(const std::filesystem::path& file) {
  const char* path = file.empty() ? "/dev/null" : file.c_str();
  Fd fd(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600));
  if (!fd.valid()) return refused_errno(fmt::format("cannot write {}", file.native()), errno);
  return fd;
}

}  // namespace

LogPump::LogPump(const net::Endpoint& endpoint, Fd standard, Fd error)
    : engine_(endpoint), files_{std::move(standard), std::move(error)} {
  engine_.set_patience(kPatience);
}

Result<std::unique_ptr<LogPump>> LogPump::start(const net::Endpoint& endpoint,
                                                const std::string& id,
                                                const std::filesystem::path& standard,
                                                const std::filesystem::path& error) {
  ASSAY_TRY(Fd out, open_log(standard));
  ASSAY_TRY(Fd err, open_log(error));
  std::unique_ptr<LogPump> pump(new LogPump(endpoint, std::move(out), std::move(err)));
  auto attached = pump->attached_.get_future();
  pump->thread_ = std::jthread([raw = pump.get(), id] { raw->run(id); });
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
  bool told = false;
  const auto tell = [&](Result<void> result) {
    if (!std::exchange(told, true)) attached_.set_value(std::move(result));
  };
  auto done = engine_.attach(
      id, [&] { tell({}); }, [this](Output output, std::string_view bytes) { take(output, bytes); },
      stopper_);
  tell(done ? Result<void>() : std::move(done));
  lost_daemon_ = !stopper_.stopped() && daemon_has_ended(id);
  ended_ = true;
  over_.set_value();
}

/// One that dies takes a moment to close its sockets, and we may come in between.
bool LogPump::daemon_has_ended(const std::string& id) {
  for (int look = 0; look < kLooks; ++look) {
    const auto state = engine_.inspect(id);
    if (state || state.error().kind == ErrorKind::input) return false;
    if (engine_.nobody_listens()) return true;
    ::poll(nullptr, 0, kLookAgain);
  }
  return false;
}

void LogPump::take(Output output, std::string_view bytes) {
  const Fd& file = files_[output == Output::error ? 1 : 0];
  if (!write_all(file.get(), bytes)) dropped_ += bytes.size();
}

void LogPump::finish() {
  gave_up_ = is_over_.wait_for(kRestTime) != std::future_status::ready;
  stopper_.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace assay::launch
