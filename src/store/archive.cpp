// SPDX-License-Identifier: Apache-2.0
#include "archive.h"

#include "blocks.h"
#include "bytes.h"
#include "json_text.h"
#include "packer.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/base/text.h>

namespace assay::store {
namespace {

constexpr std::string_view kMagic = "ASSAYSES";
constexpr uint8_t kVersion = 1;
constexpr int kLevel = 6;
constexpr size_t kMaxId = 128;

Failure damaged(std::string_view why) {
  return bad_input(
      fmt::format("the session file is damaged or cut short ({}): export it again", why));
}

/// Ids become file names elsewhere.
bool is_plain_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxId && id[0] != '.' &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                  c == '.';
         });
}

Result<void> check_block(std::string_view block, size_t series) {
  auto columns = decode_block(block);
  if (!columns) return bad_input(columns.error().message);
  for (const auto& column : *columns) {
    if (column.series >= series) return damaged("unknown series");
  }
  return {};
}

Result<ArchivedRun> read_run(ByteReader& in) {
  ArchivedRun run;
  run.ordinal = static_cast<int>(std::min<uint64_t>(in.varint(), INT32_MAX));
  for (uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
    ASSAY_TRY(auto info, parse_series(in.text()));
    run.series.push_back(std::move(info));
  }
  for (uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
    const auto block = in.text();
    ASSAY_CHECK(check_block(block, run.series.size()));
    run.blocks.emplace_back(block);
  }
  if (in.failed()) return damaged("samples");
  return run;
}

Result<SessionRecord> read_session(std::string_view text) {
  ASSAY_TRY(const Json json, parse_json(text));
  ASSAY_TRY(auto session, session_from_json(json));
  if (!is_plain_id(session.id)) return damaged("session id");
  return session;
}

/// Each archived run belongs to one run of the session.
Result<void> check_runs(const Archive& archive) {
  std::set<int> known;
  for (const auto& run : archive.session.runs) {
    if (run.ordinal < 1 || !known.insert(run.ordinal).second) return damaged("run numbers");
  }
  for (const auto& run : archive.runs) {
    if (known.erase(run.ordinal) == 0) return damaged("samples of an unknown run");
  }
  return {};
}

}  // namespace

Result<std::string> write_archive(const Archive& archive) {
  ByteWriter content;
  content.text(json_text(to_json(archive.session)));
  content.varint(archive.runs.size());
  for (const auto& run : archive.runs) {
    content.varint(static_cast<uint64_t>(run.ordinal));
    content.varint(run.series.size());
    for (const auto& info : run.series) content.text(series_text(info));
    content.varint(run.blocks.size());
    for (const auto& block : run.blocks) content.text(block);
  }
  if (content.size() > kMaxArchive) {
    return bad_input(fmt::format("session {} has {} of samples, a session file may have {}",
                                 archive.session.id,
                                 format_bytes(static_cast<double>(content.size())),
                                 format_bytes(static_cast<double>(kMaxArchive))));
  }
  ByteWriter out;
  out.raw(kMagic);
  out.byte(kVersion);
  out.raw(Packer(kLevel, true).pack(content.str()));
  return out.take();
}

Result<Archive> read_archive(std::string_view bytes) {
  ByteReader head(bytes);
  if (head.raw(kMagic.size()) != kMagic) {
    return bad_input("not a session file: `assay history export SESSION -o FILE` makes one");
  }
  const uint8_t version = head.byte();
  if (head.failed()) return damaged("its head");
  if (version != kVersion) {
    return bad_input(fmt::format(
        "the session file has format {}, this version of Assay knows {}: use a newer Assay",
        version, kVersion));
  }
  const auto content = unpack(head.raw(head.left()), kMaxArchive);
  if (!content) return damaged("its compression");
  ByteReader in(*content);
  Archive archive;
  ASSAY_TRY(archive.session, read_session(in.text()));
  for (uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
    ASSAY_TRY(auto run, read_run(in));
    archive.runs.push_back(std::move(run));
  }
  if (!in.done()) return damaged("its end");
  ASSAY_CHECK(check_runs(archive));
  return archive;
}

}  // namespace assay::store
