// SPDX-License-Identifier: Apache-2.0
#include "curl.h"
#include "failure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>

#include <assay/base/letters.h>
#include <assay/base/text.h>
#include <assay/net/http_client.h>

namespace assay::net {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kLongWait = std::chrono::hours(1);
constexpr Milliseconds kStillWantedWait{200};
// S3 wants it beside the signature, which libcurl 7.88 makes without.
constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr size_t kMaxHeaders = 512U << 10U;

struct EasyDelete {
  void operator()(CURL* easy) const { curl().easy_cleanup(easy); }
};
struct MultiDelete {
  void operator()(CURLM* multi) const { curl().multi_cleanup(multi); }
};
struct ListDelete {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDelete>;

void append(HeaderList& list, const std::string& line) {
  curl_slist* const longer = curl().slist_append(list.get(), line.c_str());
  (void)list.release();
  list.reset(longer);
}

bool has_header(const std::vector<std::string>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const std::string& line) {
    return lower_case(line.substr(0, line.find(':'))) == name;
  });
}

bool has_body(const Request& request) {
  return !request.body.empty() || request.method == "POST" || request.method == "PUT";
}

HeaderList header_list(const Request& request) {
  HeaderList list;
  for (const auto& line : request.headers) append(list, line);
  // What libcurl would add to a body by itself and nobody asked for; a name without a value leaves
  // it out. Without a body there is nothing to leave out, and a signature would cover the name.
  if (has_body(request)) {
    append(list, "Expect:");
    if (!has_header(request.headers, "content-type")) append(list, "Content-Type:");
  }
  if (request.aws) {
    append(list, fmt::format("x-amz-content-sha256: {}", kEmptySha256));
    if (!request.aws->session_token.empty())
      append(list, "x-amz-security-token: " + request.aws->session_token);
  }
  return list;
}

size_t read_piece(char* to, size_t, size_t most, void* request) {
  const size_t size = static_cast<const Request*>(request)->read_body(to, most);
  return size == 0 ? size_t{CURL_READFUNC_ABORT} : size;
}

void set_method(CURL* easy, const Request& request) {
  if (request.method == "HEAD") {
    curl().easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.read_body) {
    curl().easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl().easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body_size));
    curl().easy_setopt(easy, CURLOPT_READFUNCTION, &read_piece);
    curl().easy_setopt(easy, CURLOPT_READDATA, &request);
  } else if (has_body(request)) {
    curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    curl().easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  curl().easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_trust(CURL* easy, const Endpoint& endpoint) {
  const auto set_path = [&](CURLoption option, const std::filesystem::path& path) {
    if (!path.empty()) curl().easy_setopt(easy, option, path.c_str());
  };
  const char* const chosen = std::getenv("SSL_CERT_FILE");
  if (endpoint.ca_file.empty() && chosen != nullptr) set_path(CURLOPT_CAINFO, chosen);
  set_path(CURLOPT_CAINFO, endpoint.ca_file);
  set_path(CURLOPT_SSLCERT, endpoint.certificate_file);
  set_path(CURLOPT_SSLKEY, endpoint.key_file);
  set_path(CURLOPT_UNIX_SOCKET_PATH, endpoint.unix_socket);
  if (!endpoint.unix_socket.empty() || is_loopback_url(endpoint.base))
    curl().easy_setopt(easy, CURLOPT_PROXY, "");
}

void set_redirects(CURL* easy, const Endpoint& endpoint, const Request& request) {
  curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl().easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR,
                     endpoint.base.starts_with("https:") ? "https" : "http,https");
  const bool may = endpoint.certificate_file.empty() && !request.aws && request.redirects > 0;
  curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, may ? 1L : 0L);
  curl().easy_setopt(easy, CURLOPT_MAXREDIRS, static_cast<long>(request.redirects));
}

void set_signing(CURL* easy, const AwsSigning& aws) {
  curl().easy_setopt(easy, CURLOPT_AWS_SIGV4, fmt::format("aws:amz:{}:s3", aws.region).c_str());
  curl().easy_setopt(easy, CURLOPT_USERNAME, aws.access_key.c_str());
  curl().easy_setopt(easy, CURLOPT_PASSWORD, aws.secret_key.c_str());
}

