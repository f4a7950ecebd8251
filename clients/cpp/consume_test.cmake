# SPDX-License-Identifier: Apache-2.0
# Copies the header as an installation would, builds an app of two sources on it in C++11 with every
# warning, and runs it without a profiler.
file(REMOVE_RECURSE ${WORK})
file(COPY ${HEADERS}/assay.hpp DESTINATION ${WORK}/include)
file(WRITE ${WORK}/main.cpp [[
#include <assay.hpp>
void work(assay::client::LiveMetrics& metrics);
int main() {
  assay::client::LiveMetrics metrics;
  work(metrics);
  return metrics.dropped() == 3 ? 0 : 1;
}
]])
file(WRITE ${WORK}/work.cpp [[
#include <assay.hpp>
void work(assay::client::LiveMetrics& metrics) {
  auto timing = metrics.timer("latency");
  metrics.push("objects", 12);
  auto work = metrics.timer_handle("work");
  work.stop(work.start());
}
]])
execute_process(
  COMMAND ${CXX} -std=c++11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -pthread
    -I${WORK}/include ${WORK}/main.cpp ${WORK}/work.cpp -o ${WORK}/app
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env ASSAY_SOCKET=${WORK}/none ${WORK}/app
  COMMAND_ERROR_IS_FATAL ANY)
