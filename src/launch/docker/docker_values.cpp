// SPDX-License-Identifier: Apache-2.0
#include "docker/docker_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include <assay/base/letters.h>
#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr size_t kLongestQuote = 200;
constexpr size_t kLongestKey = 40;

/// The empty ones too.
std::vector<std::string> fields_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  const auto count = std::count(text.begin(), text.end(), separator);
  for (ptrdiff_t i = 0; i <= count; ++i) parts.emplace_back(next_field(text, separator));
  return parts;
}

bool is_name(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  };
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) != 0 &&
         std::all_of(text.begin(), text.end(), allowed);
}

/// As docker does, a path that begins with a dot starts from the current folder.
Result<std::string> absolute_source(const std::string& source) {
  if (source.starts_with('/')) return source;
  if (!source.starts_with('.')) {
    return bad_input(
        fmt::format("{} must be a whole path, as in /data/{}", in_quotes(source),
                    source.starts_with('~') ? "file; ~ is a shell's and not known here" : "file"));
  }
  std::error_code error;
  const auto folder = std::filesystem::current_path(error);
  if (error) return bad_input("the current folder is gone; write the whole path");
  return (folder / source).native();
}

/// Without `.`, `..` and a slash at its end, so that two names of one place are the same.
Result<std::string> clean_target(const std::string& target) {
  if (!target.starts_with('/')) {
    return bad_input(
        fmt::format("{} is where it would be inside the container and must be a whole path",
                    in_quotes(target)));
  }
  std::filesystem::path clean = std::filesystem::path(target).lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  if (clean == "/") return bad_input("nothing can be mounted over the container's /");
  return clean.native();
}

Result<void> set_volume_options(std::string_view text, Mount& mount) {
  for (const auto& option : fields_of(text, ',')) {
    if (option == "ro" || option == "readonly") {
      mount.read_only = true;
    } else if (option == "rw") {
      mount.read_only = false;
    } else if (option != "consistent" && option != "cached" && option != "delegated") {
      return bad_input(fmt::format("{} is not known here; use ro or rw", in_quotes(option)));
    }
  }
  return {};
}

/// What `--mount` is told, before it is judged as a whole.
struct MountKeys {
  std::string type = "volume";
  Mount mount;
};

