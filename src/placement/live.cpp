// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include <assay/placement/live.h>

namespace assay::placement {
namespace {

struct Question {
  LiveSeries::Series LiveSeries::*answer;
  const char* expression;
};

// Prometheus forgets a series at the first scrape that fails. Nodes of the last ten minutes are
// asked for, so that one that has gone can be named. Machines whose maker gave them no name have no
// model, but they have memory. The load is a share of all modes: it is right also for nodes that
// came within this minute; where nodes are scraped seldom, five minutes are looked at.
constexpr std::array kQuestions = {
    Question{&LiveSeries::identities,
             "last_over_time(char_node_device_model[10m]) or on (char_node_name, char_node_uuid) "
             "last_over_time(char_node_ram_total_bytes[10m])"},
    Question{&LiveSeries::identity_ages,
             "(time() - timestamp(char_node_device_model)) or "
             "(time() - max_over_time(timestamp(char_node_device_model)[10m:10s])) or on "
             "(char_node_name, char_node_uuid) "
             "((time() - timestamp(char_node_ram_total_bytes)) or "
             "(time() - max_over_time(timestamp(char_node_ram_total_bytes)[10m:10s])))"},
    Question{&LiveSeries::unames, "last_over_time(node_uname_info[10m])"},
    Question{&LiveSeries::busy,
             R"((1 - sum by (instance) (rate(node_cpu_seconds_total{mode="idle"}[1m])) /)"
             R"( sum by (instance) (rate(node_cpu_seconds_total[1m]))) or)"
             R"( (1 - sum by (instance) (rate(node_cpu_seconds_total{mode="idle"}[5m])) /)"
             R"( sum by (instance) (rate(node_cpu_seconds_total[5m]))))"},
    Question{&LiveSeries::busy_ages,
             R"(time() - max by (instance) (timestamp(node_cpu_seconds_total{mode="idle"})))"},
    Question{&LiveSeries::boots, "node_boot_time_seconds"},
    Question{
        &LiveSeries::cores,
        R"(max by (instance) (count by (instance, job) (node_cpu_seconds_total{mode="idle"})))"},
    Question{&LiveSeries::disk_used,
             R"(1 - node_filesystem_avail_bytes{mountpoint="/",fstype!="rootfs"} /)"
             R"( node_filesystem_size_bytes{mountpoint="/",fstype!="rootfs"})"},
    Question{&LiveSeries::memory_bytes, "node_memory_MemTotal_bytes"},
    Question{&LiveSeries::memory_available, "node_memory_MemAvailable_bytes"},
    Question{&LiveSeries::watts, "char_node_cpu_energy_watt"},
};

}  // namespace

Result<LiveSeries> read_live(promapi::Queries& queries, net::Stopper* stopper) {
  LiveSeries series;
  for (const auto& question : kQuestions) {
    ASSAY_TRY(auto answer, queries.instant(question.expression, stopper));
    series.*question.answer = std::move(answer.series);
  }
  if (series.identities.empty())
    return refused(
        "Prometheus knows no node: it has no series char_node_device_model, which assay-agent and "
        "EdgeCloud-Mon's characterization agent give; look at its page of targets");
  return series;
}

}  // namespace assay::placement
