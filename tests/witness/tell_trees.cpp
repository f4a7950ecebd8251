// SPDX-License-Identifier: Apache-2.0
// What our own reader of XGBoost's trees tells of rows:
//   tell_trees MODEL < rows
// One row a line, numbers apart by spaces, "nan" for what is missing; prints one number a line.
#include "trees.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <assay/base/files.h>

namespace {

int fail(const std::string& why) {
  std::cerr << why << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 2) return fail("usage: tell_trees MODEL < rows");
  const auto text = read_file(argv[1], size_t{512} << 20U);
  if (!text) return fail(text.error().message);
  const auto trees = predict::Trees::parse(nlohmann::json::parse(*text, nullptr, false));
  if (!trees) return fail(trees.error().message);
  std::cout.precision(9);
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<float> row;
    std::istringstream words(line);
    for (std::string word; words >> word;) row.push_back(std::strtof(word.c_str(), nullptr));
    if (row.size() != trees->columns()) return fail("a row has another number of columns");
    std::cout << trees->tell(row) << '\n';
  }
  return 0;
}
