// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <system_error>

#include <assay/base/text.h>
#include <assay/infer/worker.h>

namespace assay::infer {
namespace {

using nlohmann::json;

constexpr int kMostRuns = 10'000;
constexpr double kLongestRun = 120;
constexpr int64_t kMostThreads = 4096;
constexpr const char* kPort = "7010";

net::ServerResponse json_answer(const json& document) {
  net::ServerResponse response;
  response.content_type = "application/json";
  response.body = document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return response;
}

/// Files that callers name are none of theirs: only what bounds a run and seeds its input is taken.
Result<RunRequest> run_request(const std::string& body) try {
  const json document = json::parse(body);
  const RunRequest request{.count = document.value("count", 1),
                           .seconds = document.value("seconds", 10.0),
                           .seed = document.value("seed", uint64_t{1})};
  if (request.count < 1 || request.count > kMostRuns)
    return bad_input(fmt::format("count has to be from 1 to {}", kMostRuns));
  if (!(request.seconds >= 0 && request.seconds <= kLongestRun))
    return bad_input(fmt::format("seconds have to be from 0 to {}", kLongestRun));
  return request;
} catch (const json::exception&) {
  return bad_input("a run is asked for as {\"count\": 20, \"seconds\": 5}");
}

Result<std::map<std::string, std::vector<int64_t>>> shapes_of(const std::string& text) try {
  if (text.empty()) return std::map<std::string, std::vector<int64_t>>();
  return json::parse(text).get<std::map<std::string, std::vector<int64_t>>>();
} catch (const json::exception&) {
  return bad_input("ASSAY_SHAPES has to be JSON as {\"image\": [1, 3, 224, 224]}");
}

/// Removes what was fetched once it is loaded.
class FetchedFile {
 public:
  explicit FetchedFile(std::filesystem::path path) : path_(std::move(path)) {}
  FetchedFile(const FetchedFile&) = delete;
  FetchedFile& operator=(const FetchedFile&) = delete;
  ~FetchedFile() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }

 private:
  std::filesystem::path path_;
};

Result<void> load(const WorkerEngine& engine, const WorkerSettings& settings) {
  LoadRequest request = settings.load;
  std::filesystem::path fetched;
  if (!settings.url.empty()) {
    ASSAY_TRY(fetched,
              fetch_model(settings.url, settings.key, std::filesystem::temp_directory_path()));
    request.file = fetched;
  }
  const FetchedFile file(fetched);
  const auto loaded = engine.load(request);
  if (!loaded) return refused("the model cannot be loaded: " + loaded.error().message);
  return {};
}

}  // namespace

Result<WorkerSettings> worker_settings(
    const std::function<std::string(const char* variable)>& variable) {
  WorkerSettings settings{.url = variable("ASSAY_MODEL_URL"), .key = variable("ASSAY_MODEL_KEY")};
  const std::string port = variable("ASSAY_PORT");
  settings.listen = ":" + (port.empty() ? kPort : port);
  settings.load.file = variable("ASSAY_MODEL");
  ASSAY_TRY(settings.load.shapes, shapes_of(variable("ASSAY_SHAPES")));
  if (const std::string threads = variable("ASSAY_THREADS"); !threads.empty()) {
    const auto count = parse_int(threads);
    if (!count || *count < 0 || *count > kMostThreads)
      return bad_input("ASSAY_THREADS has to be a number of threads");
    settings.load.threads = static_cast<int>(*count);
  }
  return settings;
}

net::ServerResponse Worker::run(const std::string& body) {
  const auto request = run_request(body);
  if (!request) return net::refusal(422, request.error().message);
  const Lock lock(running_);
  const auto times = engine_.run(*request);
  if (!times) return net::refusal(500, times.error().message);
  return json_answer({{"engine", engine_.name}, {"version", engine_.version}, {"times", *times}});
}

net::ServerResponse Worker::answer(const net::ServerRequest& request) {
  if (request.path == "/healthz" && request.method == "GET")
    return json_answer({{"engine", engine_.name}, {"version", engine_.version}});
  if (request.path != "/run") return net::refusal(404, "a worker has /healthz and /run");
  if (request.method != "POST") return net::refusal(405, "a run is asked for by POST");
  net::ServerResponse response;
  response.later = [this, body = request.body] { return run(body); };
  return response;
}

Result<void> serve_worker(WorkerEngine engine, WorkerSettings settings,
                          const std::function<void(const std::string& sentence)>& tell) {
  if (settings.load.file.empty() && settings.url.empty())
    return bad_input("no model is named; set ASSAY_MODEL to its file, or ASSAY_MODEL_URL");
  if (!settings.load.file.empty()) settings.url.clear();
  ASSAY_CHECK(load(engine, settings));
  Worker worker(std::move(engine));
  boost::asio::io_context loop(1);
  boost::asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&loop](auto /*error*/, int /*signal*/) { loop.stop(); });
  net::HttpServer server(
      loop, [&worker](const net::ServerRequest& request) { return worker.answer(request); });
  ASSAY_TRY(const int port, server.listen(settings.listen));
  tell(fmt::format("the model is served on port {}", port));
  loop.run();
  return {};
}

}  // namespace assay::infer
