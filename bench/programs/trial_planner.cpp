// SPDX-License-Identifier: Apache-2.0
// How often trials find the best choice of GPUs in made clusters: trial_planner COUNT [SEED], as
// JSON. What is reported is of seed 0; the planner is made with others. A tenth as many clusters
// have jobs that no shape of the planner is like: they are counted by themselves.
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <thread>

#include <assay/cluster/trial_planner.h>

namespace {

using namespace assay::cluster;
using nlohmann::json;
using Engine = std::mt19937_64;

double between(Engine& engine, double low, double high) {
  return std::uniform_real_distribution<>(low, high)(engine);
}
double log_between(Engine& engine, double low, double high) {
  return std::exp(between(engine, std::log(low), std::log(high)));
}

// --- how jobs scale: one law for a job, with other parameters for each kind of GPU

constexpr std::array kShapes = {
    "time a + b/n + c(n-1)", "universal scalability", "power of n", "slower across nodes",
    "held up by its input",  "faster than linear",    "steps",      "slower with more"};
constexpr size_t kCliff = kShapes.size();

struct Job {
  size_t shape = 0;
  double a = 0, b = 0;
  double edge = 4;  ///< GPUs in a node
  double from = 1;  ///< the fewest that are asked about
};

Job make_job(Engine& engine, bool cliff) {
  Job job{.shape = engine() % kShapes.size()};
  if (cliff) job.shape = kCliff;
  job.edge = engine() % 2 == 0 ? 4 : 8;
  job.a = between(engine, 0, 1);
  job.b = between(engine, 0, 1);
  return job;
}

/// Speed of n in that of one; `own` moves a kind's parameters a little from the job's.
double shape_of(const Job& job, double own, double n) {
  const auto span = [&](double x, double low, double high) {
    return low * std::pow(high / low, std::clamp(x + own, 0.0, 1.0));
  };
  switch (job.shape) {
    case 0: {
      const double a = span(job.a, 0.005, 0.3), c = span(job.b, 0.0002, 0.05);
      return (a + 1) / (a + 1 / n + c * (n - 1));
    }
    case 1:
      return n / (1 + span(job.a, 0.002, 0.3) * (n - 1) + span(job.b, 2e-5, 0.03) * n * (n - 1));
    case 2:
      return std::pow(n, span(job.a, 0.55, 1.0));
    case 3: {
      const double inside = std::min(n, job.edge), nodes = std::max(1.0, n / job.edge);
      return std::pow(inside, span(job.b, 0.85, 0.99)) * std::pow(nodes, span(job.a, 0.3, 0.95)) *
             (nodes > 1 ? span(job.b, 0.7, 1.0) : 1);
    }
    case 4: {  // a smooth least of both
      const double most = span(job.a, 1.5, 40), p = 6;
      return std::pow(std::pow(n, -p) + std::pow(most, -p), -1 / p) *
             std::pow(1 + std::pow(most, -p), 1 / p);
    }
    case 5: {  // small counts lack memory for large batches
      const double lack = span(job.a, 0.02, 0.4);
      return n * (1 - lack / n) / (1 - lack) / (1 + span(job.b, 0.002, 0.08) * (n - 1));
    }
    case 6:  // uneven parts: work in 16 pieces of equal size
      return 1 / (std::ceil(16 / n) / 16 + span(job.b, 0.001, 0.03) * (n - 1));
    case kCliff:  // much is lost at the first step, and then won back
      return std::pow(n, span(job.a, 0.3, 1.0)) * (n > job.from ? span(job.b, 0.15, 0.9) : 1);
    default: {  // more are soon in the way of the others: by crosstalk, or from a number on
      if (job.edge == 4) return n / (1 + 0.02 * (n - 1) + span(job.a, 0.08, 2) * n * (n - 1));
      const double turn = span(job.b, 0.7, 4), fall = 1 + span(job.a, 0.1, 1), q = 4;
      const auto bent = [&](double x) {
        return x * std::pow(1 + std::pow(x / turn, q), -fall / q);
      };
      return bent(n) / bent(1);
    }
  }
}

// --- clusters

struct Cluster {
  std::vector<Choice> choices;
  std::vector<double> speeds;  ///< the truth
  std::vector<TrialEnd> ends;
  std::vector<size_t> known;  ///< for which no node has enough, as nodes say
  double noise = 0.01;
  double from = 1;   ///< the fewest that are asked about
  double taken = 0;  ///< how often others have the room that is wanted
  size_t shape = 0;
  Question question;
};

void add_kind(Engine& engine, const Job& job, Cluster& cluster, size_t number) {
  const std::string name = fmt::format("kind-{}", number);
  const double speed = log_between(engine, 20, 400);
  // Dearer kinds are faster, but not exactly.
  cluster.question.prices[name] = std::pow(speed, 0.9) * log_between(engine, 0.005, 0.02);
  const double own = std::normal_distribution<>(0, 0.1)(engine);
  const bool doubling = engine() % 3 != 0;
  const size_t counts = 2 + engine() % (doubling ? 6 : 7);
  const double from = cluster.from;
  const bool lacks_memory = engine() % 8 == 0, lacks_room = engine() % 6 == 0;
  const size_t least = lacks_memory ? 1 + engine() % 2 : 0;
  const size_t room = lacks_room ? counts - 1 - engine() % 2 : counts;
  const bool nodes_say = engine() % 2 == 0;  // else a quota, or other jobs
  for (size_t i = 0; i < counts; ++i) {
    const double n = from * (doubling ? std::pow(2, i) : static_cast<double>(i + 1));
    if (i >= room && nodes_say) cluster.known.push_back(cluster.choices.size());
    cluster.choices.push_back({name, n});
    cluster.speeds.push_back(speed * shape_of(job, own, n));
    cluster.ends.push_back(i < least  ? TrialEnd::failed
                           : i < room ? TrialEnd::measured
                                      : TrialEnd::no_room);
  }
}

double worth_of(const Cluster& cluster, size_t i, double slack = 0) {
  const Question& q = cluster.question;
  const double speed = cluster.speeds[i], price = price_of(q.prices, cluster.choices[i]);
  if (cluster.ends[i] != TrialEnd::measured) return 0;
  if (q.deadline > 0 && q.work / speed > q.deadline * (1 + slack)) return 0;
  if (q.budget > 0 && q.work / speed * price / 3600 > q.budget * (1 + slack)) return 0;
  return q.want == Question::Want::fastest ? speed : speed / price;
}

/// A bound that some choices keep and some do not.
void add_bound(Engine& engine, Cluster& cluster) {
  std::vector<double> all;
  Question& q = cluster.question;
  q.work = 1e6;
  for (size_t i = 0; i < cluster.choices.size(); ++i) {
    const double seconds = q.work / cluster.speeds[i];
    all.push_back(q.want == Question::Want::fastest
                      ? seconds * price_of(q.prices, cluster.choices[i]) / 3600
                      : seconds);
  }
  std::sort(all.begin(), all.end());
  (q.want == Question::Want::fastest ? q.budget : q.deadline) =
      log_between(engine, all[all.size() / 4], all[all.size() * 3 / 4]);
}

constexpr uint64_t kFirst = 1'000'000'007;
constexpr uint64_t kNextSeed = 1'000'000'000'000;

Cluster make_cluster(uint64_t number, uint64_t seed, bool cliff = false) {
  Engine engine(kFirst + seed * kNextSeed + number * 7919);
  Cluster cluster;
  Job job = make_job(engine, cliff);
  cluster.shape = job.shape;
  cluster.noise = between(engine, 0.01, 0.05);
  if (engine() % 4 == 0) cluster.from = engine() % 2 == 0 ? 2 : 4;
  job.from = cluster.from;
  if (engine() % 4 == 0) cluster.taken = 0.1;
  const size_t kinds = 2 + engine() % 4;
  for (size_t i = 0; i < kinds; ++i) add_kind(engine, job, cluster, i);
  cluster.question.want = number % 2 == 0 ? Question::Want::fastest : Question::Want::cheapest;
  if (number / 2 % 2 == 1)
    add_bound(engine, cluster);
  else if (cluster.question.want == Question::Want::fastest && engine() % 2 == 0)
    cluster.question.prices.clear();
  return cluster;
}

Tried try_out(const Cluster& cluster, size_t choice, Engine& engine) {
  Tried tried{.choice = choice, .end = cluster.ends[choice]};
  if (between(engine, 0, 1) < cluster.taken) tried.end = TrialEnd::busy;
  if (tried.end != TrialEnd::measured) return tried;
  tried.throughput =
      cluster.speeds[choice] * std::exp(std::normal_distribution<>(0, cluster.noise)(engine));
  return tried;
}

// --- what is found

struct Found {
  int clusters = 0, strict = 0, close = 0, noise = 0;
  double trials = 0, grid = 0, regret = 0;
};

void count(const Cluster& cluster, const std::optional<size_t>& answer, size_t trials,
           Found& into) {
  double most = 0;
  for (size_t i = 0; i < cluster.choices.size(); ++i) most = std::max(most, worth_of(cluster, i));
  ++into.clusters;
  into.trials += static_cast<double>(trials);
  into.grid += static_cast<double>(cluster.choices.size());
  const auto is_right = [&](double slack) {
    if (!answer) return most == 0;  // that nothing will do is an answer too
    const double got = worth_of(cluster, *answer, slack);
    return got > 0 && got >= most / (1 + slack);
  };
  into.strict += is_right(0);
  into.close += is_right(0.02);
  into.noise += is_right(std::max(cluster.noise, 0.02));
  if (most > 0)
    into.regret += answer ? 1 - std::min(worth_of(cluster, *answer, 0.02) / most, 1.0) : 1;
}

/// What a choice of the whole grid would find, each tried once.
std::optional<size_t> by_grid(const Cluster& cluster, Engine& engine) {
  Cluster seen = cluster;
  for (size_t i = 0; i < seen.choices.size(); ++i)
    seen.speeds[i] = try_out(cluster, i, engine).throughput;
  std::optional<size_t> best;
  for (size_t i = 0; i < seen.choices.size(); ++i)
    if (worth_of(seen, i) > (best ? worth_of(seen, *best) : 0)) best = i;
  return best;
}

json told(const Found& found) {
  const double n = std::max(found.clusters, 1);
  return {{"clusters", found.clusters}, {"strict", found.strict / n},
          {"close", found.close / n},   {"within_noise", found.noise / n},
          {"trials", found.trials / n}, {"grid", found.grid / n},
          {"regret", found.regret / n}};
}

/// All that is counted.
struct Tally {
  Found ours, grid, random, cliffs;
  std::map<std::string, Found> by_shape, by_question, by_size;
  double slowest = 0, largest_share = 0;
  int clear = 0, clear_and_close = 0;
  int clear_cliffs = 0, clear_and_close_cliffs = 0;
};

void add(const Found& one, Found& into) {
  into.clusters += one.clusters;
  into.strict += one.strict;
  into.close += one.close;
  into.noise += one.noise;
  into.trials += one.trials;
  into.grid += one.grid;
  into.regret += one.regret;
}

void add(const std::map<std::string, Found>& some, std::map<std::string, Found>& into) {
  for (const auto& [name, found] : some) add(found, into[name]);
}

void add(const Tally& one, Tally& into) {
  add(one.ours, into.ours);
  add(one.grid, into.grid);
  add(one.random, into.random);
  add(one.cliffs, into.cliffs);
  add(one.by_shape, into.by_shape);
  add(one.by_question, into.by_question);
  add(one.by_size, into.by_size);
  into.slowest = std::max(into.slowest, one.slowest);
  into.largest_share = std::max(into.largest_share, one.largest_share);
  into.clear += one.clear;
  into.clear_and_close += one.clear_and_close;
  into.clear_cliffs += one.clear_cliffs;
  into.clear_and_close_cliffs += one.clear_and_close_cliffs;
}

/// Of this thread, so that what else runs does not count.
double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Tries until the plan has enough.
Plan follow(const Cluster& cluster, Engine& engine, std::vector<Tried>& trials, double& slowest) {
  for (const size_t one : cluster.known)
    trials.push_back({.choice = one, .end = TrialEnd::no_room, .known = true});
  while (true) {
    const double start = cpu_ms();
    Plan plan = plan_trials(cluster.choices, trials, cluster.question);
    slowest = std::max(slowest, cpu_ms() - start);
    if (!plan.next) return plan;
    trials.push_back(try_out(cluster, *plan.next, engine));
  }
}

std::string name_of(const Question& q) {
  return fmt::format("{}{}", q.want == Question::Want::fastest ? "fastest" : "cheapest",
                     q.budget > 0     ? " within a budget"
                     : q.deadline > 0 ? " within a deadline"
                                      : "");
}

/// What half of the grid finds, chosen by chance.
std::optional<size_t> by_half(const Cluster& cluster, Engine& engine) {
  Cluster half = cluster;
  std::vector<size_t> order(cluster.choices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), engine);
  for (size_t i = half_of(order.size()); i < order.size(); ++i)
    half.ends[order[i]] = TrialEnd::failed;
  return by_grid(half, engine);
}

