// SPDX-License-Identifier: Apache-2.0
#include "dataset/s3.h"

#include "dataset/cache.h"
#include "dataset/download.h"
#include "dataset/keep_file.h"
#include "dataset/s3_listing.h"
#include "dataset/s3_settings.h"
#include "dataset/safe_folder.h"
#include "dataset/sha256.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/stat.h>

#include <assay/net/http_client.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxObjects = 2'000'000;

/// An object and where it goes below the dataset's folder.
struct Wanted {
  S3Object object;
  std::string path;
};

class S3Fetch {
 public:
  S3Fetch(std::string source, S3Address address, const S3Settings& settings, const Cache& cache,
          const Progress& progress)
      : source_(std::move(source)),
        address_(std::move(address)),
        settings_(settings),
        cache_(cache),
        progress_(progress),
        client_(net::Endpoint{.base = settings.endpoint}) {}

  Result<Dataset> run() {
    ASSAY_CHECK(list());
    const std::string digest = list_digest();
    const std::string key =
        sha256_of(fmt::format("s3\n{}\n{}\n{}", settings_.endpoint, source_, digest));
    if (auto found = cache_.find(key)) return std::move(*found);
    ASSAY_TRY(const WorkFolder work, cache_.work_on(key, progress_));
    if (auto found = cache_.find(key)) {
      work.discard();
      return std::move(*found);
    }
    if (wanted_.size() == 1 && wanted_[0].object.key == address_.prefix) {
      ASSAY_CHECK(cache_.make_room(total_));
      ASSAY_TRY(const fs::path part, download(wanted_[0], work));
      return keep_file(cache_, work, key, part, wanted_[0].path, {source_, digest}, progress_);
    }
    ASSAY_CHECK(download_all(work));
    return cache_.keep(work, key, {source_, digest});
  }

 private:
  std::string folder_prefix() const {
    const bool is_folder = address_.prefix.empty() || address_.prefix.ends_with('/');
    return is_folder ? address_.prefix : address_.prefix + '/';
  }

  /// Parameters in the order of their names, as the signature wants them.
  std::string list_path(const std::string& token) const {
    std::string query;
    if (!token.empty()) query = "continuation-token=" + net::url_encoded(token) + '&';
    query += "encoding-type=url&list-type=2&prefix=" + net::url_encoded(address_.prefix);
    return fmt::format("/{}?{}", address_.bucket, query);
  }

  Result<void> list() {
    std::string token;
    do {
      ASSAY_TRY(const S3Page page, list_page(token));
      for (const S3Object& object : page.objects) ASSAY_CHECK(want(object));
      if (page.next == token && !token.empty())
        return refused(fmt::format("the list of {} has no end; check the endpoint", source_));
      token = page.next;
    } while (!token.empty());
    if (!wanted_.empty()) return {};
    return bad_input(fmt::format("{} has no objects; check the bucket and the prefix", source_));
  }

  Result<S3Page> list_page(const std::string& token) {
    net::Request request;
    request.path = list_path(token);
    request.aws = settings_.signing;
    request.still_wanted = [this] { return progress_(0, std::nullopt); };
    ASSAY_TRY(const net::Response response, client_.send(request));
    if (response.status == 0) return fail(stopped_error());
    if (!response.ok()) return fail(refusal(response));
    return parse_s3_page(response.body);
  }

  Error refusal(const net::Response& response) const {
    std::string_view to_do = "check the bucket, the endpoint and the region";
    if (response.status == 403 || response.status == 401)
      to_do = settings_.signing ? "check the credentials and what they may read"
                                : "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    const std::string code = s3_error_code(response.body);
    return {ErrorKind::environment,
            fmt::format("{} cannot be listed at {}: status {}{}{}; {}", source_,
                        net::shown_url(settings_.endpoint), response.status,
                        code.empty() ? "" : " ", code, to_do),
            response.status >= 500};
  }

