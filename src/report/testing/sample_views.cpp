// SPDX-License-Identifier: Apache-2.0
#include "sample_views.h"

#include <cmath>

namespace assay::report::testing {
namespace {

using analysis::Distribution;

constexpr Timestamp kStart = from_unix_ns(1'769'860'800'000'000'000);  // 2026-01-31T12:00:00Z

Goal fps_goal() {
  return {"fps", "mean", Comparison::greater_equal, 10, "fps >= 10"};
}
Goal latency_goal() {
  return {"latency", "p95", Comparison::less_equal, 0.2, "latency.p95 <= 200ms"};
}
Goal accuracy_goal() {
  return {"accuracy", "mean", Comparison::greater, 0.5, "accuracy > 0.5"};
}

Device pi() {
  Device device;
  device.hostname = "pole-17";
  device.model = "Raspberry Pi 4 Model B Rev 1.4";
  device.device_class = "Computer";
  device.cpu_model = "Cortex-A72";
  device.architecture = "aarch64";
  device.cores = 4;
  device.memory_bytes = 4'000'000'000;
  device.os = "Debian GNU/Linux 12 (bookworm)";
  device.kernel = "6.1.21-v8+";
  return device;
}

BoardState board() {
  BoardState state;
  state.governor = "ondemand";
  state.min_frequency_hertz = 6e8;
  state.max_frequency_hertz = 1.5e9;
  state.kernel = "6.1.21-v8+";
  state.load_before = 0.21;
  return state;
}

RunRecord finished_run(int target, std::vector<std::string> arguments) {
  RunRecord run;
  run.ordinal = target + 1;
  run.target_index = target;
  run.target.command = {"python3", "main.py"};
  for (auto& argument : arguments) run.target.command.push_back(std::move(argument));
  run.target.env = {{"MODEL", "yolo.onnx"}, {"TOKEN", "***"}};
  run.target.timeout = std::chrono::seconds(60);
  run.target.warmup = std::chrono::seconds(5);
  run.target.goals = {fps_goal(), latency_goal()};
  run.runtime = "process";
  run.isolation = "cgroup v2";
  run.status = RunStatus::finished;
  run.exit.code = 0;
  run.exit.user_seconds = 96.2;
  run.exit.system_seconds = 8.3;
  run.exit.max_rss_bytes = 598'000'000;
  run.started = kStart + std::chrono::seconds(70 * target);
  run.ended = run.started + std::chrono::seconds(60);
  run.board = board();
  run.sampling =
      Sampling{Milliseconds(100), Nanoseconds(100'020'000), 600, 2, Milliseconds(61), 0.31};
  run.not_measured = {
      {"power",
       "this board has no power sensor that Linux can read; an inline USB meter can be added"},
      {"GPU", "no NVIDIA driver on this machine"}};
  run.losses = {{"hooks", "lines that were not JSON", 3}};
  return run;
}

SessionRecord session() {
  SessionRecord record;
  record.id = "20260131-120000-7f3a";
  record.app = {"waggle", "objcounter", "0.0.0", ""};
  record.device = pi();
  record.user = "ada";
  record.assay_version = "0.1.0";
  record.created = kStart;
  record.folder = "/home/ada/assay/20260131-120000-7f3a";
  return record;
}

Distribution distribution(double mean, double peak, std::string unit, std::string source) {
  const double wide = peak - mean;
  return {mean,       mean * 0.98, mean + wide * 0.6, mean + wide * 0.8, peak,
          mean * 0.1, 550,         std::move(unit),   std::move(source)};
}

analysis::RunAnalysis analysis(double scale) {
  analysis::RunAnalysis a;
  a.footprint = {
      {"cpu_cores", distribution(1.83 * scale, 2.4 * scale, "cores", "cgroup v2 cpu.stat")},
      {"memory_bytes", distribution(5.8e8, 6.12e8, "bytes", "cgroup v2 memory.current")},
      {"disk_read_bytes_per_second",
       distribution(1.2e6, 4.5e7, "bytes per second", "cgroup v2 io.stat")},
      {"network_receive_bytes_per_second",
       distribution(2.5e6, 3.1e6, "bytes per second", "/proc/net/dev")},
      {"threads", distribution(11, 14, "threads", "cgroup v2 pids.current")}};
  a.node = {{"cpu_cores", distribution(2.02 * scale, 2.9 * scale, "cores", "/proc/stat")},
            {"memory_bytes", distribution(1.4e9, 1.5e9, "bytes", "/proc/meminfo")}};
  a.metrics = {
      {"fps", distribution(12.4 / scale, 14 / scale, "", "reported by pid 4711")},
      {"latency", distribution(0.08 * scale, 0.32 * scale, "seconds", "reported by pid 4711")}};
  const double fps = a.metrics[0].second.mean;
  const double latency = a.metrics[1].second.p95;
  a.goals = {{fps_goal(), fps, fps >= 10, ""},
             {latency_goal(), latency, latency <= 0.2, "seconds"}};
  a.advice = {{"The app waits for its disk in bursts.",
               "Disk read peaks at 45 MB/s against a mean of 1.2 MB/s.",
               "Load the model once before the loop, or put it on a faster disk."}};
  return a;
}

/// One series of a run: a smooth shape with a fixed ripple, 10 values a second.
class Recorder {
 public:
  Recorder(MemorySeries& out, Timestamp start) : out_(out), start_(start) {}

