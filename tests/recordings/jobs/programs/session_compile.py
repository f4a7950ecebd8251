# SPDX-License-Identifier: Apache-2.0
"""A programmer's edit, compile, run loop with g++: every try changes the program a little."""
import common

args = common.arguments(seed=7, median=8.0, size=9000000)
folder = common.output(args, "home")
SOURCE = r"""cat > life.cpp <<'X'
#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>
int main() {
    std::mt19937 chance(%d);
    std::vector<unsigned> v(%d);
    for (auto& x : v) x = chance() %% 1000003;
    %s
    std::map<unsigned, int> seen;
    for (std::size_t i = 0; i < v.size() / 20; ++i) ++seen[v[i]];
    std::cout << std::regex_replace(std::to_string(seen.size()), std::regex("1"), "one") << '\n';
}
X"""
EDITS = ["std::sort(v.begin(), v.end());", "std::stable_sort(v.begin(), v.end(), std::greater<>());",
         "std::sort(v.begin() v.end());", "std::nth_element(v.begin(), v.begin() + 1000, v.end());",
         "std::make_heap(v.begin(), v.end()); std::sort_heap(v.begin(), v.end());"]
CELLS = ["g++ --version | head -1; ls"]
for number, edit in enumerate(EDITS[:2] if common.SMOKE else EDITS):
    CELLS.append(SOURCE % (args.seed + number, common.few(args.size), edit))
    CELLS.append("g++ -std=c++17 -O2 -Wall -o life life.cpp 2>&1 | head -5")
    CELLS.append("./life")
    if number % 2:
        CELLS.append("grep -n sort life.cpp; size life; objdump -d life | wc -l")
    else:
        CELLS.append("g++ -std=c++17 -g -O0 -o life_debug life.cpp && time ./life_debug")
common.bash_session(args, CELLS, folder, args.seed, args.median)
