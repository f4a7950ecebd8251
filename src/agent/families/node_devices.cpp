// SPDX-License-Identifier: Apache-2.0
#include "families/kernel_text.h"
#include "families/node_rows.h"
#include "families/node_tables.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using promapi::FamilyWriter;
constexpr auto kCounter = promapi::FamilyKind::counter;
constexpr auto kGauge = promapi::FamilyKind::gauge;
constexpr std::string_view kDigits = "0123456789";

constexpr double kMilliseconds = 1000;
constexpr double kSectors = 1.0 / 512;

constexpr std::array<NodeColumn, 17> kDiskColumns = {{
    {"node_disk_reads_completed_total", kCounter, "Reads."},
    {"node_disk_reads_merged_total", kCounter, "Reads that became part of another one."},
    {"node_disk_read_bytes_total", kCounter, "Bytes read.", kSectors},
    {"node_disk_read_time_seconds_total", kCounter, "Time of all reads together.", kMilliseconds},
    {"node_disk_writes_completed_total", kCounter, "Writes."},
    {"node_disk_writes_merged_total", kCounter, "Writes that became part of another one."},
    {"node_disk_written_bytes_total", kCounter, "Bytes written.", kSectors},
    {"node_disk_write_time_seconds_total", kCounter, "Time of all writes together.", kMilliseconds},
    {"node_disk_io_now", kGauge, "Reads and writes under way."},
    {"node_disk_io_time_seconds_total", kCounter, "Time in which the disk was busy.",
     kMilliseconds},
    {"node_disk_io_time_weighted_seconds_total", kCounter,
     "Time in which the disk was busy, times what was under way.", kMilliseconds},
    {"node_disk_discards_completed_total", kCounter, "Discards."},
    {"node_disk_discards_merged_total", kCounter, "Discards that became part of another one."},
    {"node_disk_discarded_sectors_total", kCounter, "Sectors of 512 bytes discarded."},
    {"node_disk_discard_time_seconds_total", kCounter, "Time of all discards together.",
     kMilliseconds},
    {"node_disk_flush_requests_total", kCounter, "Flushes of the disk's own cache."},
    {"node_disk_flush_requests_time_seconds_total", kCounter, "Time of all flushes together.",
     kMilliseconds},
}};

/// nvme0n1p of nvme0n1p2.
bool is_nvme_part(std::string_view stem) {
  if (stem.substr(0, 4) != "nvme" || stem.back() != 'p') return false;
  stem = stem.substr(4, stem.size() - 5);
  const std::string_view controller = next_field(stem, 'n');
  return parse_uint(controller) && parse_uint(stem);
}

/// Disks in memory, loops, floppies, and the partitions of common disks: what node_exporter leaves
/// out unless it is told otherwise.
bool is_left_out(std::string_view disk) {
  const std::string_view stem = disk.substr(0, disk.find_last_not_of(kDigits) + 1);
  if (stem.size() == disk.size() || stem.empty()) return false;
  constexpr std::array<std::string_view, 4> kInMemory = {"ram", "zram", "loop", "fd"};
  constexpr std::array<std::string_view, 4> kBuses = {"hd", "sd", "vd", "xvd"};
  const std::string_view bus = stem.substr(0, stem.size() - 1);
  const bool is_part = std::find(kBuses.begin(), kBuses.end(), bus) != kBuses.end() &&
                       stem.back() >= 'a' && stem.back() <= 'z';
  return is_part || is_nvme_part(stem) ||
         std::find(kInMemory.begin(), kInMemory.end(), stem) != kInMemory.end();
}

class DiskTable final : public NodeTable {
 public:
  void write(std::string_view text, FamilyWriter& out) override {
    disks_.clear();
    for (std::string_view line; next_line(text, line);) {
      Words words(line);
      words.next();  // the numbers of the device
      words.next();
      const std::string_view name = words.next();
      if (name.empty() || is_left_out(name)) continue;
      for (double& value : disks_.add(name).values) value = words.next_number();
    }
    write_columns(out, kDiskColumns, disks_.rows());
  }