  void gauge(const SeriesInfo& info, double base, double swing) {
    const SeriesId id = out_.declare(info);
    for (int i = 0; i < kBeats; ++i) out_.sample(id, at(i), value(i, base, swing));
  }
  void counter(const SeriesInfo& info, double base, double swing) {
    const SeriesId id = out_.declare(info);
    double total = 0;
    for (int i = 0; i < kBeats; ++i) out_.sample(id, at(i), total += 0.1 * value(i, base, swing));
  }
  void events(const std::string& name, const std::string& unit, double base, double swing) {
    const SeriesId id =
        out_.declare({name, unit, Kind::event, Scope::app, "reported by pid 4711", {}});
    for (int i = 0; i < kBeats; i += 7) out_.sample(id, at(i), value(i, base, swing));
  }

 private:
  static constexpr int kBeats = 600;
  Timestamp at(int beat) const { return start_ + Milliseconds(100) * beat; }
  static double value(int beat, double base, double swing) {
    const double warm = beat < 50 ? 0.3 + beat * 0.014 : 1;
    const double ripple =
        std::sin(beat * 0.05) * 0.5 + std::sin(beat * 0.83) * 0.3 + std::sin(beat * 7.1) * 0.2;
    return std::max(0.0, base * warm + swing * ripple);
  }
  MemorySeries& out_;
  Timestamp start_;
};

std::unique_ptr<MemorySeries> recording(Timestamp start, double scale, bool hostile) {
  auto memory = std::make_unique<MemorySeries>();
  Recorder record(*memory, start);
  const auto app = [](MetricId id) { return describe(id, Scope::app, "cgroup v2"); };
  record.counter(app(MetricId::cpu_usage_seconds_total), 1.83 * scale, 0.3);
  record.counter(app(MetricId::cpu_user_seconds_total), 1.5 * scale, 0.25);
  record.counter(app(MetricId::cpu_system_seconds_total), 0.33 * scale, 0.05);
  record.gauge(app(MetricId::memory_bytes), 5.8e8, 2e7);
  record.gauge(app(MetricId::memory_rss_bytes), 5.2e8, 2e7);
  record.gauge(app(MetricId::memory_swap_bytes), 0, 0);
  record.gauge(app(MetricId::threads), 11, 0);
  record.counter(app(MetricId::disk_read_bytes_total), 1.2e6, 4e6);
  record.counter(app(MetricId::network_receive_bytes_total), 2.5e6, 5e5);
  record.events("fps", "", 12.4 / scale, 1);
  record.events("latency", "seconds", 0.08 * scale, 0.02);
  if (hostile) {
    record.events(kHostileScript, "", 3, 1);
    record.events(kHostileImage, "", 5, 1);
  }
  record.counter(describe(MetricId::cpu_usage_seconds_total, Scope::node, "/proc/stat"),
                 2.0 * scale, 0.3);
  record.gauge(describe(MetricId::load1, Scope::node, "/proc/loadavg"), 2.1, 0.4);
  for (const char* zone : {"cpu-thermal", "<b>gpu</b>"}) {
    record.gauge(
        describe(MetricId::temperature_celsius, Scope::node, "thermal_zone", {{"zone", zone}}), 58,
        2);
  }
  record.counter(describe(MetricId::profiler_cpu_seconds_total, Scope::profiler, "getrusage"),
                 0.005, 0.001);
  record.gauge(describe(MetricId::profiler_memory_bytes, Scope::profiler, "/proc/self/statm"), 9e6,
               1e4);
  return memory;
}

std::unique_ptr<MemorySeries> few_samples() {
  auto memory = std::make_unique<MemorySeries>();
  const SeriesId cpu = memory->declare(
      describe(MetricId::cpu_usage_seconds_total, Scope::app, "cgroup v2 cpu.stat"));
  const SeriesId fps =
      memory->declare({"fps, \"main\"", "", Kind::event, Scope::app, "reported by pid 4711", {}});
  const SeriesId heat = memory->declare(
      describe(MetricId::temperature_celsius, Scope::node, "thermal_zone0", {{"zone", "cpu"}}));
  for (int i = 0; i < 3; ++i) memory->sample(cpu, kStart + Milliseconds(100) * i, 0.2 * i);
  memory->sample(fps, kStart + Nanoseconds(1), 12.5);
  memory->sample(heat, kStart, 51);
  return memory;
}

}  // namespace

SessionView small_view() {
  SessionView view;
  view.session = session();
  view.session.runs = {finished_run(0, {"--use-gpu"})};
  view.session.runs[0].target.goals.push_back(accuracy_goal());
  analysis::RunAnalysis a = analysis(1);
  a.goals.push_back({accuracy_goal(), std::nullopt, false, ""});
  a.answer = "needs 2.17 cores and 612 MB; reached 12.4 of 10 fps";
  view.runs.push_back({std::move(a), few_samples(), "", {}});
  return view;
}

SessionView failed_view() {
  SessionView view = small_view();
  RunRecord& run = view.session.runs[0];
  run.status = RunStatus::failed;
  run.exit.code = 1;
  run.exit.detail = "exited with code 1";
  run.target.warmup = Nanoseconds(0);
  view.runs[0].last_words = "Traceback:\n  no camera <found>";
  return view;
}

SessionView many_runs_view(int count) {
  SessionView view = small_view();
  view.session.runs[0].target.repeat = count;
  for (int i = 1; i < count; ++i) {
    RunRecord run = view.session.runs[0];
    run.ordinal = i + 1;
    run.repeat_index = i;
    view.session.runs.push_back(run);
    view.runs.push_back({view.runs[0].analysis, few_samples(), "", {}});
  }
  return view;
}

SessionView page_view() {
  SessionView view;
  view.session = session();
  view.session.runs = {finished_run(0, {"-interval", "1", "--use-gpu"}),
                       finished_run(1, {"--use-cpu"})};
  Limits& limits = view.session.runs[1].target.limits;
  limits.cpus = 2.0;
  limits.memory_bytes = 1'073'741'824;
  view.session.runs[1].not_measured.push_back({kHostileImage, "a probe with a hostile name"});
  analysis::RunAnalysis fast = analysis(1);
  fast.goals[1].value = 0.12;
  fast.goals[1].met = true;
  fast.answer =
      "needs 2.17 cores and 612 MB; reached 12.4 of 10 fps and latency.p95 120 ms, within the 200 "
      "ms allowed";
  analysis::RunAnalysis slow = analysis(1.6);
  slow.answer =
      "needs 3.48 cores and 612 MB; reached 7.75 of 10 fps and latency.p95 358 ms, over the 200 ms "
      "allowed";
  slow.advice.push_back({"The app is held back by its CPU limit of 2 cores.",
                         "It was held back 41 % of the time.",
                         "Give it 3 cores, or accept fewer frames."});
  slow.others = {{"cpu_cores", distribution(1.3, 1.9, "cores", "/proc/stat, less the app")},
                 {"disk_read_bytes_per_second",
                  distribution(2e6, 9e6, "bytes per second", "/proc/diskstats, less the app")}};
  slow.disturbed = true;
  slow.disturbance =
      "others used 1.3 of 4 cores during the run: the numbers may be worse than on a quiet machine";
  view.session.runs[1].others = {{"ffmpeg", 0.9}, {"<b>backup</b>", 0.32}};
  fast.others = {{"cpu_cores", distribution(0.12, 0.4, "cores", "/proc/stat, less the app")}};
  fast.disturbed = false;
  fast.needs = {{"broker",
                 {{"cpu_cores", distribution(0.2, 0.5, "cores", "cgroup v2 cpu.stat")},
                  {"memory_bytes", distribution(8e7, 9e7, "bytes", "cgroup v2")}}}};
  slow.metrics.push_back({kHostileScript, distribution(3, 4, "", "reported by pid 4711")});
  const Timestamp second = view.session.runs[1].started;
  view.runs.push_back({std::move(fast), recording(kStart, 1, false), "", {}});
  view.runs.push_back({std::move(slow), recording(second, 1.6, true), "", {}});
  return view;
}

}  // namespace assay::report::testing
