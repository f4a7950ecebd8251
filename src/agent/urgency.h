// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::agent {

/// Has the main thread run as soon as it is woken, before whatever else wants the core: the
/// counters of an app that ends are gone a few milliseconds later, and a busy machine would let us
/// wait for longer. Threads that it starts are none of this. Should it ever go on for half a second
/// without waiting, it becomes one among others again. False where it may not, or is not the main
/// thread.
bool run_when_woken();
/// Whether it still is so.
bool runs_when_woken();

}  // namespace assay::agent