 private:
  NodeRows<kDiskColumns.size()> disks_{"device"};
};

constexpr size_t kUp = 16;
constexpr size_t kMtu = 17;
constexpr std::array<NodeColumn, 18> kNetworkColumns = {{
    {"node_network_receive_bytes_total", kCounter, "Bytes received."},
    {"node_network_receive_packets_total", kCounter, "Packets received."},
    {"node_network_receive_errs_total", kCounter, "Packets received with errors."},
    {"node_network_receive_drop_total", kCounter, "Packets received and dropped."},
    {"node_network_receive_fifo_total", kCounter, "Packets lost to a full queue of the device."},
    {"node_network_receive_frame_total", kCounter, "Packets received with a wrong frame."},
    {"node_network_receive_compressed_total", kCounter, "Compressed packets received."},
    {"node_network_receive_multicast_total", kCounter, "Packets received for many."},
    {"node_network_transmit_bytes_total", kCounter, "Bytes sent."},
    {"node_network_transmit_packets_total", kCounter, "Packets sent."},
    {"node_network_transmit_errs_total", kCounter, "Packets not sent for an error."},
    {"node_network_transmit_drop_total", kCounter, "Packets dropped instead of sent."},
    {"node_network_transmit_fifo_total", kCounter, "Packets not sent for the device's queue."},
    {"node_network_transmit_colls_total", kCounter, "Collisions."},
    {"node_network_transmit_carrier_total", kCounter, "Packets not sent for a lost carrier."},
    {"node_network_transmit_compressed_total", kCounter, "Compressed packets sent."},
    {"node_network_up", kGauge, "1: it is up."},
    {"node_network_mtu_bytes", kGauge, "The largest packet."},
}};

/// What /sys/class/net has of one interface. Opened again where it was replaced by another one of
/// its name.
class InterfaceFiles {
 public:
  void read(const SysRoot& root, std::string_view name, std::array<double, 18>& values) {
    if (name_ != name) open(root, name);
    auto state = pread_text(state_.get(), buffer_);
    if (!state && state_.valid()) {
      open(root, name);
      state = pread_text(state_.get(), buffer_);
    }
    values[kUp] = !state ? std::nan("") : trim(*state) == "up" ? 1 : 0;
    values[kMtu] = read_number(mtu_.get());
  }

 private:
  void open(const SysRoot& root, std::string_view name) {
    name_ = name;
    state_.reset();
    mtu_.reset();
    if (name.find('/') != name.npos) return;
    const auto file = [&](std::string_view attribute) {
      auto opened = root.open(fmt::format("/sys/class/net/{}/{}", name, attribute));
      return opened ? std::move(*opened) : Fd();
    };
    state_ = file("operstate");
    mtu_ = file("mtu");
  }

  std::string name_;
  Fd state_;
  Fd mtu_;
  std::array<char, 32> buffer_{};
};

class NetworkTable final : public NodeTable {
 public:
  explicit NetworkTable(const SysRoot& root) : root_(root) {}

  void write(std::string_view text, FamilyWriter& out) override {
    interfaces_.clear();
    size_t index = 0;
    for (std::string_view line; next_line(text, line);) {
      // The two lines of heads have no colon.
      if (line.find(':') == line.npos) continue;
      const std::string_view name = trim(next_field(line, ':'));
      if (name.empty()) continue;
      auto& values = interfaces_.add(name).values;
      Words words(line);
      for (size_t i = 0; i < kUp; ++i) values[i] = words.next_number();
      if (index == files_.size()) files_.emplace_back();
      files_[index++].read(root_, name, values);
    }
    files_.resize(index);
    write_columns(out, kNetworkColumns, interfaces_.rows());
  }

 private:
  SysRoot root_;
  NodeRows<kNetworkColumns.size()> interfaces_{"device"};
  std::vector<InterfaceFiles> files_;
};

}  // namespace

std::unique_ptr<NodeTable> disk_table() {
  return std::make_unique<DiskTable>();
}
std::unique_ptr<NodeTable> network_table(const SysRoot& root) {
  return std::make_unique<NetworkTable>(root);
}

}  // namespace assay::agent
