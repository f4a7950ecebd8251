// SPDX-License-Identifier: Apache-2.0
// Writes 10,000 series as a scrape gets them, with values that changed since the last one: by Assay
// and by prometheus-cpp in turn, each timed by the thread's CPU time. Prints one JSON object.
//   expose_series ROUNDS              what each round took
//   expose_series print OURS THEIRS   the first round's two texts, for a comparison
#include <array>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <prometheus/text_serializer.h>
#include <string>
#include <string_view>
#include <vector>

#include <assay/promapi/exposition.h>

namespace {

using namespace assay::promapi;

constexpr size_t kContainers = 500;
constexpr std::array<std::string_view, 20> kNames{"container_cpu_usage_seconds_total",
                                                  "container_cpu_user_seconds_total",
                                                  "container_cpu_system_seconds_total",
                                                  "container_cpu_cfs_periods_total",
                                                  "container_cpu_cfs_throttled_periods_total",
                                                  "container_cpu_cfs_throttled_seconds_total",
                                                  "container_fs_reads_bytes_total",
                                                  "container_fs_writes_bytes_total",
                                                  "container_network_receive_bytes_total",
                                                  "container_network_transmit_bytes_total",
                                                  "container_oom_events_total",
                                                  "container_memory_usage_bytes",
                                                  "container_memory_working_set_bytes",
                                                  "container_memory_rss",
                                                  "container_memory_cache",
                                                  "container_memory_max_usage_bytes",
                                                  "container_spec_memory_limit_bytes",
                                                  "container_spec_cpu_quota",
                                                  "container_processes",
                                                  "container_threads"};
constexpr std::string_view kHelp = "What the kernel has counted for the container since its start.";

bool is_counter(std::string_view name) {
  return name.ends_with("_total");
}

/// One container's labels, as a Kubernetes node with containerd has them.
struct Container {
  std::string id, name, image, space, pod, app;

  explicit Container(size_t i)
      : id(fmt::format(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{0:08x}_4b1d_"
            "4c55_9d1f_{0:012x}.slice/cri-containerd-{0:064x}.scope",
            i * 2654435761U)),
        name(fmt::format("{:064x}", i * 2654435761U)),
        image(fmt::format("docker.io/waggle/plugin-objectcounter-{}:0.5.{}", i % 17, i % 5)),
        space(fmt::format("team-{}", i % 7)),
        pod(fmt::format("objectcounter-{:x}-{:05x}", i % 17, i)),
        app(fmt::format("objectcounter-{}", i % 17)) {}

  std::array<Label, 6> labels() const {
    return {{{"container", app},
             {"id", id},
             {"image", image},
             {"name", name},
             {"namespace", space},
             {"pod", pod}}};
  }
};

/// Seconds have decimals, the rest is whole.
double value_of(std::string_view name, size_t container, size_t round) {
  const double step = static_cast<double>(container * 7919 + round * 104729);
  if (name.find("seconds") != name.npos) return step * 0.001234567;
  return name.find("bytes") != name.npos ? step * 4096 : step;
}

/// Assay's side: labels are made once, a scrape writes.
class Ours {
 public:
  explicit Ours(const std::vector<Container>& containers) {
    labels_.reserve(containers.size());
    for (const auto& container : containers) labels_.emplace_back(container.labels());
    values_.resize(kNames.size() * kContainers);
  }
  void set(size_t family, size_t container, double value) {
    values_[family * kContainers + container] = value;
  }
  std::string_view scrape() {
    out_.start(TextFormat::classic);
    for (size_t f = 0; f < kNames.size(); ++f) {
      out_.family(kNames[f], is_counter(kNames[f]) ? FamilyKind::counter : FamilyKind::gauge,
                  kHelp);
      for (size_t c = 0; c < kContainers; ++c)
        out_.sample(labels_[c], values_[f * kContainers + c]);
    }
    return out_.finish();
  }

 private:
  std::vector<LabelText> labels_;
  std::vector<double> values_;
  Exposition out_;
};

/// prometheus-cpp's side: families that are there already; collecting them is not counted.
class Theirs {
 public:
  explicit Theirs(const std::vector<Container>& containers) {
    for (const auto name : kNames) {
      const auto type =
          is_counter(name) ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
      prometheus::MetricFamily family{std::string(name), std::string(kHelp), type, {}};
      for (const auto& container : containers) {
        auto& metric = family.metric.emplace_back();
        metric.label.reserve(container.labels().size());
        for (const auto& label : container.labels())
          metric.label.push_back({std::string(label.name), std::string(label.value)});
      }
      families_.push_back(std::move(family));
    }
  }
  void set(size_t family, size_t container, double value) {
    auto& metric = families_[family].metric[container];
    (is_counter(kNames[family]) ? metric.counter.value : metric.gauge.value) = value;
  }
  std::string scrape() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

template <class Side>
void change_values(Side& side, size_t round) {
  for (size_t f = 0; f < kNames.size(); ++f)
    for (size_t c = 0; c < kContainers; ++c) side.set(f, c, value_of(kNames[f], c, round));
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// CPU time of one scrape; `bytes` is what it wrote.
template <class Side>
double timed_scrape(Side& side, size_t round, size_t& bytes) {
  change_values(side, round);
  const double start = cpu_seconds();
  bytes = side.scrape().size();
  return cpu_seconds() - start;
}

double timed_gzip(Ours& ours, Gzip& gzip, size_t& bytes) {
  const std::string_view text = ours.scrape();
  const double start = cpu_seconds();
  bytes = gzip.compressed(text).value_or("").size();
  return cpu_seconds() - start;
}

std::string measured(Ours& ours, Theirs& theirs, size_t rounds) {
  Gzip gzip;
  std::string pairs;
  size_t our_bytes = 0;
  size_t their_bytes = 0;
  size_t packed_bytes = 0;
  double packing = 0;
  for (size_t round = 0; round < rounds; ++round) {
    // Who begins changes, so that neither always finds the caches as the other left them.
    double us = 0;
    if (round % 2 == 0) us = timed_scrape(ours, round, our_bytes);
    const double them = timed_scrape(theirs, round, their_bytes);
    if (round % 2 == 1) us = timed_scrape(ours, round, our_bytes);
    packing = timed_gzip(ours, gzip, packed_bytes);
    if (round > 1) pairs += fmt::format("{}[{}, {}]", pairs.empty() ? "" : ", ", us, them);
  }
  return fmt::format(
      R"({{"series": {}, "pairs": [{}], "our_bytes": {}, "their_bytes": {}, "gzip_seconds": {}, "gzip_bytes": {}}})",
      kNames.size() * kContainers, pairs, our_bytes, their_bytes, packing, packed_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Container> containers;
  containers.reserve(kContainers);
  for (size_t i = 0; i < kContainers; ++i) containers.emplace_back(i);
  Ours ours(containers);
  Theirs theirs(containers);
  if (argc == 4 && std::string_view(argv[1]) == "print") {
    change_values(ours, 1);
    change_values(theirs, 1);
    std::ofstream(argv[2]) << ours.scrape();
    std::ofstream(argv[3]) << theirs.scrape();
    return 0;
  }
  const size_t rounds = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (rounds < 3) return 2;
  fmt::print("{}\n", measured(ours, theirs, rounds));
}
