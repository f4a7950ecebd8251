// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay {

/// What is written to one end is read from the other. Programs that are started have neither, but
/// for what they are given by name.
struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe();

}  // namespace assay
