// SPDX-License-Identifier: Apache-2.0
// Prints the example scrape, "classic" or "openmetrics", plain or with "gzip" as a scraper gets it.
#include "example.h"

#include <cstdio>
#include <string>

using namespace assay::promapi;

int main(int argc, char** argv) {
  const std::string format = argc > 1 ? argv[1] : "";
  if (format != "classic" && format != "openmetrics") return 2;
  Exposition out;
  std::string_view text = testing::write_example(
      out, format == "classic" ? TextFormat::classic : TextFormat::openmetrics);
  Gzip gzip;
  if (argc > 2) text = gzip.compressed(text).value_or("");
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
