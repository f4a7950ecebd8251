// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "device_gpu.h"
#include "exit_code.h"
#include "lock_options.h"
#include "placement_options.h"
#include "share_options.h"
#include "signals.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/base/text.h>
#include <assay/collect/calibrate.h>
#include <assay/store/shelf.h>

namespace assay::cli {
namespace {

using collect::Calibration;

constexpr const char* kFooter = R"(
Examples:
  assay device calibrate                         this machine, by its own name
  assay device calibrate --name pole-7 --quick
  assay device calibrate --cpus 0 --quota 0.5 --name half-a-core
  assay device list
  assay device remove half-a-core

What was measured is kept in devices/NAME.json beside the history, where `assay train` looks.
)";

struct DeviceArguments {
  collect::CalibrateOptions options;
  ShareArguments share;
  LockArguments lock;
  std::string name;
  std::string shared;
  bool json = false;
};

double figure(const Calibration& found, const std::string& name) {
  const auto& figures = found.device.figures;
  const auto at = figures.find(name);
  return at == figures.end() ? 0 : at->second;
}

/// "129 G, 257 G on all cores": what is done in a second.
std::string pair_text(const Calibration& found, const std::string& name, const char* unit) {
  return fmt::format("{} {} on one core, {} {} on all",
                     format_number(figure(found, name + "_one_core") / 1e9), unit,
                     format_number(figure(found, name) / 1e9), unit);
}

void print_line(const std::string& what, const std::string& text) {
  fmt::print("  {:<18}{}\n", what, text);
}

std::string latency_text(const Calibration& found) {
  std::string text = format_number(figure(found, "latency_seconds") * 1e9) + " ns alone";
  const double contended = figure(found, "latency_contended_seconds");
  if (contended > 0) text += fmt::format(", {} ns beside others", format_number(contended * 1e9));
  return text;
}

/// "launch_seconds.opencv" and "disk_read_bytes_per_second" as a line calls them.
std::string short_name(const std::string& name) {
  const size_t point = name.find('.');
  if (point != name.npos) return name.substr(point + 1);
  return name.substr(0, name.find('_'));
}

void print_launches(const Calibration& found) {
  constexpr std::string_view kLaunch = "launch_seconds.";
  for (const auto& [name, value] : found.device.figures) {
    if (!name.starts_with(kLaunch)) continue;
    print_line(short_name(name),
               fmt::format("{} µs for each operator", format_number(value * 1e6)));
  }
}

std::string rate_text(const Calibration& found, const char* name) {
  const double rate = figure(found, name);
  return rate > 0 ? format_bytes(rate) + "/s" : "not measured";
}

void print_shaky(const Calibration& found) {
  constexpr double kShaky = 0.03;
  for (const auto& [name, spread] : found.spread) {
    if (spread > kShaky)
      fmt::print("  {} may be off by {:.0f} %: something else was going on\n", name, 100 * spread);
  }
}

void print_calibration(const Calibration& found) {
  const auto& device = found.device;
  fmt::print("{}: {}, {}, {} cores, {}\n", device.name, device.model, device.kind,
             format_number(device.cores), format_bytes(device.memory_bytes));
  print_line("float32", pair_text(found, "flops_float32", "GFLOPS"));
  print_line("float64", pair_text(found, "flops_float64", "GFLOPS"));
  print_line("int8", pair_text(found, "ops_int8", "GOPS"));
  print_line("memory", pair_text(found, "bandwidth", "GB/s"));
  print_line("latency", latency_text(found));
  print_launches(found);
  for (const auto& [what, text] : gpu_lines(found)) print_line(what, text);
  print_line("disk",
             fmt::format("reads {}, writes {}", rate_text(found, "disk_read_bytes_per_second"),
                         rate_text(found, "disk_write_bytes_per_second")));
  const bool has_peer = figure(found, "network_bytes_per_second") > 0;
  print_line("network", has_peer ? rate_text(found, "network_bytes_per_second")
                                 : rate_text(found, "loopback_bytes_per_second") +
                                       " to itself; --peer measures a real one");
  for (const auto& [name, why] : found.missing)
    print_line(gpu_name(name).value_or(short_name(name)), "not measured: " + why);
  print_shaky(found);
}

void show_doing(const std::string& what) {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[Kmeasuring {} ...", what);
}

Result<void> share(const std::string& url, const Calibration& found) {
  if (url.empty()) return {};
  ASSAY_TRY(const auto shelf, store::Shelf::open(url));
  return shelf->put("device", found.device.name, collect::calibration_text(found));
}

/// Those beside the history, or those that machines share.
Result<std::vector<Result<Calibration>>> load(const std::string& url,
                                              const std::filesystem::path& store) {
  if (url.empty()) return collect::load_calibrations(collect::devices_folder(store));
  ASSAY_TRY(const auto shelf, store::Shelf::open(url));
  ASSAY_TRY(const auto documents, shelf->list("device"));
  std::vector<Result<Calibration>> found;
  for (const auto& document : documents)
    found.push_back(collect::read_calibration(nlohmann::json::parse(document.json, nullptr, false),
                                              "the shared store, " + document.name));
  return found;
}

Result<int> calibrate(DeviceArguments& args, const std::filesystem::path& store) {
  auto& options = args.options;
  ASSAY_TRY(options.share, read_share(args.share));
  const auto folder = collect::devices_folder(store);
  if (const auto& peer = options.peer; !peer.empty()) {
    const size_t colon = peer.rfind(':');
    if (colon == 0 || colon == peer.npos || !parse_uint(peer.substr(colon + 1)))
      return bad_input(
          fmt::format("--peer: '{}' is no address and port, like 192.0.2.7:5201", peer));
  }
  if (!options.name.empty()) ASSAY_CHECK(collect::calibration_file(folder, options.name));
  options.folder = std::filesystem::temp_directory_path();
  options.gpu_command = {"/proc/self/exe", "device", "gpu-figures"};
  if (options.quick) options.gpu_command.emplace_back("--quick");
  ASSAY_TRY(const auto inside, collect::enter(options.share));
  if (inside.ended) return *inside.ended;
  ASSAY_TRY(const auto lock, lock_device(args.lock, "assay device calibrate"));
  const Signals signals;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) options.folder = folder;
  const auto found = collect::calibrate(options, {show_doing, [&] { return !signals.came(); }});
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  if (signals.came()) return kInterrupted;
  if (!found) return fail(found.error());
  ASSAY_TRY(const auto file, collect::store_calibration(folder, *found));
  ASSAY_CHECK(share(args.shared, *found));
  if (args.json) {
    fmt::print("{}\n", collect::calibration_text(*found));
  } else {
    print_calibration(*found);
    fmt::print("\nkept in {}\n", file.native());
  }
  return kDone;
}

Result<int> list(const DeviceArguments& args, const std::filesystem::path& store) {
  const bool json = args.json;
  nlohmann::json documents = nlohmann::json::array();
  ASSAY_TRY(const auto found, load(args.shared, store));
  if (!json && found.empty())
    fmt::print("no device is known; `assay device calibrate` measures this one\n");
  if (!json && !found.empty())
    fmt::print("{:<20}{:<30}{:>6}{:>12}{:>11}  {}\n", "NAME", "MODEL", "CORES", "GFLOPS", "GB/s",
               "MEASURED");
  for (const auto& each : found) {
    if (!each) {
      fmt::print(stderr, "assay: {}\n", each.error().message);
    } else if (json) {
      documents.push_back(collect::calibration_document(*each));
    } else {
      fmt::print("{:<20}{:<30}{:>6}{:>12}{:>11}  {}\n", each->device.name,
                 each->device.model.substr(0, 28), format_number(each->device.cores),
                 format_number(figure(*each, "flops_float32") / 1e9),
                 format_number(figure(*each, "bandwidth") / 1e9), format_utc(each->measured));
    }
  }
  if (json)
    fmt::print("{}\n", documents.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  return kDone;
}

Result<std::filesystem::path> known_file(const DeviceArguments& args,
                                         const std::filesystem::path& store) {
  ASSAY_TRY(auto file, collect::calibration_file(collect::devices_folder(store), args.name));
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return bad_input(fmt::format(
        "no device '{}' is known; `assay device list` shows those that are", args.name));
  return file;
}

/// From beside the history, and from what machines share.
Result<int> remove(const DeviceArguments& args, const std::filesystem::path& store) {
  bool was_there = false;
  if (!args.shared.empty()) {
    ASSAY_TRY(const auto shelf, store::Shelf::open(args.shared));
    ASSAY_TRY(was_there, shelf->remove("device", args.name));
  }
  const auto file = known_file(args, store);
  if (!file && !was_there) return fail(file.error());
  std::error_code error;
  if (file && !std::filesystem::remove(*file, error))
    return refused(fmt::format("cannot remove {}: {}", file->native(), error.message()));
  fmt::print("{} is forgotten; what was learned with it stays until `assay train`\n", args.name);
  return kDone;
}

Result<int> show(const DeviceArguments& args, const std::filesystem::path& store) {
  ASSAY_TRY(const auto file, known_file(args, store));
  ASSAY_TRY(const Calibration found, collect::load_calibration(file));
  if (args.json) {
    fmt::print("{}\n", collect::calibration_text(found));
    return kDone;
  }
  print_calibration(found);
  fmt::print("\nmeasured {}\n", format_utc(found.measured));
  return kDone;
}

void add_calibrate(CLI::App& device, const std::shared_ptr<DeviceArguments>& args,
                   Context& context) {
  auto* command = device.add_subcommand(
      "calibrate",
      "Measure what this machine can do: compute, memory, engines, disk, network, GPU");
  command->add_option("--name", args->options.name, "Of the device (the machine's)");
  command->add_flag("--quick", args->options.quick, "In seconds, and less exact");
  command->add_option("--engine", args->options.engines,
                      "Whose launch is timed; may be repeated (all that are found)");
  command->add_option("--peer", args->options.peer,
                      "address:port that takes what is sent, for the network (this machine)");
  command->add_flag("--json", args->json, "As JSON");
  add_share_options(*command, args->share);
  add_lock_options(*command, args->lock);
  add_shared_option(*command, args->shared);
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return calibrate(*args, context.store); };
  });
}

