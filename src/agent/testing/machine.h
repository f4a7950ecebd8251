// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>

#include <assay/base/files.h>

namespace assay::agent::testing {

/// A machine with cgroup v2 whose groups a test makes by hand.
class Machine {
 public:
  Machine() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-machine-XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
    write("/proc/self/mountinfo", "30 20 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
    std::filesystem::create_directories(folder_ / "cg");
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { std::filesystem::remove_all(folder_); }

  SysRoot root() const { return SysRoot(folder_); }
  std::string groups() const { return (folder_ / "cg").native(); }

  void write(const std::string& path, const std::string& text) const {
    const auto file = folder_ / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// A group that has used so much CPU time and memory.
  void make_group(const std::string& path, double cpu_seconds, double memory) const {
    write("/cg" + path + "/cgroup.procs", "");
    write("/cg" + path + "/cgroup.events", "populated 0\n");
    use(path, cpu_seconds, memory);
  }
  void use(const std::string& path, double cpu_seconds, double memory) const {
    write("/cg" + path + "/cpu.stat", fmt::format("usage_usec {:.0f}\n", cpu_seconds * 1e6));
    write("/cg" + path + "/memory.stat", "anon 1000\nfile 500\ninactive_file 100\n");
    write("/cg" + path + "/memory.current", fmt::format("{:.0f}\n", memory));
    write("/cg" + path + "/memory.peak", fmt::format("{:.0f}\n", memory * 2));
  }
  void remove_group(const std::string& path) const {
    std::filesystem::remove_all(folder_ / "cg" / path.substr(1));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace assay::agent::testing
