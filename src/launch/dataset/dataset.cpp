// SPDX-License-Identifier: Apache-2.0
#include "dataset/cache.h"
#include "dataset/download.h"
#include "dataset/extract.h"
#include "dataset/keep_file.h"
#include "dataset/s3.h"
#include "dataset/s3_settings.h"
#include "dataset/sha256.h"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include <assay/base/letters.h>
#include <assay/launch/dataset.h>
#include <assay/net/http_client.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSchemeMark = "://";

enum class SourceKind { path, http, s3 };

Result<SourceKind> kind_of(const std::string& source) {
  if (source.empty()) return bad_input("the dataset has no name; give a path or an address");
  if (source.find(kSchemeMark) == std::string::npos) return SourceKind::path;
  if (source.starts_with("s3://")) return SourceKind::s3;
  if (source.starts_with("https://")) return SourceKind::http;
  if (source.starts_with("http://")) {
    if (net::is_loopback_url(source)) return SourceKind::http;
    return bad_input(
        fmt::format("the dataset {} would come unprotected; use https://", net::shown_url(source)));
  }
  return bad_input(
      fmt::format("the dataset {} has an address of a kind we cannot fetch; use "
                  "https://, s3:// or a path",
                  net::shown_url(source)));
}

Result<void> check_sum(const DatasetSource& source, const std::string& sum) {
  if (source.sha256.empty() || lower_case(source.sha256) == sum) return {};
  return bad_input(
      fmt::format("the dataset {} has the sha256 {}, not {}; correct the checksum, or "
                  "ask who provides the data",
                  net::shown_url(source.source), sum, lower_case(source.sha256)));
}

/// The file's name in an address, with nothing in it that a path would take for more than a name.
std::string name_in(const std::string& url) {
  const std::string shown = net::shown_url(url);
  const size_t host = shown.find(kSchemeMark) + kSchemeMark.size();
  const size_t slash = shown.rfind('/');
  std::string name = slash < host ? "" : shown.substr(slash + 1);
  for (char& c : name)
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '_';
  return name.empty() || name == "." || name == ".." ? "data" : name;
}

/// One https:// address on its way into the cache.
class HttpFetch {
 public:
  HttpFetch(const DatasetSource& source, const Cache& cache, const Progress& progress)
      : source_(source), cache_(cache), progress_(progress) {}

  Result<Dataset> run() {
    const std::string work_key = key(lower_case(source_.sha256));
    if (!source_.sha256.empty())
      if (auto found = cache_.find(work_key)) return std::move(*found);
    ASSAY_TRY(const WorkFolder work, cache_.work_on(work_key, progress_));
    if (!source_.sha256.empty()) {
      if (auto found = cache_.find(work_key)) return done(work, std::move(*found));
    }
    ASSAY_TRY(const Downloaded downloaded, download(work));
    if (found_) return done(work, std::move(*found_));
    return keep(work, downloaded);
  }

 private:
  std::string key(const std::string& version) const {
    return sha256_of(fmt::format("url\n{}\n{}", source_.source, version));
  }
  std::string version_key(const std::string& version) const { return key("version " + version); }

  static Result<Dataset> done(const WorkFolder& work, Dataset dataset) {
    work.discard();
    return dataset;
  }

  Result<Downloaded> download(const WorkFolder& work) {
    const size_t path =
        source_.source.find_first_of("/?", source_.source.find(kSchemeMark) + kSchemeMark.size());
    net::HttpClient client(net::Endpoint{.base = source_.source.substr(0, path)});
    const Remote remote{
        .path = path == std::string::npos ? "/" : source_.source.substr(path),
        .name = net::shown_url(source_.source),
    };
    DownloadRules rules{.room = [this](uint64_t bytes) { return cache_.make_room(bytes); },
                        .max_bytes = cache_.max_bytes()};
    if (source_.sha256.empty()) {
      rules.known = [this](const std::string& version) {
        if (!version.empty()) found_ = cache_.find(version_key(version));
        return found_.has_value();
      };
    }
    return Download(client, remote, work.part(), std::move(rules), progress_).run();
  }

  Result<Dataset> keep(const WorkFolder& work, const Downloaded& downloaded) {
    ASSAY_TRY(const std::string sum, sha256_of_file(work.part(), [&](uint64_t) {
                return progress_(downloaded.bytes, downloaded.bytes);
              }));
    if (auto checked = check_sum(source_, sum); !checked) {
      work.discard();
      return fail(checked.error());
    }
    // A server that tells no version is asked for all of it each time.
    const std::string entry_key =
        !source_.sha256.empty()
            ? key(lower_case(source_.sha256))
            : version_key(downloaded.version.empty() ? sum : downloaded.version);
    if (auto found = cache_.find(entry_key)) return done(work, std::move(*found));
    auto kept = keep_file(cache_, work, entry_key, work.part(), name_in(source_.source),
                          {net::shown_url(source_.source), sum}, progress_);
    if (!kept && kept.error().kind == ErrorKind::input) work.discard();
    return kept;
  }

