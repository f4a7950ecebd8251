// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

/// Finding and ending processes, and removing control groups. Folders are real paths of this
/// machine.
namespace assay::launch {

/// Processes in a control group and in all groups below it.
std::vector<pid_t> processes_in_group(const std::string& folder);

/// Whether somebody is in the group, or in one below it, and nobody who is not of `tree`. A process
/// that cannot be seen from here is not.
bool holds_only(const std::string& folder, std::span<const pid_t> tree);

/// Every process in the groups and below `ancestor`, each once; never `ancestor` itself, nor init.
std::vector<pid_t> processes_of_tree(std::span<const std::string> folders, pid_t ancestor);

/// Ends all in the groups at once where the kernel can (cgroup.kill), else sees to it that nothing
/// new can be forked in them, so that killing one by one comes to an end.
void freeze_or_kill_groups(std::span<const std::string> folders);

/// Removes a group and the groups that the app made below it; waits a little for ended processes to
/// leave it. False when it is still there. Fails too while a process lives in it.
bool remove_group(const std::string& folder);

/// Replaces the text in an existing file. 0, or the errno.
int write_text(const std::string& file, std::string_view text);

}  // namespace assay::launch