std::optional<bool> to_bool(std::string_view text) {
  if (text.empty() || text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

Result<void> set_mount_key(std::string_view key, const std::string& value, MountKeys& keys) {
  if (key == "type") {
    keys.type = value;
  } else if (key == "source" || key == "src") {
    keys.mount.source = value;
  } else if (key == "target" || key == "dst" || key == "destination") {
    keys.mount.target = value;
  } else if (key == "readonly" || key == "ro") {
    const auto read_only = to_bool(value);
    if (!read_only) return bad_input(fmt::format("{} must be true or false", key));
    keys.mount.read_only = *read_only;
  } else if (key == "tmpfs-size") {
    const auto bytes = parse_bytes(value);
    if (!bytes) return bad_input("tmpfs-size must be a size, as in 64m");
    keys.mount.tmpfs_bytes = *bytes;
  } else {
    constexpr std::array<std::string_view, 5> kKeys = {"type", "source", "target", "readonly",
                                                       "tmpfs-size"};
    const auto near = nearest(key.substr(0, kLongestKey), kKeys);
    return bad_input(fmt::format("key {} is not known here; {}", in_quotes(key),
                                 near ? fmt::format("did you mean {}?", *near)
                                      : "known are type, source, target, readonly, tmpfs-size"));
  }
  return {};
}

Result<Mount> checked(MountKeys keys) {
  Mount& mount = keys.mount;
  if (mount.target.empty()) return bad_input("has no target=");
  ASSAY_TRY(mount.target, clean_target(mount.target));
  if (keys.type == "bind") {
    mount.kind = MountKind::bind;
    if (mount.source.empty()) return bad_input("has no source=");
    ASSAY_TRY(mount.source, absolute_source(mount.source));
  } else if (keys.type == "volume") {
    mount.kind = MountKind::volume;
    if (!mount.source.empty() && !is_name(mount.source))
      return bad_input(fmt::format("{} is not a volume's name; for a path write type=bind",
                                   in_quotes(mount.source)));
  } else if (keys.type == "tmpfs") {
    mount.kind = MountKind::tmpfs;
    if (!mount.source.empty()) return bad_input("a tmpfs has no source");
  } else {
    return bad_input(
        fmt::format("type {} is not known here; use bind, volume or tmpfs", in_quotes(keys.type)));
  }
  if (mount.tmpfs_bytes && mount.kind != MountKind::tmpfs)
    return bad_input("tmpfs-size goes with type=tmpfs");
  return std::move(mount);
}

bool are_permissions(std::string_view text) {
  return !text.empty() && text.size() <= 3 && text.find_first_not_of("rwm") == text.npos;
}

}  // namespace

Result<Mount> parse_volume(const std::string& text) {
  const auto parts = fields_of(text, ':');
  Mount mount;
  if (parts.size() > 3)
    return bad_input("has too many colons; write SOURCE:TARGET or SOURCE:TARGET:ro");
  ASSAY_TRY(mount.target, clean_target(parts.size() == 1 ? parts[0] : parts[1]));
  if (parts.size() == 3) ASSAY_CHECK(set_volume_options(parts[2], mount));
  if (parts.size() == 1) {
    mount.kind = MountKind::volume;
  } else if (is_name(parts[0])) {
    mount.kind = MountKind::volume;
    mount.source = parts[0];
  } else {
    ASSAY_TRY(mount.source, absolute_source(parts[0]));
  }
  return mount;
}

Result<Mount> parse_mount(const std::string& text) {
  MountKeys keys;
  for (const auto& part : fields_of(text, ',')) {
    const size_t equal = part.find('=');
    const std::string value = equal == part.npos ? "" : part.substr(equal + 1);
    ASSAY_CHECK(set_mount_key(std::string_view(part).substr(0, equal), value, keys));
  }
  return checked(std::move(keys));
}

Result<DeviceArg> parse_device(const std::string& text) {
  auto parts = fields_of(text, ':');
  DeviceArg device;
  device.source = parts[0];
  if (!device.source.starts_with('/'))
    return bad_input(
        fmt::format("{} must be a whole path, as in /dev/video0", in_quotes(parts[0])));
  device.target = device.source;
  if (parts.size() == 2 && are_permissions(parts[1])) {
    device.permissions = parts[1];
    return device;
  }
  if (parts.size() > 3) return bad_input("has too many colons; write SOURCE:TARGET:rw");
  if (parts.size() >= 2) {
    ASSAY_TRY(device.target, clean_target(parts[1]));
  }
  if (parts.size() == 3) {
    if (!are_permissions(parts[2]))
      return bad_input(fmt::format("{} must be of r, w and m", in_quotes(parts[2])));
    device.permissions = parts[2];
  }
  return device;
}

Result<std::string> parse_gpus(const std::string& text) {
  std::string value = text;
  std::erase(value, '"');
  if (value == "all") return value;
  if (value.starts_with("count=")) value.erase(0, 6);
  if (const auto count = parse_uint(value); count && *count >= 1 && *count <= 1024)
    return fmt::to_string(*count);
  if (value == "all") return value;
  if (value.starts_with("device=")) {
    const auto ids = fields_of(std::string_view(value).substr(7), ',');
    if (std::all_of(ids.begin(), ids.end(), is_name)) return value;
  }
  return bad_input("must be all, a number, or as in device=0,1");
}

Result<UlimitArg> parse_ulimit(const std::string& text) {
  const size_t equal = text.find('=');
  UlimitArg limit;
  limit.name = text.substr(0, equal);
  const auto values =
      fields_of(equal == text.npos ? "" : std::string_view(text).substr(equal + 1), ':');
  const auto soft = parse_int(values.front());
  const auto hard = parse_int(values.back());
  if (!is_name(limit.name) || !soft || !hard || values.size() > 2 || *soft < -1 || *hard < -1)
    return bad_input("must be as in nofile=1024 or nofile=1024:2048");
  limit.soft = *soft;
  limit.hard = *hard;
  return limit;
}

std::string capability_name(std::string_view text) {
  std::string name;
  for (const char c : text) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (name.starts_with("CAP_")) name.erase(0, 4);
  return name;
}

std::string in_quotes(std::string_view text) {
  size_t size = std::min(text.size(), kLongestQuote);
  while (size > 0 && size < text.size() && continues_utf8(text[size])) --size;
  std::string out = "'";
  for (const char c : text.substr(0, size)) {
    out += has_control_characters(std::string_view(&c, 1)) ? '?' : c;
  }
  out += size < text.size() ? "…'" : "'";
  return out;
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

}  // namespace assay::launch
