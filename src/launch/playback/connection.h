// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "playback/source.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <utility>  // before Asio, which forgets it
#include <vector>

namespace assay::launch {

/// Reads one request and answers it: with a stream that goes on until the client leaves or the
/// source is over, or with one picture or piece of sound. Ends when the connection does.
boost::asio::awaitable<void> serve_client(boost::asio::ip::tcp::socket socket,
                                          const std::vector<Source*>& sources);

}  // namespace assay::launch
