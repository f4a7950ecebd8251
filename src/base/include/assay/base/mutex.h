// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

/// Marks for Clang's thread-safety analysis (-Wthread-safety); other compilers see nothing.
#if defined(__clang__)
#define ASSAY_THREAD_MARK(mark) __attribute__((mark))
#else
#define ASSAY_THREAD_MARK(mark)
#endif
/// Of a member: may be touched only while that mutex is held.
#define ASSAY_GUARDED_BY(mutex) ASSAY_THREAD_MARK(guarded_by(mutex))
/// Of a function: its caller holds that mutex.
#define ASSAY_REQUIRES(mutex) ASSAY_THREAD_MARK(requires_capability(mutex))

namespace assay {

/// std::mutex, which the standard library does not mark.
class ASSAY_THREAD_MARK(capability("mutex")) Mutex {
 public:
  void lock() ASSAY_THREAD_MARK(acquire_capability()) { mutex_.lock(); }
  void unlock() ASSAY_THREAD_MARK(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for as long as it lives. It can itself be waited with on a condition variable
/// (std::condition_variable_any), which returns holding the mutex again.
class ASSAY_THREAD_MARK(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) ASSAY_THREAD_MARK(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~Lock() ASSAY_THREAD_MARK(release_capability()) { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // For the condition variable.
  void lock() ASSAY_THREAD_MARK(acquire_capability()) { mutex_.lock(); }
  void unlock() ASSAY_THREAD_MARK(release_capability()) { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace assay
