// SPDX-License-Identifier: Apache-2.0
#include "placement_options.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/collect/calibrate.h>

namespace assay::cli {

void add_shared_option(CLI::App& command, std::string& shared) {
  command
      .add_option("--shared", shared,
                  "A PostgreSQL that machines share devices and what was learned by (default: "
                  "ASSAY_SHARED)")
      ->type_name("URL")
      ->envname("ASSAY_SHARED")
      ->check([](const std::string& url) {
        return store::is_postgres(url) ? "" : "it is written as postgresql://user@host/database";
      });
}

void add_placement_options(CLI::App& command, PlacementOptions& options) {
  command
      .add_option("--learned", options.learned,
                  "What 'assay train' has learned (default: placement.json beside the history)")
      ->type_name("FILE");
  add_shared_option(command, options.shared);
  constexpr const char* kNodes = "Nodes";
  add_prometheus_options(
      command, options.prometheus,
      "Where the nodes' load is asked for (default: the variable PROMETHEUS_IP, else nowhere: "
      "the devices that were learned are taken as idle)",
      kNodes);
  command
      .add_option("--instance", options.instances,
                  "Which instance of Prometheus is a node, where neither says so; may be repeated")
      ->type_name("NODE=INSTANCE")
      ->allow_extra_args(false)
      ->group(kNodes);
  command
      .add_option("--load", options.loads,
                  "How busy a device is, without Prometheus; may be repeated")
      ->type_name("DEVICE=PERCENT")
      ->allow_extra_args(false)
      ->group(kNodes);
}

std::filesystem::path learned_file(const PlacementOptions& options, const Context& context) {
  if (!options.learned.empty()) return options.learned;
  return context.store.parent_path() / "placement.json";
}

Result<std::vector<predict::Device>> calibrated_devices(const PlacementOptions& options,
                                                        const Context& context,
                                                        std::unique_ptr<store::Shelf>& shelf) {
  std::vector<predict::Device> devices;
  const auto add = [&](const Result<collect::Calibration>& found) {
    if (found)
      devices.push_back(found->device);
    else
      fmt::print(stderr, "assay: left out: {}\n", found.error().message);
  };
  for (const auto& found : collect::load_calibrations(collect::devices_folder(context.store)))
    add(found);
  if (options.shared.empty()) return devices;
  if (!shelf) {
    ASSAY_TRY(shelf, store::Shelf::open(options.shared));
  }
  const auto documents = shelf->list("device");
  if (!documents) {
    shelf.reset();  // the next call connects anew
    return fail(documents.error());
  }
  for (const auto& document : *documents)
    add(collect::read_calibration(nlohmann::json::parse(document.json, nullptr, false),
                                  "the shared store, " + document.name));
  return devices;
}

namespace {

Result<predict::Predictor> learned_alone(const PlacementOptions& options, const Context& context) {
  const auto file = learned_file(options, context);
  if (options.learned.empty() && !options.shared.empty()) {
    ASSAY_TRY(const auto shelf, store::Shelf::open(options.shared));
    ASSAY_TRY(const auto document, shelf->find("learned", "placement"));
    if (!document)
      return refused(
          "the shared store has nothing that was learned; put it there with 'assay train "
          "--shared'");
    return predict::Predictor::parse("the shared store", document->json);
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return fail(options.learned.empty() ? ErrorKind::environment : ErrorKind::input,
                fmt::format("nothing was learned yet: there is no file {}; make it with 'assay "
                            "train'",
                            file.native()));
  return predict::Predictor::read(file);
}

}  // namespace

Result<predict::Predictor> read_learned(const PlacementOptions& options, const Context& context) {
  ASSAY_TRY(const auto learned, learned_alone(options, context));
  std::unique_ptr<store::Shelf> shelf;
  ASSAY_TRY(const auto devices, calibrated_devices(options, context, shelf));
  return learned.with(devices);
}

Result<std::map<std::string, double>> loads_of(const PlacementOptions& options) {
  std::map<std::string, double> loads;
  for (const auto& word : options.loads) {
    const size_t equals = word.rfind('=');
    std::string_view number = word;
    number.remove_prefix(equals == word.npos ? word.size() : equals + 1);
    if (number.ends_with('%')) number.remove_suffix(1);
    const auto percent = parse_double(number);
    if (equals == 0 || !percent || !(*percent >= 0 && *percent <= 100))
      return bad_input(fmt::format("--load takes DEVICE=PERCENT, as in --load pi=40; {} is none",
                                   in_quotes(word)));
    loads[word.substr(0, equals)] = *percent / 100;
  }
  return loads;
}

Result<placement::JoinRules> join_rules(const PlacementOptions& options) {
  placement::JoinRules rules;
  for (const auto& word : options.instances) {
    const size_t equals = word.find('=');
    if (equals == word.npos || equals == 0 || equals + 1 == word.size())
      return bad_input(fmt::format(
          "--instance takes NODE=INSTANCE, as in --instance pi=10.0.0.7:9100; {} is none",
          in_quotes(word)));
    rules.instances[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return rules;
}

}  // namespace assay::cli