  /// Notes an object of the list; what only begins like the prefix is not meant.
  Result<void> want(const S3Object& object) {
    const std::string prefix = folder_prefix();
    std::string path;
    if (object.key == address_.prefix && !object.key.ends_with('/')) {
      path = object.key.substr(object.key.rfind('/') + 1);
    } else if (object.key.starts_with(prefix) && !object.key.ends_with('/')) {
      path = object.key.substr(prefix.size());
    } else {
      return {};
    }
    const auto parts = safe_parts(path);
    if (!parts || parts->empty() || path.find("//") != std::string::npos) {
      return bad_input(
          fmt::format("the object '{}' of {} cannot become a file below one folder; "
                      "rename it",
                      object.key, source_));
    }
    if (wanted_.size() >= kMaxObjects)
      return refused(fmt::format("{} has more than {} objects", source_, kMaxObjects));
    total_ += std::min(object.size, UINT64_MAX - total_);
    wanted_.push_back({object, path});
    return {};
  }

  std::string list_digest() const {
    std::string text;
    for (const Wanted& wanted : wanted_)
      text += fmt::format("{}\n{}\n{}\n", wanted.object.key, wanted.object.size, wanted.object.tag);
    return sha256_of(text);
  }

  Result<void> download_all(const WorkFolder& work) {
    std::error_code error;
    fs::create_directories(work.content(), error);
    const uint64_t there = bytes_below(work.path());
    ASSAY_CHECK(cache_.make_room(total_ - std::min(total_, there)));
    ASSAY_TRY(SafeFolder folder, SafeFolder::open(work.content()));
    for (const Wanted& wanted : wanted_) {
      const fs::path file = work.content() / wanted.path;
      if (!is_there(file, wanted.object.size)) ASSAY_CHECK(place(wanted, work, folder));
      done_ += wanted.object.size;
    }
    return {};
  }

  /// Only whole objects get their name in the work folder.
  static bool is_there(const fs::path& file, uint64_t size) {
    struct stat status {};
    return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           static_cast<uint64_t>(status.st_size) == size;
  }

  Result<void> place(const Wanted& wanted, const WorkFolder& work, SafeFolder& folder) {
    ASSAY_TRY(const fs::path part, download(wanted, work));
    ASSAY_TRY(const Fd placeholder, folder.make_file(wanted.path, false));
    std::error_code error;
    fs::rename(part, work.content() / wanted.path, error);
    if (error) return refused(fmt::format("cannot make {}: {}", wanted.path, error.message()));
    return {};
  }

  Result<fs::path> download(const Wanted& wanted, const WorkFolder& work) {
    Remote remote{
        .path = fmt::format("/{}/{}", address_.bucket, net::url_encoded(wanted.object.key, "/")),
        .name = fmt::format("s3://{}/{}", address_.bucket, wanted.object.key)};
    // Never another version than the one that was listed.
    if (!wanted.object.tag.empty()) remote.headers = {"If-Match: " + wanted.object.tag};
    remote.aws = settings_.signing;
    const Progress progress = [this](uint64_t done, std::optional<uint64_t>) {
      return progress_(done_ + done, total_);
    };
    const DownloadRules rules{.room = [](uint64_t) { return Result<void>(); },
                              .max_bytes = wanted.object.size};
    const fs::path part = part_of(work, wanted);
    ASSAY_TRY(const Downloaded downloaded, Download(client_, remote, part, rules, progress).run());
    if (downloaded.bytes != wanted.object.size) {
      std::error_code ignored;
      fs::remove(part, ignored);
      return refused(fmt::format("{} has {} bytes, not the {} that were listed; try again",
                                 remote.name, downloaded.bytes, wanted.object.size));
    }
    return part;
  }

  /// Its own for each object: another one's beginning must not be continued.
  static fs::path part_of(const WorkFolder& work, const Wanted& wanted) {
    return work.path() / ("part-" + sha256_of(wanted.object.key));
  }

  std::string source_;
  S3Address address_;
  const S3Settings& settings_;
  const Cache& cache_;
  const Progress& progress_;
  net::HttpClient client_;
  std::vector<Wanted> wanted_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
};

}  // namespace

Result<Dataset> fetch_s3(const std::string& source, const DatasetCache& settings,
                         const Progress& progress) {
  ASSAY_TRY(S3Address address, parse_s3_address(source));
  ASSAY_TRY(const S3Settings store, s3_settings());
  ASSAY_TRY(const Cache cache, Cache::open(settings));
  return S3Fetch(source, std::move(address), store, cache, progress).run();
}

}  // namespace assay::launch