/// What `calibrate` starts: the driver of a GPU may hang or crash it.
void add_gpu_figures(CLI::App& device, const std::shared_ptr<DeviceArguments>& args,
                     Context& context) {
  auto* command = device.add_subcommand("gpu-figures", "")->group("");
  command->add_flag("--quick", args->options.quick);
  command->callback([args, &context] {
    context.action = [args]() -> Result<int> {
      fmt::print("{}\n", collect::gpu_figures_text(args->options.quick));
      return kDone;
    };
  });
}

}  // namespace

void add_device_command(CLI::App& app, Context& context) {
  auto* device = app.add_subcommand("device", "What devices can do, measured on them");
  const auto args = std::make_shared<DeviceArguments>();
  device->require_subcommand(1);
  device->footer(kFooter);
  add_calibrate(*device, args, context);
  add_gpu_figures(*device, args, context);
  auto* listing = device->add_subcommand("list", "The devices that were measured");
  listing->add_flag("--json", args->json, "As JSON");
  add_shared_option(*listing, args->shared);
  add_store_option(*listing, context);
  listing->callback([args, &context] {
    context.action = [args, &context] { return list(*args, context.store); };
  });
  auto* showing = device->add_subcommand("show", "What one device was measured to do");
  showing->add_option("name", args->name, "Of the device")->required();
  showing->add_flag("--json", args->json, "As JSON");
  add_store_option(*showing, context);
  showing->callback([args, &context] {
    context.action = [args, &context] { return show(*args, context.store); };
  });
  auto* removing = device->add_subcommand("remove", "Forget a device that was measured");
  removing->add_option("name", args->name, "Of the device")->required();
  add_shared_option(*removing, args->shared);
  add_store_option(*removing, context);
  removing->callback([args, &context] {
    context.action = [args, &context] { return remove(*args, context.store); };
  });
}

}  // namespace assay::cli
