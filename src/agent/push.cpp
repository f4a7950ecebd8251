// SPDX-License-Identifier: Apache-2.0
#include "push.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <vector>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using promapi::FamilyKind;
using promapi::FamilyWriter;
using promapi::Label;
using promapi::LabelText;

constexpr auto kShortestPush = Milliseconds(100);

/// What the operator says comes first.
std::vector<Label> external_labels(const RemoteWrite& settings, const std::string& instance) {
  std::vector<Label> labels;
  for (const auto& [name, value] : settings.labels) labels.push_back({name, value});
  labels.push_back({"instance", instance});
  labels.push_back({"job", "assay"});
  return labels;
}

promapi::RemoteWriteOptions options_of(const RemoteWrite& settings) {
  promapi::RemoteWriteOptions options;
  options.url = settings.url;
  options.ca_file = settings.ca_file;
  options.certificate_file = settings.certificate_file;
  options.key_file = settings.key_file;
  options.bearer_token_file = settings.bearer_token_file;
  options.basic_auth_file = settings.basic_auth_file;
  return options;
}

void write_dropped(FamilyWriter& out, const promapi::QueueCounts& queue, uint64_t refused,
                   uint64_t late) {
  out.family("assay_agent_remote_write_dropped_samples_total", FamilyKind::counter,
             "Samples that were lost: the queue was full, the disk did not take them, the receiver "
             "refused them, or the clock was set back.");
  const auto one = [&](std::string_view reason, uint64_t count) {
    out.sample(LabelText(), Label{"reason", reason}, static_cast<double>(count));
  };
  one("queue_full", queue.lost_samples);
  one("disk", queue.refused_samples);
  one("refused", refused);
  one("clock", late);
}

}  // namespace

Result<std::filesystem::path> queue_folder(const RemoteWrite& settings) {
  if (!settings.queue.empty()) return settings.queue;
  const char* const variable = std::getenv("STATE_DIRECTORY");
  std::string_view folders = variable != nullptr ? variable : "";
  const std::string_view first = next_field(folders, ':');
  if (first.empty())
    return bad_input("remote write keeps on disk what is not sent yet: name a folder by --queue");
  return std::filesystem::path(first) / "remote-write";
}

Result<std::unique_ptr<Push>> Push::open(const RemoteWrite& settings, const std::string& instance,
                                         const Clock& clock, Tell tell) {
  if (settings.interval < kShortestPush)
    return bad_input("remote write: its interval has to be at least 100 ms");
  ASSAY_TRY(const auto folder, queue_folder(settings));
  promapi::QueueLimits limits;
  limits.bytes = settings.queue_size;
  ASSAY_TRY(auto queue, promapi::DiskQueue::open(folder, limits));
  return std::unique_ptr<Push>(
      new Push(settings, instance, clock, std::move(tell), std::move(queue)));
}

Push::Push(RemoteWrite settings, const std::string& instance, const Clock& clock, Tell tell,
           std::unique_ptr<promapi::DiskQueue> queue)
    : settings_(std::move(settings)),
      clock_(clock),
      tell_(std::move(tell)),
      queue_(std::move(queue)),
      writer_(external_labels(settings_, instance),
              [this](std::string_view request, uint32_t samples) { keep(request, samples); }) {}

Result<void> Push::start_sending(Tell tell) {
  ASSAY_TRY(sender_, promapi::RemoteWriteSender::start(options_of(settings_), *queue_, clock_,
                                                       std::move(tell)));
  return {};
}

void Push::pass(const Write& write) {
  writer_.start(clock_.wall());
  write(writer_);
  writer_.finish();
  ++passes_;
}

void Push::keep(std::string_view request, uint32_t samples) {
  const auto kept = queue_->push(request, samples);
  if (!kept && !disk_failing_)
    tell_(fmt::format("remote write: samples are lost: {}", kept.error().message));
  if (kept && disk_failing_) tell_("remote write: the queue takes samples again");
  disk_failing_ = !kept;
}

void Push::write_own(FamilyWriter& out) const {
  const promapi::QueueCounts queue = queue_->counts();
  const auto status = sender_ ? sender_->status() : promapi::RemoteWriteStatus();
  const auto one = [&](std::string_view name, FamilyKind kind, std::string_view help,
                       double value) {
    out.family(name, kind, help);
    out.sample(LabelText(), value);
  };
  one("assay_agent_remote_write_passes_total", FamilyKind::counter,
      "How often all samples were queued; one that is missing at the receiver was lost.",
      static_cast<double>(passes_));
  one("assay_agent_remote_write_sent_samples_total", FamilyKind::counter,
      "Samples that the receiver has taken.", static_cast<double>(status.sent_samples));
  write_dropped(out, queue, status.dropped_samples, writer_.late_samples());
  one("assay_agent_remote_write_retries_total", FamilyKind::counter,
      "Requests that failed and were sent again.", static_cast<double>(status.retries));
  one("assay_agent_remote_write_queued_samples", FamilyKind::gauge, "Samples that wait to be sent.",
      static_cast<double>(queue.queued_samples));
  one("assay_agent_remote_write_queue_bytes", FamilyKind::gauge, "What the queue takes on disk.",
      static_cast<double>(queue.disk_bytes));
  one("assay_agent_remote_write_queue_limit_bytes", FamilyKind::gauge,
      "What the queue may take on disk.", static_cast<double>(settings_.queue_size));
  if (!status.last_success) return;
  one("assay_agent_remote_write_seconds_since_success", FamilyKind::gauge,
      "For how long the receiver has taken nothing.",
      std::max(0.0, seconds(clock_.wall() - *status.last_success)));
}

}  // namespace assay::agent
