// SPDX-License-Identifier: Apache-2.0
// Converts a text table into sorted, scaled binary columns: prep_convert IN OUT SECONDS.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const auto begin = std::chrono::steady_clock::now();
    const double limit = std::stod(argv[3]);
    std::ifstream in(argv[1], std::ios::binary);
    std::stringstream whole;
    whole << in.rdbuf();
    const std::string text = whole.str();
    std::vector<std::vector<double>> rows;
    const char* at = text.data();
    const char* end = at + text.size();
    std::vector<double> row;
    while (at < end) {
        double value = 0;
        const auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc()) return 3;
        row.push_back(value);
        at = next;
        if (at < end && *at == '\n') { rows.push_back(row); row.clear(); }
        ++at;
        if (rows.size() % 4096 == 0 &&
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > limit) break;
    }
    if (rows.empty()) return 4;
    std::sort(rows.begin(), rows.end());
    std::ofstream out(argv[2], std::ios::binary);
    for (std::size_t column = 0; column < rows[0].size(); ++column) {
        double low = 1e300, high = -1e300;
        for (const auto& r : rows) { low = std::min(low, r[column]); high = std::max(high, r[column]); }
        for (const auto& r : rows) {
            const float scaled = static_cast<float>((r[column] - low) / (high - low + 1e-12));
            out.write(reinterpret_cast<const char*>(&scaled), sizeof scaled);
        }
    }
    std::printf("%zu rows\n", rows.size());
    return out ? 0 : 5;
}