void set_times(CURL* easy, const Request& request) {
  curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // A stop or a timeout does not wait for the thread that looks up a name, which may hang for long.
  curl().easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(request.connect_timeout.count()));
  curl().easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
}

/// Reads "Name: value" into the answer; a status line begins a new answer.
void take_header(Response& head, std::string_view line) {
  if (line.starts_with("HTTP/")) {
    head = {};
    const size_t space = line.find(' ');
    if (space != line.npos)
      head.status = static_cast<int>(parse_uint(line.substr(space + 1, 3)).value_or(0));
    return;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  std::string& value = head.headers[lower_case(trim(line.substr(0, colon)))];
  if (!value.empty()) value += ", ";
  value += trim(line.substr(colon + 1));
}

}  // namespace

std::string Response::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

void Stopper::stop() {
  const Lock lock(mutex_);
  stopped_ = true;
  if (multi_ != nullptr) curl().multi_wakeup(multi_);
}

bool Stopper::stopped() const {
  const Lock lock(mutex_);
  return stopped_;
}

void Stopper::watch(void* multi) {
  const Lock lock(mutex_);
  multi_ = multi;
}

/// One request on its way: what libcurl's callbacks work on.
struct HttpClient::Transfer {
  Response& head;
  const Take* take;  ///< null: everything goes into the body
  const std::function<void()>& on_head;
  SteadyClock::time_point heard = SteadyClock::now();
  size_t header_bytes = 0;
  bool ended = false;      ///< by `take`
  bool too_large = false;  ///< header or body
  bool silent = false;
  bool stopped = false;

  bool take_piece(std::string_view piece) {
    if (take != nullptr && head.ok()) {
      ended = !(*take)(piece);
      heard = SteadyClock::now();
      return !ended;
    }
    too_large = head.body.size() + piece.size() > kMaxBody;
    if (!too_large) head.body += piece;
    heard = SteadyClock::now();
    return !too_large;
  }

  static size_t on_header(char* data, size_t, size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.heard = SteadyClock::now();
    transfer.header_bytes += size;
    transfer.too_large = transfer.header_bytes > kMaxHeaders;
    if (transfer.too_large) return CURL_WRITEFUNC_ERROR;
    take_header(transfer.head, {data, size});
    const bool last = trim({data, size}).empty();
    if (last && transfer.head.ok() && transfer.on_head) transfer.on_head();
    return size;
  }
  static size_t on_body(char* data, size_t, size_t size, void* self) {
    return static_cast<Transfer*>(self)->take_piece({data, size}) ? size : CURL_WRITEFUNC_ERROR;
  }

  /// How long to wait for the network at most; 0 when nothing has come for too long.
  Milliseconds patience(const Request& request) const {
    const Milliseconds most = request.still_wanted ? kStillWantedWait : kLongWait;
    if (request.silence.count() == 0) return most;
    const auto waited = SteadyClock::now() - heard;
    if (waited >= request.silence) return Milliseconds(0);
    return std::min(most, std::chrono::ceil<Milliseconds>(request.silence - waited));
  }

  /// Until the end of the transfer, of patience, or the stop.
  CURLcode drive(CURLM* multi, CURL* easy, const Request& request, const Stopper* stopper) {
    curl().multi_add_handle(multi, easy);
    int running = 1;
    while (true) {
      const CURLMcode failed = curl().multi_perform(multi, &running);
      stopped = (stopper != nullptr && stopper->stopped()) ||
                (request.still_wanted && !request.still_wanted());
      if (failed != CURLM_OK || running == 0 || stopped) break;
      const Milliseconds wait = patience(request);
      silent = wait.count() == 0;
      if (silent) break;
      curl().multi_poll(multi, nullptr, 0, static_cast<int>(wait.count()), nullptr);
    }
    CURLcode code = running == 0 ? CURLE_OK : CURLE_ABORTED_BY_CALLBACK;
    int left = 0;
    while (const CURLMsg* message = curl().multi_info_read(multi, &left))
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    curl().multi_remove_handle(multi, easy);
    return code;
  }
};

