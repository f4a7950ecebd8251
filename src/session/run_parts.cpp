// SPDX-License-Identifier: Apache-2.0
#include "run_parts.h"

#include <fmt/format.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

Result<void> add_hooks(const RunContext& context, const Target& target, Parts& parts) {
  ASSAY_TRY(parts.socket_folder, SocketFolder::make());
  // In a container the app may be any user; on this machine the folder's own path is what protects
  // it.
  if (!target.image.empty()) parts.socket_folder->open_to_all();
  ASSAY_TRY(parts.hooks, hooks::listen(parts.socket_folder->socket(), context.clock, *parts.table));
  return {};
}

/// All that a container sends and receives passes the one cable that it has.
void note_shared_link(const Target& target, Parts& parts) {
  if (target.limits.network.empty() || (target.playback.empty() && target.needs.empty())) return;
  parts.gaps.push_back({"network link",
                        "playback and needs share the limited link with the rest "
                        "of what the app sends and receives"});
}

fs::path run_folder(const RunContext& context, const RunRecord& record) {
  return context.folder / fmt::format("run-{}", record.ordinal);
}

/// Shows what is waited for until the user is out of patience.
launch::Waiting waiting_for(const RunContext& context, const Target& target) {
  return [&context, &target](const std::string& what) {
    context.listener.progress(masked_text(what, target), 0, 0);
    return !interrupt_waits(context.options.interrupt_fd);
  };
}

Result<void> add_needs(const RunContext& context, const Target& target, const RunRecord& record,
                       Parts& parts) {
  if (context.containers == nullptr || target.needs.empty()) return {};
  launch::NeedsRequest request;
  request.session_id = context.session_id;
  request.run = record.ordinal;
  request.target = target;
  request.folder = run_folder(context, record);
  ASSAY_TRY(parts.needs, context.containers->start_needs(request, waiting_for(context, target)));
  return {};
}

}  // namespace

Parts make_parts(const RunContext& context, const Target& target, const RunRecord& record,
                 bool attached) {
  Parts parts;
  parts.recorder = store::make_recorder(context.store, context.session_id, record.ordinal);
  parts.table = std::make_unique<LiveTable>(*parts.recorder);
  if (!context.lock_note.empty()) parts.gaps.push_back({"device lock", context.lock_note});
  note_shared_link(target, parts);
  if (attached || context.jobs != nullptr) return parts;
  if (auto added = add_hooks(context, target, parts); !added) {
    parts.socket_folder.reset();
    parts.gaps.push_back({"self-reported metrics", added.error().message});
  }
  return parts;
}

Result<void> add_supplies(const RunContext& context, const Target& target, const RunRecord& record,
                          Parts& parts) {
  if (context.supplies == nullptr) return {};
  ASSAY_CHECK(add_needs(context, target, record, parts));
  ASSAY_TRY(auto supplies,
            RunSupplies::make(target, *context.supplies, context.containers, parts.needs.get(),
                              run_folder(context, record), context.clock, *parts.table,
                              waiting_for(context, target)));
  parts.supplies.emplace(std::move(supplies));
  return {};
}

launch::Request request_for(const RunContext& context, const Target& target,
                            const RunRecord& record, const Parts& parts) {
  const fs::path folder = run_folder(context, record);
  launch::Request request;
  request.session_id = context.session_id;
  request.run = record.ordinal;
  request.target = target;
  request.own_cgroup = context.options.own_cgroup;
  request.stdout_file = folder / "stdout.log";
  request.stderr_file = folder / "stderr.log";
  if (parts.socket_folder) request.socket = parts.socket_folder->socket();
  if (parts.supplies) parts.supplies->put_into(request);
  if (parts.needs) parts.needs->put_into(request);
  return request;
}

void stop_needs(const RunContext& context, const Target& target, Parts& parts, RunRecord& record,
                RunEnd& end) {
  if (!parts.needs) return;
  for (auto& note : parts.needs->stop(target.grace, waiting_for(context, target)))
    record.not_measured.push_back(std::move(note));
  if (!end.trouble) end.trouble = parts.needs->left_behind();
}

}  // namespace assay::session
