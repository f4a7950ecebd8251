// SPDX-License-Identifier: Apache-2.0
#include "answers.h"
#include "list_json.h"
#include "watch_lines.h"

#include <fmt/format.h>
#include <iterator>

#include <assay/kubeapi/follower.h>

namespace assay::kubeapi {
namespace {

/// The server ends a watch in time; when it does not, the connection is dead.
constexpr Milliseconds kBeyondWatch{20'000};
/// A server that forgets its pages faster than they can be asked for.
constexpr int kMostBeginnings = 3;

std::string selectors(const Query& query) {
  std::string text;
  if (!query.labels.empty()) text += "&labelSelector=" + net::url_encoded(query.labels);
  if (!query.fields.empty()) text += "&fieldSelector=" + net::url_encoded(query.fields);
  return text;
}

/// The body of a 404 does not tell: it is the same where a group is not installed.
bool is_in_every_cluster(const Resource& resource) {
  return resource.group.empty() || (resource.group == "batch" && resource.plural == "jobs");
}

std::string needed(const Query& query) {
  return "get, list and watch " + query.resource.name();
}

/// One try to read all pages: nothing when the server has forgotten them meanwhile.
template <class T>
class Pages {
 public:
  Pages(Client& client, const Query& query) : client_(client), query_(query) {}

  enum class End : uint8_t { complete, forgotten, absent };
  Result<End> read(net::Stopper& stopper) {
    std::string next;
    do {
      ASSAY_TRY(const net::Response response, ask(next, stopper));
      if (response.status == kGone) return End::forgotten;
      if (response.status == kNotFound && is_in_every_cluster(query_.resource))
        return no_kubernetes(client_.server(), "it has no " + query_.resource.plural);
      if (response.status == kNotFound) return End::absent;
      if (!response.ok()) return not_answered(client_.server(), response, needed(query_));
      auto page = read_page<T>(response.body);
      if (!page) return no_list(page.error().message);
      ASSAY_CHECK(take(*page));
      next = std::move(page->next);
    } while (!next.empty());
    return End::complete;
  }
  List<T>& all() { return all_; }

 private:
  Failure no_list(const std::string& why) const {
    if (is_in_every_cluster(query_.resource)) return no_kubernetes(client_.server(), why);
    return refused(fmt::format("asked for {}, the API server {} gives something else: {}",
                               query_.resource.name(), net::shown_url(client_.server()), why));
  }
  Result<net::Response> ask(const std::string& next, net::Stopper& stopper) {
    return client_.call(
        {.path = fmt::format(
             "{}?limit={}{}{}{}", collection_path(query_.resource, query_.name_space), query_.page,
             selectors(query_), next.empty() ? "" : "&continue=", net::url_encoded(next)),
         .accept = std::string(Accepted<T>::kList)},
        stopper);
  }
  Result<void> take(Page<T>& page) {
    // Also pages are counted: a server that sends empty ones for ever has an end too.
    taken_ += page.items.size() + 1;
    if (taken_ > query_.most)
      return refused(fmt::format("the API server has more than {} {} for us; ask for fewer",
                                 query_.most, query_.resource.plural));
    std::move(page.items.begin(), page.items.end(), std::back_inserter(all_.items));
    all_.version = std::move(page.version);
    return {};
  }

  Client& client_;
  const Query& query_;
  List<T> all_;
  size_t taken_ = 0;
};

/// Turns the pieces of a stream into events, until one ends it.
template <class T>
class Events {
 public:
  explicit Events(const TakeEvent<T>& take) : take_(take) {}

  bool feed(std::string_view piece) {
    const auto goes_on =
        lines_.feed(piece, [this](std::string_view line) { return take_line(line); });
    if (!goes_on) end_ = fail(goes_on.error());
    return goes_on && *goes_on;
  }
  Result<WatchEnd> end() const { return end_; }

 private:
  using Kind = typename WatchEvent<T>::Kind;

  bool take_line(std::string_view line) {
    auto event = read_event<T>(line);
    if (!event) {
      end_ = fail(event.error());
    } else if (event->kind == Kind::expired) {
      end_ = WatchEnd::expired;
    } else if (event->kind == Kind::failed) {
      end_ = refused(fmt::format("the API server ended the watch: {}", event->message));
    } else {
      take_(*event);
      return true;
    }
    return false;
  }

  const TakeEvent<T>& take_;
  WatchLines lines_;
  Result<WatchEnd> end_ = WatchEnd::ended;
};

}  // namespace

Query pods_of_node(const std::string& node) {
  return {.resource = pods(), .fields = "spec.nodeName=" + node};
}

template <class T>
Result<std::optional<List<T>>> list(Client& client, const Query& query, net::Stopper& stopper) {
  for (int i = 0; i < kMostBeginnings; ++i) {
    Pages<T> pages(client, query);
    ASSAY_TRY(const auto end, pages.read(stopper));
    if (end == Pages<T>::End::absent) return std::optional<List<T>>();
    if (end == Pages<T>::End::complete) return std::optional(std::move(pages.all()));
  }
  return fail({ErrorKind::environment,
               fmt::format("the API server {} forgets its list of {} while it is read",
                           net::shown_url(client.server()), query.resource.name()),
               true});
}

template <class T>
Result<WatchEnd> watch(Client& client, const Query& query, const std::string& version,
                       const TakeEvent<T>& take, net::Stopper& stopper) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(query.watch);
  const Call call{.path = fmt::format("{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={}"
                                      "&resourceVersion={}{}",
                                      collection_path(query.resource, query.name_space),
                                      seconds.count(), net::url_encoded(version), selectors(query)),
                  .accept = std::string(Accepted<T>::kWatch),
                  .patience = query.watch + kBeyondWatch};
  Events<T> events(take);
  ASSAY_TRY(const net::Response response,
            client.stream(
                call, [&](std::string_view piece) { return events.feed(piece); }, stopper));
  if (response.status == kGone) return WatchEnd::expired;
  if (response.status == kNotFound) return WatchEnd::absent;
  if (!response.ok()) return not_answered(client.server(), response, needed(query));
  return events.end();
}

template Result<std::optional<List<Pod>>> list(Client&, const Query&, net::Stopper&);
template Result<std::optional<List<Node>>> list(Client&, const Query&, net::Stopper&);
template Result<std::optional<List<ObjectMeta>>> list(Client&, const Query&, net::Stopper&);
template Result<WatchEnd> watch(Client&, const Query&, const std::string&, const TakeEvent<Pod>&,
                                net::Stopper&);
template Result<WatchEnd> watch(Client&, const Query&, const std::string&, const TakeEvent<Node>&,
                                net::Stopper&);
template Result<WatchEnd> watch(Client&, const Query&, const std::string&,
                                const TakeEvent<ObjectMeta>&, net::Stopper&);

}  // namespace assay::kubeapi
