// SPDX-License-Identifier: Apache-2.0
#include "answers.h"
#include "api.h"
#include "old_api.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <fmt/format.h>

#include <assay/base/secret.h>
#include <assay/net/http_server.h>
#include <assay/serve/service.h>

namespace assay::serve {
namespace {

constexpr size_t kMostClients = 512;
constexpr size_t kMostOfOneCaller = 128;
constexpr size_t kMostAtOnce = 2;  ///< models that one caller of the old routes may be sending

Result<void> listen_at(net::HttpServer& server, const std::string& address, std::string_view what,
                       const Tell& tell) {
  ASSAY_TRY(const int port, server.listen(address));
  const size_t colon = address.rfind(':');
  tell(fmt::format("{} at http://{}:{}", what, address.substr(0, colon), port));
  return {};
}

}  // namespace

Result<void> serve(const ServiceSettings& settings, const Tell& tell) {
  for (const auto& address : {settings.listen, settings.old_listen})
    if (!address.empty()) ASSAY_CHECK(net::check_address(address));
  ASSAY_TRY(const std::string token, own_secret(settings.token_file));
  Uploads uploads(settings.uploads, settings.uploads_size);
  ASSAY_CHECK(uploads.open());
  // Whoever needs no token has no part in what those with one have sent.
  Uploads old_uploads(settings.uploads / "old-routes", settings.old_uploads_size, kMostAtOnce);
  if (!settings.old_listen.empty()) ASSAY_CHECK(old_uploads.open());
  const SystemClock clock;
  const State state(settings, tell);
  Api api(state, uploads, token, settings);
  OldApi old_api(state, old_uploads, clock, settings);

  boost::asio::io_context loop(1);
  boost::asio::signal_set signals(loop, SIGINT, SIGTERM);
  // Whoever does not want to wait for what is being ended can send a second one.
  signals.async_wait([&](auto /*error*/, int /*signal*/) {
    signals.clear();
    loop.stop();
  });
  const net::ServerLimits limits{.clients = kMostClients, .clients_of_caller = kMostOfOneCaller};
  net::HttpServer server(
      loop, [&api](const net::ServerRequest& request) { return api.answer(request); }, limits);
  server.plan_requests([&api](const net::ServerRequest& head) { return api.plan(head); });
  server.refuse_by(problem);
  const auto tell_mistake = [&tell](const std::string& words) {
    tell("a request failed by a mistake of ours: " + words);
  };
  server.tell_mistakes(tell_mistake);
  net::HttpServer old_server(
      loop, [&old_api](const net::ServerRequest& request) { return old_api.answer(request); },
      limits);
  old_server.plan_requests(
      [&old_api](const net::ServerRequest& head) { return old_api.plan(head); });
  old_server.refuse_by(old_error);
  old_server.tell_mistakes(tell_mistake);
  ASSAY_CHECK(listen_at(server, settings.listen, "the service listens", tell));
  if (!settings.old_listen.empty())
    ASSAY_CHECK(listen_at(old_server, settings.old_listen, "the two old routes are", tell));
  tell(fmt::format("its token is in {}", settings.token_file.native()));
  loop.run();
  api.stop();
  return {};
}

}  // namespace assay::serve