struct HttpClient::State {
  Endpoint endpoint;
  std::unique_ptr<CURLM, MultiDelete> multi;
  std::unique_ptr<CURL, EasyDelete> easy;
  Response head;
  int os_error = 0;
  std::array<char, CURL_ERROR_SIZE> detail{};

  void prepare(const Request& request, curl_slist* headers, Transfer& transfer);
  std::string where(const Request& request) const;
  std::string server() const;
  Error failure(const Request& request, const Transfer& transfer, CURLcode code);
};

void HttpClient::State::prepare(const Request& request, curl_slist* headers, Transfer& transfer) {
  head = {};
  os_error = 0;
  detail = {};
  CURL* const handle = easy.get();
  curl().easy_reset(handle);
  curl().easy_setopt(handle, CURLOPT_URL, (endpoint.base + request.path).c_str());
  curl().easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
  curl().easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl().easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl().easy_setopt(handle, CURLOPT_ERRORBUFFER, detail.data());
  set_method(handle, request);
  set_trust(handle, endpoint);
  set_redirects(handle, endpoint, request);
  set_times(handle, request);
  if (request.aws) set_signing(handle, *request.aws);
  curl().easy_setopt(handle, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl().easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl().easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl().easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
}

std::string HttpClient::State::where(const Request& request) const {
  if (endpoint.unix_socket.empty()) return shown_url(endpoint.base + request.path);
  return fmt::format("{} ({})", endpoint.unix_socket.native(), shown_url(request.path));
}

std::string HttpClient::State::server() const {
  return endpoint.unix_socket.empty() ? shown_url(endpoint.base) : endpoint.unix_socket.native();
}

Error HttpClient::State::failure(const Request& request, const Transfer& transfer, CURLcode code) {
  long error = 0;
  curl().easy_getinfo(easy.get(), CURLINFO_OS_ERRNO, &error);
  os_error = static_cast<int>(error);
  if (transfer.too_large) {
    return {ErrorKind::environment,
            fmt::format("the answer of {} is larger than {}", where(request),
                        format_bytes(static_cast<double>(kMaxBody)))};
  }
  if (transfer.silent) {
    return {ErrorKind::environment,
            fmt::format("nothing came from {} for {}; check that it is not overloaded, and try "
                        "again",
                        where(request), format_duration(request.silence)),
            true};
  }
  // Where nobody is, what was asked for does not matter.
  const bool nobody = code == CURLE_COULDNT_CONNECT && !endpoint.base.empty();
  return explain({code, detail.data(), os_error, nobody ? server() : where(request),
                  !endpoint.certificate_file.empty()});
}

HttpClient::HttpClient(Endpoint endpoint) {
  state_ = std::make_unique<State>();
  state_->endpoint = std::move(endpoint);
  if (!curl().loaded) return;
  state_->multi.reset(curl().multi_init());
  state_->easy.reset(curl().easy_init());
}
HttpClient::HttpClient(HttpClient&& other) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&& other) noexcept = default;
HttpClient::~HttpClient() = default;

const Response& HttpClient::head() const {
  return state_->head;
}
int HttpClient::os_error() const {
  return state_->os_error;
}

Result<Response> HttpClient::send(const Request& request, Stopper* stopper) {
  Transfer transfer{.head = state_->head, .take = nullptr, .on_head = request.on_head};
  return perform(request, transfer, stopper);
}

Result<Response> HttpClient::stream(const Request& request, const Take& take, Stopper* stopper) {
  Transfer transfer{.head = state_->head, .take = &take, .on_head = request.on_head};
  return perform(request, transfer, stopper);
}

Result<Response> HttpClient::perform(const Request& request, Transfer& transfer, Stopper* stopper) {
  ASSAY_CHECK(curl().loaded);
  const HeaderList headers = header_list(request);
  state_->prepare(request, headers.get(), transfer);
  if (stopper != nullptr) stopper->watch(state_->multi.get());
  const CURLcode code = transfer.drive(state_->multi.get(), state_->easy.get(), request, stopper);
  if (stopper != nullptr) stopper->watch(nullptr);
  if (code == CURLE_OK || transfer.ended || transfer.stopped) return std::move(state_->head);
  return fail(state_->failure(request, transfer, code));
}

}  // namespace assay::net
