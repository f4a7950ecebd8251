// SPDX-License-Identifier: Apache-2.0
#include "watch_lines.h"

namespace assay::kubeapi {

Result<bool> WatchLines::feed(std::string_view piece, const Take& take) {
  for (size_t end = piece.find('\n'); end != piece.npos; end = piece.find('\n')) {
    std::string_view line = piece.substr(0, end);
    if (begun_.size() + line.size() > kLongest) break;
    if (!begun_.empty()) line = begun_.append(line);
    const bool goes_on = line.empty() || take(line);
    begun_.clear();
    if (!goes_on) return false;
    piece.remove_prefix(end + 1);
  }
  if (begun_.size() + piece.size() > kLongest)
    return refused("the API server sent an endless line instead of a pod");
  begun_ += piece;
  return true;
}

}  // namespace assay::kubeapi
