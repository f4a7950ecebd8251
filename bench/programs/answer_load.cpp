// SPDX-License-Identifier: Apache-2.0
// Asks a service of this machine at a fixed rate and tells how long answers took, counted from when
// each was due: an answer that makes others wait is not hidden.
//
//     answer_load learn FILE DEVICES     writes a model file of so many devices
//     answer_load ask PORT PATH BODY_FILE PER_SECOND SECONDS [TOKEN]
#include "testing/known_world.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <utility>  // before Asio, which forgets it
#include <vector>

#include <assay/base/files.h>
#include <assay/predict/train.h>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Clock = std::chrono::steady_clock;

constexpr int kConnections = 16;

int learn(const std::string& file, size_t devices) {
  using namespace assay::predict;
  Runs runs = testing::known_runs(60);
  runs.devices[0].model = "Known Board";
  const Runs two = runs;
  for (size_t number = 2; number < devices; ++number) {
    Device device = two.devices[number % 2];
    device.name += std::to_string(number);
    runs.devices.push_back(device);
    runs.tasks.push_back({device.name, "opencv", "float32"});
    const double times = 1 + 0.01 * static_cast<double>(number);
    for (Run run : two.runs) {
      if (run.task != number % 2) continue;
      run.task = number;
      run.seconds *= times;
      runs.runs.push_back(run);
    }
  }
  const auto training = train(std::move(runs), {});
  if (!training || !assay::write_file(file, training->file)) {
    std::fputs("answer_load: nothing was learned\n", stderr);
    return 1;
  }
  return 0;
}

struct Load {
  unsigned short port = 0;
  http::request<http::string_body> request;
  std::chrono::nanoseconds between{};
  int count = 0;
  Clock::time_point start;
  std::vector<double> milliseconds;
  int refused = 0;
  size_t bytes = 0;  ///< of the last answer
};

/// Every sixteenth request is its own.
asio::awaitable<void> ask(Load& load, int first) {
  beast::tcp_stream stream(co_await asio::this_coro::executor);
  co_await stream.async_connect(
      asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), load.port), asio::use_awaitable);
  stream.socket().set_option(asio::ip::tcp::no_delay(true));
  asio::steady_timer timer(stream.get_executor());
  beast::flat_buffer buffer;
  for (int i = first; i < load.count; i += kConnections) {
    const auto due = load.start + i * load.between;
    timer.expires_at(due);
    co_await timer.async_wait(asio::use_awaitable);
    co_await http::async_write(stream, load.request, asio::use_awaitable);
    http::response<http::string_body> response;
    co_await http::async_read(stream, buffer, response, asio::use_awaitable);
    if (response.result() != http::status::ok) ++load.refused;
    load.bytes = response.body().size();
    load.milliseconds.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - due).count());
  }
}

int ask_all(char** words, int count) {
  Load load;
  load.port = static_cast<unsigned short>(std::atoi(words[0]));
  load.request = {http::verb::post, words[1], 11};
  load.request.set(http::field::host, "127.0.0.1");
  load.request.set(http::field::content_type, "application/json");
  if (count > 5) load.request.set(http::field::authorization, fmt::format("Bearer {}", words[5]));
  load.request.body() = assay::read_file(words[2]).value_or("");
  load.request.prepare_payload();
  const double rate = std::atof(words[3]);
  load.between = std::chrono::nanoseconds(static_cast<int64_t>(1e9 / rate));
  load.count = static_cast<int>(rate * std::atof(words[4]));
  load.start = Clock::now() + std::chrono::milliseconds(50);
  asio::io_context loop(1);
  int failed = 0;
  for (int i = 0; i < kConnections; ++i) {
    asio::co_spawn(loop, ask(load, i), [&failed](const std::exception_ptr& error) {
      if (error) ++failed;
    });
  }
  loop.run();
  auto& times = load.milliseconds;
  if (failed > 0 || times.empty()) {
    std::fputs("answer_load: the service did not answer\n", stderr);
    return 1;
  }
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print(
      "{{\"answers\": {}, \"refused\": {}, \"p50_ms\": {:.4f}, \"p99_ms\": {:.4f}, "
      "\"most_ms\": {:.4f}, \"bytes\": {}}}\n",
      times.size(), load.refused, at(.5), at(.99), times.back(), load.bytes);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "learn" && count == 4) return learn(words[2], std::strtoul(words[3], nullptr, 10));
  if (what == "ask" && count >= 7) return ask_all(words + 2, count - 2);
  std::fputs(
      "answer_load learn FILE DEVICES | ask PORT PATH BODY_FILE PER_SECOND SECONDS [TOKEN]\n",
      stderr);
  return 2;
}
