// SPDX-License-Identifier: Apache-2.0
// Shared memory as a hostile client may write it. The input is a list of words to store: four bytes
// say where (below 2^31 anywhere, above among the heads), eight say what; all ones as a place lets
// the server take its turn. A turn must be bounded and give only numbers, whatever it finds.
#include "../src/hooks/shared_memory.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

using namespace assay::hooks;
namespace shared = assay::client::shared;

constexpr size_t kRecord = 12;
constexpr uint32_t kTurn = UINT32_MAX;
constexpr size_t kHeads = shared::kFirstHistogram + shared::kHistograms * shared::kHistogramBytes;
constexpr size_t kCallerBytes = 100'000;

void require(bool holds) {
  if (!holds) std::abort();
}

class Checking final : public Intake {
 public:
  void name_app(const Reading&, Losses&) override {}
  void name_slot(const Reading&, Losses&) override {}
  bool name_histogram(const Reading&, Losses&) override { return true; }
  void take(const Reading&, const assay::hooks::Arrival&, Losses&) override {}
  void take(const Event& event, const Arrival&, Losses&) override {
    require(std::isfinite(event.value));
    ++events;
  }
  void take_durations(uint32_t histogram, const Histogram& added, const Arrival&) override {
    require(histogram < shared::kHistograms && added.count() > 0 && added.sum() >= 0);
    require(added.quantile(0.99) > 0);
    ++durations;
  }
  void end_visit(const Arrival&) override {}
  void tell(Losses&) override {}
  size_t events = 0;
  size_t durations = 0;
};

void turn(SharedMemory& memory, SharedMemory::Buffers& buffers, Budget& budget) {
  Checking intake;
  Losses losses;
  const Arrival now{assay::from_unix_ns(1'700'000'000'000'000'000), {}};
  memory.look(losses);
  memory.take_events(buffers, intake, now, losses);
  memory.take_durations(buffers, intake, now, budget, losses);
  require(intake.events <= shared::kLanes * shared::kEvents);
  require(intake.durations <= shared::kHistograms);
  require(budget.used() <= kCallerBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto* const kBuffers = new SharedMemory::Buffers;
  assay::Fd made = SharedMemory::make();
  const int fd = made.get();
  SharedMemory memory(std::move(made));
  Budget budget(kCallerBytes);
  Losses losses;
  for (uint32_t i = 0; i < shared::kHistograms; ++i) memory.add_histogram(i, budget, losses);
  for (; size >= kRecord; data += kRecord, size -= kRecord) {
    uint32_t place = 0;
    std::memcpy(&place, data, sizeof place);
    if (place == kTurn) {
      turn(memory, *kBuffers, budget);
      continue;
    }
    const size_t within = (place >> 31U) != 0 ? kHeads : shared::kBytes;
    const auto offset = static_cast<off_t>(place % (within / 8) * 8);
    require(::pwrite(fd, data + sizeof place, 8, offset) == 8);
  }
  turn(memory, *kBuffers, budget);
  turn(memory, *kBuffers, budget);
  return 0;
}