void examine(uint64_t number, uint64_t seed, Tally& into) {
  const Cluster cluster = make_cluster(number, seed);
  Engine engine(seed * kNextSeed + number + 1);
  std::vector<Tried> trials;
  const Plan plan = follow(cluster, engine, trials, into.slowest);
  const size_t size = cluster.choices.size(), used = trials.size() - cluster.known.size();
  into.largest_share =
      std::max(into.largest_share, static_cast<double>(used) / static_cast<double>(size));
  const int before = into.ours.close;
  count(cluster, plan.answer, used, into.ours);
  into.clear += plan.clear;
  into.clear_and_close += plan.clear && into.ours.close > before;
  count(cluster, plan.answer, used, into.by_shape[kShapes[cluster.shape]]);
  const std::string question = name_of(cluster.question);
  count(cluster, plan.answer, used, into.by_question[question]);
  count(cluster, plan.answer, used,
        into.by_size[size < 8    ? "4 to 7"
                     : size < 16 ? "8 to 15"
                                 : "16 to 40"]);
  const auto whole = by_grid(cluster, engine);
  count(cluster, whole, size, into.grid);
  count(cluster, whole, size, into.by_question[question + ", whole grid"]);
  count(cluster, by_half(cluster, engine), half_of(size), into.random);
}

