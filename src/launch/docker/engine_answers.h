// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/engine.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a container daemon answers, read without talking to it. Whatever is missing or of another
/// type than usual counts as not told.
namespace assay::launch {

std::string text_of(const Json& json, const char* key);
Json part(const Json& json, const char* key);

/// The daemon's own words, from {"message": "..."} (Docker) or {"cause", "message"} (Podman).
std::string message_of(std::string_view body, int status);
/// Whether a refused signal says that the container does not run any more.
bool says_it_has_ended(std::string_view body, int status);

/// Whether a refused start is about the app's command (runc's words, crun's words), not about what
/// is mounted or the machine.
bool says_it_cannot_be_executed(std::string_view message);

/// From GET /version and GET /info. Nothing where it is no container daemon's.
std::optional<EngineInfo> read_engine(const Json& version);
void add_info(const Json& info, EngineInfo& engine);
ImageInfo read_image(const Json& json);
ContainerState read_container(const Json& json);
std::vector<Listed> read_list(const Json& json);
/// Empty: it has none.
std::string read_gateway(const Json& network);
/// Of a container in one of its networks; empty: it is not in it.
std::string read_address(const Json& container, const std::string& network);
/// "127.0.0.1:32768" for a port of a container; empty: it is not published.
std::string read_published(const Json& container, int port);

}  // namespace assay::launch
