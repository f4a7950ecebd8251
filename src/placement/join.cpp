// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include <assay/base/wording.h>
#include <assay/placement/live.h>

namespace assay::placement {
namespace {

using promapi::InstantValue;
using Series = LiveSeries::Series;

/// Two readings of one node that are further apart are of two nodes. When it was started tells;
/// where that is not known, the load, which is read at different moments.
constexpr double kSameStart = 10;  // seconds
constexpr double kSameLoad = 0.2;

/// What nothing is known of.
constexpr double kLongAgo = std::numeric_limits<double>::infinity();

/// "pi4:9100" is "pi4"; "[::1]:9100" is "::1".
std::string_view host_of(std::string_view instance) {
  if (instance.starts_with('[')) return instance.substr(1, instance.find(']') - 1);
  return instance.substr(0, instance.find(':'));
}

const InstantValue* of_instance(const Series& series, const std::string& instance) {
  const auto found = std::find_if(series.begin(), series.end(), [&](const InstantValue& one) {
    return one.label("instance") == instance;
  });
  return found == series.end() ? nullptr : &*found;
}

/// What one identity says.
struct Identity {
  const InstantValue* series = nullptr;
  double age = 0;

  const std::string& name() const { return series->label("char_node_name"); }
  const std::string& uuid() const { return series->label("char_node_uuid"); }
  const std::string& instance() const { return series->label("instance"); }
};

std::vector<Identity> identities_of(const LiveSeries& live) {
  std::vector<Identity> found;
  for (const auto& series : live.identities) {
    auto labels = series.labels;
    labels.erase("__name__");
    const auto same = [&](const InstantValue& age) { return age.labels == labels; };
    const auto age = std::find_if(live.identity_ages.begin(), live.identity_ages.end(), same);
    found.push_back({&series, age == live.identity_ages.end() ? kLongAgo : age->value});
  }
  return found;
}

/// Series that came from the same instance, or are told to be of this node.
class Joiner {
 public:
  Joiner(const LiveSeries& live, const JoinRules& rules) : live_(live), rules_(rules) {}

  /// The instances that its series could be of, by the best evidence that there is.
  std::vector<std::string> instances(const Identity& identity) const {
    auto found = by_uname(identity.name());
    if (found.empty()) found = by_instance(identity);
    const auto told = rules_.instances.find(identity.name());
    if (found.empty() && told != rules_.instances.end()) found.push_back(told->second);
    return found;
  }

  Result<Node> node(const Identity& identity) const {
    if (!(identity.age <= rules_.oldest_seconds))
      return refused(identity.age == kLongAgo
                         ? "nothing was heard of it any more"
                         : fmt::format("nothing was heard of it for {:.0f} s", identity.age));
    ASSAY_TRY(const std::string instance, instance_of(identity));
    Node node{identity.name(), identity.uuid(), identity.series->label("char_node_class"),
              identity.series->label("char_node_device_model_name")};
    ASSAY_TRY(node.load, load_of(instance));
    node.disk_used = share_at(live_.disk_used, instance);
    node.cores = at(live_.cores, instance);
    node.memory_bytes = at(live_.memory_bytes, instance);
    node.memory_available = at(live_.memory_available, instance);
    node.watts = watts_of(identity);
    return node;
  }

