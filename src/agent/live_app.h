// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "group_name.h"
#include "window.h"

#include <array>
#include <map>
#include <optional>
#include <string>

#include <assay/base/time.h>
#include <assay/probes/group.h>
#include <assay/promapi/labels.h>

namespace assay::agent {

/// Who an app is, as far as it is known by now. What its path tells is known at once; names come
/// from whoever runs it, a moment later.
struct AppIdentity {
  std::string path;  ///< of its control group
  GroupName group;
  std::string name;  ///< what people call it: the container's name, or the service's
  std::string image;
  std::string pod;
  std::string name_space;
  std::string container;  ///< its name within the pod
  std::map<std::string, std::string> labels;
  std::vector<std::string> labels_of_pod;  ///< which of them its pod gave, and may take away
};

/// Values that are summed up over the last seconds and minutes.
enum class Live : uint8_t {
  cores,
  memory,
  disk_read,
  disk_write,
  network_receive,
  network_transmit,
};
constexpr size_t kLives = static_cast<size_t>(Live::network_transmit) + 1;
/// "cores", "memory_bytes", "disk_read_bytes_per_second" ...
std::string_view to_string(Live live);

/// One app that runs, or has ended a moment ago.
class LiveApp {
 public:
  LiveApp(const SysRoot& root, const probes::GroupTree& tree, const std::string& path,
          GroupName group, Timestamp now);

  const AppIdentity& identity() const { return identity_; }
  void identify(AppIdentity identity);
  /// The six labels of cAdvisor: container, id, image, name, namespace, pod.
  const promapi::LabelText& labels() const { return labels_; }

  /// The first process that is in its group now; nothing while there is none.
  std::optional<pid_t> first_process() const;
  /// Its network is counted from now on.
  void watch_network_of(pid_t pid) { reader_.watch_network_of(pid); }
  /// It runs for at least as long as this process of it, which may be longer than we do.
  void runs_since(pid_t pid, Timestamp now);

  /// Reads what it uses; false when its group is gone.
  bool sample(Timestamp now);
  /// Reads all once more, at the end of its first process or of its last member, while its group
  /// is still there.
  void sample_end(Timestamp now);
  /// What is dearer to read is read more often: somebody decides by it.
  void watch_closely(bool closely) { closely_ = closely; }
  /// Makes place for windows of faster samples.
  void expect_faster_samples();
  /// The end was not its own: others of its processes go on.
  void go_on() { read_at_end_ = false; }
  /// Its group is gone.
  void end(Timestamp now);

  const probes::GroupUse& use() const { return use_; }
  const probes::GroupLimits& limits() const { return limits_; }
  /// Read anew, for who changes them.
  probes::GroupLimits limits_now() const { return reader_.limits(); }
  const Window& window(Live live) const { return windows_[static_cast<size_t>(live)]; }
  /// When we first saw it, and when it began.
  Timestamp appeared() const { return appeared_; }
  Timestamp started() const { return started_; }
  Timestamp last_seen() const { return last_seen_; }
  std::optional<Timestamp> ended() const { return ended_; }
  /// It has ended and its counters were not read at its end: they may lack its last moment.
  bool is_lower_bound() const { return ended_ && !read_at_end_; }

 private:
  using Totals = std::array<double, kLives>;
  Totals totals() const;
  void add_to_windows(Timestamp now, const Totals& before);
  bool read_slow(Timestamp now);

  SysRoot root_;
  AppIdentity identity_;
  promapi::LabelText labels_;
  probes::GroupReader reader_;
  probes::GroupUse use_;
  probes::GroupLimits limits_;
  std::array<Window, kLives> windows_;
  Timestamp appeared_;
  Timestamp started_;
  Timestamp last_seen_{};
  Timestamp last_slow_{};
  std::optional<Timestamp> ended_;
  bool read_at_end_ = false;
  bool closely_ = false;
};

}  // namespace assay::agent
