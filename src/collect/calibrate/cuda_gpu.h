// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/cuda_driver.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assay::collect {

/// The first GPU that NVIDIA's driver shows, with this process's context on it. What it hands out
/// must go before it does. One thread only.
class CudaGpu {
 public:
  using Address = CudaDriver::Address;

  /// What is given back at the end of its life.
  template <class Place>
  class Lent {
   public:
    Lent(Place place, int (*give)(Place)) : place_(place), give_(give) {}
    Lent(Lent&& other) noexcept
        : place_(other.place_), give_(std::exchange(other.give_, nullptr)) {}
    Lent& operator=(Lent&&) = delete;
    ~Lent() {
      if (give_ != nullptr) give_(place_);
    }
    Place get() const { return place_; }

   private:
    Place place_;
    int (*give_)(Place);
  };
  using Memory = Lent<Address>;
  using Handle = Lent<CudaDriver::Handle>;

  /// How many threads work, and in what blocks.
  struct Grid {
    unsigned blocks = 1;
    unsigned threads = 1;
  };

  static Result<CudaGpu> open(const char* library);
  CudaGpu(CudaGpu&& other) noexcept;
  CudaGpu& operator=(CudaGpu&&) = delete;
  ~CudaGpu();

  const std::string& model() const { return model_; }
  double memory_bytes() const { return memory_bytes_; }
  int count() const { return count_; }            ///< of all GPUs that the driver shows
  int capability() const { return capability_; }  ///< 90 for 9.0
  unsigned processors() const { return processors_; }

  Result<size_t> free_bytes() const;
  /// In the GPU's memory, filled with bytes that are no number.
  Result<Memory> take(size_t bytes) const;
  /// In the machine's memory, from where the GPU takes it without help.
  Result<Handle> take_pinned(size_t bytes) const;
  /// PTX text becomes a program by the driver's own compiler.
  Result<Handle> load(const std::string& ptx) const;
  Result<CudaDriver::Handle> function(const Handle& program, const char* name) const;

  /// These do not wait; each argument is a pointer to it.
  Result<void> launch(CudaDriver::Handle function, Grid grid, std::vector<void*> arguments) const;
  Result<void> upload(Address to, const void* from, size_t bytes) const;
  Result<void> download(void* to, Address from, size_t bytes) const;
  Result<void> wait() const;

  /// How long the GPU takes for what `work` gives it to do, by its own clock.
  Result<double> seconds_of(const std::function<Result<void>()>& work) const;

 private:
  explicit CudaGpu(const CudaDriver& driver) : driver_(driver) {}
  Result<void> identify();
  Result<void> enter();

  CudaDriver driver_;
  int device_ = 0;
  bool entered_ = false;
  std::string model_;
  double memory_bytes_ = 0;
  int count_ = 0;
  int capability_ = 0;
  unsigned processors_ = 0;
  std::vector<Handle> events_;  ///< of the begin and of the end
};

}  // namespace assay::collect
