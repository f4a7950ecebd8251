// SPDX-License-Identifier: Apache-2.0
#include "calibrate/memory.h"

#include "calibrate/kernels.h"

#include <algorithm>
#include <latch>
#include <memory>
#include <numeric>
#include <random>
#include <stop_token>
#include <sys/mman.h>
#include <thread>
#include <utility>

namespace assay::collect {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kPiece = size_t{1} << 18U;  ///< numbers of one piece of streaming: 1 MB
constexpr size_t kSteps = 2000;              ///< of one piece of chasing

/// Memory in small pages: whether large ones can be had differs from run to run.
template <class Number>
class Pages {
 public:
  explicit Pages(size_t count) : count_(count) {
    void* const got =
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    ::madvise(got, bytes(), MADV_NOHUGEPAGE);
    begin_ = static_cast<Number*>(got);
    for (size_t i = 0; i < count; ++i) begin_[i] = Number(1);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(begin_, bytes()); }

  std::span<Number> all() { return {begin_, count_}; }

 private:
  size_t bytes() const { return count_ * sizeof(Number); }
  Number* begin_ = nullptr;
  size_t count_;
};

/// Three arrays, gone through piece by piece and again.
Work streaming(size_t bytes) {
  const size_t count = std::max(kPiece, bytes / 3 / sizeof(float) / kPiece * kPiece);
  struct State {
    explicit State(size_t n) : a(n), b(n), c(n) {}
    Pages<float> a, b, c;
    size_t at = 0;
  };
  auto state = std::make_shared<State>(count);
  return [state, count] {
    const size_t at = std::exchange(state->at, (state->at + kPiece) % count);
    triad(state->a.all().subspan(at, kPiece), state->b.all().subspan(at, kPiece),
          state->c.all().subspan(at, kPiece));
    return static_cast<double>(3 * kPiece * sizeof(float));
  };
}

/// One circle through all lines of memory in random order: each address is known only when the one
/// before has come.
Work chasing(size_t bytes) {
  constexpr size_t kStride = kLine / sizeof(uint32_t);
  const size_t lines = std::max<size_t>(1024, bytes / kLine);
  auto memory = std::make_shared<Pages<uint32_t>>(lines * kStride);
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937 random(1);
  for (size_t i = lines - 1; i > 0; --i) std::swap(order[i], order[random() % i]);
  for (size_t i = 0; i < lines; ++i)
    memory->all()[i * kStride] = order[i] * static_cast<uint32_t>(kStride);
  auto at = std::make_shared<uint32_t>(0);
  return [memory, at] {
    uint32_t place = *at;
    const auto all = memory->all();
    for (size_t i = 0; i < kSteps; ++i) place = all[place];
    *at = place;
    return static_cast<double>(kSteps);
  };
}

/// Seconds of one step from steps per second.
Measured as_seconds(const Measured& rate) {
  return {1 / rate.value, rate.spread};
}

/// The first core chases while all others stream.
Measured contended_latency(const std::vector<int>& cpus, size_t bytes, const Timing& timing) {
  std::latch streams(static_cast<ptrdiff_t>(cpus.size()) - 1);
  std::vector<std::jthread> others;
  for (size_t i = 1; i < cpus.size(); ++i) {
    others.emplace_back([&, i](const std::stop_token& stop) {
      stay_on(cpus[i]);
      const Work work = streaming(bytes / cpus.size());
      streams.count_down();
      while (!stop.stop_requested()) work();
    });
  }
  streams.wait();
  const auto rates = slice_rates_on(
      {cpus.front()}, [&] { return chasing(bytes / 2); }, timing);
  return as_seconds(typical(rates.front()));
}

}  // namespace

MemoryFigures measure_memory(const std::vector<int>& cpus, size_t bytes, const Timing& timing) {
  const std::vector<int> one = {cpus.front()};
  const size_t each = bytes / cpus.size();
  const auto pick = timing.wall ? typical : best;
  MemoryFigures figures;
  figures.bandwidth_one_core = pick(slice_rates_on(
                                        one, [&] { return streaming(bytes); }, timing)
                                        .front());
  figures.bandwidth = sum_of(slice_rates_on(
                                 cpus, [&] { return streaming(each); }, timing),
                             typical);
  figures.latency = as_seconds(pick(slice_rates_on(
                                        one, [&] { return chasing(bytes / 2); }, timing)
                                        .front()));
  if (cpus.size() > 1) figures.contended = contended_latency(cpus, bytes, timing);
  return figures;
}

}  // namespace assay::collect