void examine_cliff(uint64_t number, uint64_t seed, Tally& into) {
  const Cluster cluster = make_cluster(number, seed, true);
  Engine engine(seed * kNextSeed + number + 1);
  std::vector<Tried> trials;
  const Plan plan = follow(cluster, engine, trials, into.slowest);
  const int before = into.cliffs.close;
  count(cluster, plan.answer, trials.size() - cluster.known.size(), into.cliffs);
  into.clear_cliffs += plan.clear;
  into.clear_and_close_cliffs += plan.clear && into.cliffs.close > before;
}

Tally examine_all(uint64_t clusters, uint64_t seed) {
  std::vector<Tally> parts(std::max(1U, std::thread::hardware_concurrency()));
  {
    std::vector<std::jthread> threads;
    for (size_t part = 0; part < parts.size(); ++part)
      threads.emplace_back([&, part] {
        for (uint64_t number = part; number < clusters; number += parts.size()) {
          examine(number, seed, parts[part]);
          if (number % 10 == 0) examine_cliff(number, seed, parts[part]);
        }
      });
  }
  Tally all;
  for (const auto& part : parts) add(part, all);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: trial_planner COUNT [SEED]\n");
    return 2;
  }
  const Tally all = examine_all(std::stoull(argv[1]), argc == 3 ? std::stoull(argv[2]) : 0);
  json result = {{"ours", told(all.ours)},
                 {"grid", told(all.grid)},
                 {"random_half", told(all.random)},
                 {"clear", all.clear},
                 {"clear_and_close", all.clear_and_close},
                 {"cliffs", told(all.cliffs)},
                 {"clear_cliffs", all.clear_cliffs},
                 {"clear_and_close_cliffs", all.clear_and_close_cliffs},
                 {"largest_share", all.largest_share},
                 {"slowest_plan_ms", all.slowest}};
  for (const auto& [name, found] : all.by_shape) result["shapes"][name] = told(found);
  for (const auto& [name, found] : all.by_question) result["questions"][name] = told(found);
  for (const auto& [name, found] : all.by_size) result["sizes"][name] = told(found);
  fmt::print("{}\n", result.dump());
  return 0;
}
