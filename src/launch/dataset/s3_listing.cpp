// SPDX-License-Identifier: Apache-2.0
#include "dataset/s3_listing.h"

#include <algorithm>
#include <cctype>
#include <expat.h>
#include <functional>
#include <memory>
#include <optional>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr size_t kMaxText = 8192;
constexpr size_t kMaxDepth = 16;

/// Walks through a document and tells each element's end with its path ("/A/B") and text.
class XmlWalk {
 public:
  using OnEnd = std::function<void(const std::string& path, const std::string& text)>;

  /// False when the document is not well-formed, or larger in some way than ours ever are.
  static bool run(std::string_view xml, OnEnd on_end) {
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
        XML_ParserCreate("UTF-8"), &XML_ParserFree);
    XmlWalk walk(parser.get(), std::move(on_end));
    XML_SetUserData(parser.get(), &walk);
    XML_SetElementHandler(parser.get(), &begin, &end);
    XML_SetCharacterDataHandler(parser.get(), &characters);
    XML_SetDoctypeDeclHandler(parser.get(), &doctype, nullptr);
    return xml.size() < (1U << 30U) &&
           XML_Parse(parser.get(), xml.data(), static_cast<int>(xml.size()), 1) == XML_STATUS_OK;
  }

 private:
  XmlWalk(XML_Parser parser, OnEnd on_end) : parser_(parser), on_end_(std::move(on_end)) {}

  static void begin(void* self, const XML_Char* name, const XML_Char** /*attributes*/) {
    auto& walk = *static_cast<XmlWalk*>(self);
    if (++walk.depth_ > kMaxDepth) return walk.stop();
    walk.path_ += '/';
    walk.path_ += name;
    walk.text_.clear();
  }
  static void end(void* self, const XML_Char* /*name*/) {
    auto& walk = *static_cast<XmlWalk*>(self);
    walk.on_end_(walk.path_, walk.text_);
    walk.path_.resize(walk.path_.rfind('/'));
    walk.text_.clear();
    --walk.depth_;
  }
  static void characters(void* self, const XML_Char* text, int size) {
    auto& walk = *static_cast<XmlWalk*>(self);
    walk.text_.append(text, static_cast<size_t>(size));
    if (walk.text_.size() > kMaxText) walk.stop();
  }
  /// No answer of a store has one, and only in one can entities be made.
  static void doctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    static_cast<XmlWalk*>(self)->stop();
  }
  void stop() { XML_StopParser(parser_, XML_FALSE); }

  XML_Parser parser_;
  OnEnd on_end_;
  std::string path_;
  std::string text_;
  size_t depth_ = 0;
};

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

/// As the stores encode keys when asked to: "%20" or "+" for a space.
std::string url_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    if (low) {
      decoded += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

/// Collects what a listing says.
class PageReader {
 public:
  void take(const std::string& path, const std::string& text) {
    if (path == "/ListBucketResult/Contents/Key") object_.key = text;
    if (path == "/ListBucketResult/Contents/ETag") object_.tag = text;
    if (path == "/ListBucketResult/Contents/Size") size_ = parse_uint(trim(text));
    if (path == "/ListBucketResult/Contents") end_object();
    if (path == "/ListBucketResult/EncodingType") encoded_ = text == "url";
    if (path == "/ListBucketResult/IsTruncated") truncated_ = text == "true";
    if (path == "/ListBucketResult/NextContinuationToken") page_.next = text;
    if (path == "/ListBucketResult") is_listing_ = true;
  }

  Result<S3Page> page() && {
    if (!is_listing_ || broken_ || (truncated_ && page_.next.empty()))
      return refused("the store's list of objects cannot be understood; check the endpoint");
    if (!truncated_) page_.next.clear();
    if (encoded_)
      for (S3Object& object : page_.objects) object.key = url_decoded(object.key);
    return std::move(page_);
  }

 private:
  void end_object() {
    broken_ = broken_ || object_.key.empty() || !size_;
    object_.size = size_.value_or(0);
    page_.objects.push_back(std::move(object_));
    object_ = {};
    size_.reset();
  }

  S3Page page_;
  S3Object object_;
  std::optional<uint64_t> size_;
  bool encoded_ = false;
  bool truncated_ = false;
  bool is_listing_ = false;
  bool broken_ = false;
};

}  // namespace

Result<S3Page> parse_s3_page(std::string_view xml) {
  PageReader reader;
  const bool whole = XmlWalk::run(
      xml, [&](const std::string& path, const std::string& text) { reader.take(path, text); });
  if (!whole) return refused("the store's list of objects is not whole; check the endpoint");
  return std::move(reader).page();
}

std::string s3_error_code(std::string_view xml) {
  std::string code;
  XmlWalk::run(xml, [&](const std::string& path, const std::string& text) {
    if (path == "/Error/Code") code = text;
  });
  const bool is_plain =
      code.size() < 64 &&
      std::all_of(code.begin(), code.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  return is_plain ? code : "";
}

}  // namespace assay::launch