  const DatasetSource& source_;
  const Cache& cache_;
  const Progress& progress_;
  std::optional<Dataset> found_;
};

Result<Dataset> fetch_archive(const fs::path& file, const std::string& sum,
                              const DatasetCache& settings, const Progress& progress) {
  ASSAY_TRY(const Cache cache, Cache::open(settings));
  const std::string key = sha256_of("file\n" + sum);
  if (auto found = cache.find(key)) return std::move(*found);
  ASSAY_TRY(const WorkFolder work, cache.work_on(key, progress));
  auto found = cache.find(key);
  auto result = found ? Result<Dataset>(std::move(*found))
                      : keep_file(cache, work, key, file, file.filename().native(),
                                  {file.native(), sum}, progress);
  work.discard();
  return result;
}

Result<Dataset> fetch_path(const DatasetSource& source, const DatasetCache& cache,
                           const Progress& progress) {
  std::error_code error;
  const fs::path path = fs::absolute(source.source, error);
  if (fs::is_directory(path, error)) return Dataset(path, "", 0, Fd());
  const uint64_t bytes = fs::file_size(path, error);
  const bool is_archive = is_archive_name(path.native());
  if (!is_archive && source.sha256.empty()) return Dataset(path, "", bytes, Fd());
  ASSAY_TRY(const std::string sum,
            sha256_of_file(path, [&](uint64_t done) { return progress(done, bytes); }));
  ASSAY_CHECK(check_sum(source, sum));
  if (is_archive) return fetch_archive(path, sum, cache, progress);
  return Dataset(path, sum, bytes, Fd());
}

Result<void> check_path(const DatasetSource& source) {
  std::error_code error;
  const fs::file_status status = fs::status(source.source, error);
  if (!fs::exists(status))
    return bad_input(fmt::format("the dataset {} is not there", source.source));
  if (!fs::is_directory(status) && !fs::is_regular_file(status))
    return bad_input(fmt::format("the dataset {} is no file and no folder", source.source));
  if (::access(source.source.c_str(), R_OK) != 0)
    return bad_input(fmt::format("the dataset {} may not be read", source.source));
  if (fs::is_directory(status) && !source.sha256.empty())
    return bad_input(
        fmt::format("the dataset {} is a folder, which has no sha256; leave it out or "
                    "give an archive",
                    source.source));
  return {};
}

Result<void> check_s3(const DatasetSource& source) {
  ASSAY_CHECK(parse_s3_address(source.source));
  ASSAY_CHECK(s3_settings());
  if (source.sha256.empty()) return {};
  return bad_input(
      fmt::format("the dataset {} may have many objects, which have no sha256; leave "
                  "it out",
                  source.source));
}

}  // namespace

DatasetCache default_dataset_cache() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  DatasetCache cache;
  if (const fs::path chosen = variable("ASSAY_CACHE"); !chosen.empty()) {
    cache.folder = chosen / "datasets";
  } else if (const fs::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) {
    cache.folder = xdg / "assay" / "datasets";
  } else if (const fs::path home = variable("HOME"); home.is_absolute()) {
    cache.folder = home / ".cache" / "assay" / "datasets";
  } else {
    cache.folder = data_home() / "datasets";
  }
  return cache;
}

Result<void> check_dataset(const DatasetSource& source) {
  ASSAY_TRY(const SourceKind kind, kind_of(source.source));
  if (!source.sha256.empty() && !is_sha256(source.sha256)) {
    return bad_input(fmt::format("'{}' is no sha256; it has 64 hexadecimal digits", source.sha256));
  }
  if (kind == SourceKind::path) return check_path(source);
  if (kind == SourceKind::s3) return check_s3(source);
  const size_t host = source.source.find(kSchemeMark) + kSchemeMark.size();
  if (source.source.find_first_of("/?#", host) != host && source.source.size() > host) return {};
  return bad_input(fmt::format("the dataset {} names no host", net::shown_url(source.source)));
}

Result<Dataset> fetch_dataset(const DatasetSource& source, const DatasetCache& settings,
                              const Progress& progress) {
  ASSAY_CHECK(check_dataset(source));
  ASSAY_TRY(const SourceKind kind, kind_of(source.source));
  if (kind == SourceKind::path) return fetch_path(source, settings, progress);
  if (kind == SourceKind::s3) return fetch_s3(source.source, settings, progress);
  ASSAY_TRY(const Cache cache, Cache::open(settings));
  return HttpFetch(source, cache, progress).run();
}

}  // namespace assay::launch