 private:
  std::vector<std::string> by_uname(const std::string& name) const {
    std::vector<std::string> found;
    for (const auto& uname : live_.unames) {
      const std::string& instance = uname.label("instance");
      if (uname.label("nodename") == name) found.push_back(instance);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  std::vector<std::string> by_instance(const Identity& identity) const {
    std::vector<std::string> found;
    for (const auto& busy : live_.busy) {
      const std::string& instance = busy.label("instance");
      if (instance == identity.instance() || instance == identity.name() ||
          host_of(instance) == identity.name())
        found.push_back(instance);
    }
    return found;
  }

  Result<std::string> instance_of(const Identity& identity) const {
    auto found = instances(identity);
    if (found.empty())
      return refused(
          "no series of its load can be told to be its own: no node_uname_info has its name, no "
          "instance is called so, and no mapping names one");
    const std::string first = found.front();
    std::erase_if(found, [this](const std::string& instance) {
      return of_instance(live_.busy, instance) == nullptr;
    });
    if (found.empty())
      return refused(
          fmt::format("its load is not known: {} has no two samples of "
                      "node_cpu_seconds_total within five minutes",
                      first));
    // What it was scraped as before is still there for a while.
    std::stable_sort(found.begin(), found.end(),
                     [this](const auto& a, const auto& b) { return age_of(a) < age_of(b); });
    std::erase_if(found, [&, best = found.front()](const std::string& instance) {
      return instance != best && !(age_of(instance) <= rules_.oldest_seconds);
    });
    if (const std::string why = contradiction(found); !why.empty())
      return refused(fmt::format("{} instances say that they are it, and contradict each other: {}",
                                 found.size(), why));
    return found.front();
  }

  double age_of(const std::string& instance) const {
    const InstantValue* age = of_instance(live_.busy_ages, instance);
    return age == nullptr || std::isnan(age->value) ? kLongAgo : age->value;
  }

  /// From the least to the most; nothing where one of the instances has no value.
  static std::optional<std::pair<double, double>> range(const Series& series,
                                                        const std::vector<std::string>& instances) {
    std::pair<double, double> ends = {kLongAgo, -kLongAgo};
    for (const auto& instance : instances) {
      const InstantValue* found = of_instance(series, instance);
      if (found == nullptr) return std::nullopt;
      ends = {std::min(ends.first, found->value), std::max(ends.second, found->value)};
    }
    return ends;
  }

  /// Why these are not of one node; empty: they may be.
  std::string contradiction(const std::vector<std::string>& instances) const {
    if (const auto starts = range(live_.boots, instances))
      return starts->second - starts->first <= kSameStart
                 ? ""
                 : fmt::format("they were started {:.0f} s apart", starts->second - starts->first);
    const auto loads = range(live_.busy, instances);
    if (!loads || loads->second - loads->first <= kSameLoad) return "";
    return fmt::format("they are {:.0f} % to {:.0f} % busy", 100 * loads->first,
                       100 * loads->second);
  }

  Result<double> load_of(const std::string& instance) const {
    const InstantValue* age = of_instance(live_.busy_ages, instance);
    if (age == nullptr) return refused("its load is not read any more");
    if (!(age->value <= rules_.oldest_seconds))
      return refused(fmt::format("its load was read {:.0f} s ago", age->value));
    const double load = of_instance(live_.busy, instance)->value;
    if (!(load > -0.05 && load < 1.05))
      return refused(fmt::format("it says that it is {:.0f} % busy", 100 * load));
    return std::clamp(load, 0.0, 1.0);
  }

  static std::optional<double> at(const Series& series, const std::string& instance) {
    const InstantValue* found = of_instance(series, instance);
    if (found == nullptr || !std::isfinite(found->value) || found->value <= 0) return std::nullopt;
    return found->value;
  }
  static std::optional<double> share_at(const Series& series, const std::string& instance) {
    const InstantValue* found = of_instance(series, instance);
    if (found == nullptr || !(found->value >= 0 && found->value <= 1)) return std::nullopt;
    return found->value;
  }

  std::optional<double> watts_of(const Identity& identity) const {
    for (const auto& watts : live_.watts) {
      if (watts.label("char_node_uuid") == identity.uuid() &&
          watts.label("char_node_name") == identity.name() && watts.value > 0)
        return watts.value;
    }
    return std::nullopt;
  }

  const LiveSeries& live_;
  const JoinRules& rules_;
};

/// Why the identities of one name are none, or nothing.
std::string quarrel(const std::vector<const Identity*>& same_name) {
  const Identity& first = *same_name.front();
  for (const Identity* other : same_name) {
    if (other->uuid() != first.uuid())
      return fmt::format("several nodes have this name: {} and {}", in_quotes(first.uuid()),
                         in_quotes(other->uuid()));
  }
  return "";
}

}  // namespace

Fleet join(const LiveSeries& live, const JoinRules& rules) {
  const auto identities = identities_of(live);
  std::map<std::string, std::vector<const Identity*>> by_name;
  for (const auto& identity : identities) by_name[identity.name()].push_back(&identity);
  Fleet fleet;
  const Joiner joiner(live, rules);
  for (auto& entry : by_name) {
    const std::string& name = entry.first;
    auto& same_name = entry.second;
    // The freshest speaks for a node that is scraped twice.
    std::stable_sort(same_name.begin(), same_name.end(),
                     [](const Identity* a, const Identity* b) { return a->age < b->age; });
    std::erase_if(same_name, [&](const Identity* one) {
      return one != same_name.front() && !(one->age <= rules.oldest_seconds);
    });
    const std::string reason = name.empty() ? "it has no name" : quarrel(same_name);
    if (!reason.empty()) {
      fleet.left_out.push_back({name, reason});
      continue;
    }
    auto node = joiner.node(*same_name.front());
    if (node)
      fleet.nodes.push_back(std::move(*node));
    else
      fleet.left_out.push_back({name, node.error().message});
  }
  return fleet;
}

}  // namespace assay::placement
