#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copies what the probes read of this machine and of one process into a folder that tests can use in place of /.
#
#   tests/sysroots/capture.sh PID FOLDER
#
# Only reads. Look through the folder before you share it: it has the machine's names and mounts.
set -eu
[ $# = 2 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
pid=$1
folder=$2
most_bytes=65536
[ -d "/proc/$pid" ] || { echo "there is no process $pid" >&2; exit 2; }

# Sizes in /proc and /sys are not real, so files are read and not copied; what cannot be read is left out.
take() {
  for file in "$@"; do
    [ -f "$file" ] || continue
    mkdir -p "$folder$(dirname "$file")"
    head -c "$most_bytes" "$file" > "$folder$file" 2>/dev/null || rm -f "$folder$file"
  done
}

take /etc/os-release /proc/cpuinfo /proc/diskstats /proc/loadavg /proc/meminfo /proc/net/dev /proc/pressure/* \
  /proc/self/mountinfo /proc/stat /proc/sys/fs/file-nr /proc/sys/kernel/arch /proc/sys/kernel/hostname \
  /proc/sys/kernel/osrelease /proc/vmstat /sys/devices/system/cpu/online
take "/proc/$pid/cgroup" "/proc/$pid/io" "/proc/$pid/stat" "/proc/$pid/status" "/proc/$pid/net/dev" \
  "/proc/$pid"/task/*/status "/proc/$pid"/task/*/schedstat
for process in self "$pid"; do
  mkdir -p "$folder/proc/$process/ns"
  cp -P "/proc/$process/ns/net" "$folder/proc/$process/ns/net"
done
take /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_* /sys/class/thermal/thermal_zone*/type \
  /sys/class/thermal/thermal_zone*/temp /sys/class/hwmon/hwmon*/name /sys/class/hwmon/hwmon*/*_input \
  /sys/class/hwmon/hwmon*/*_label /sys/class/powercap/*/name /sys/class/powercap/*/energy_uj \
  /sys/class/power_supply/*/type /sys/class/power_supply/*/*_now /proc/device-tree/model

# The process's groups: "4:memory:/app" is below the mount that has "memory", "0::/app" below the unified one.
while IFS=: read -r _ controllers group; do
  for mount in /sys/fs/cgroup /sys/fs/cgroup/unified "/sys/fs/cgroup/$controllers"; do
    if [ -d "$mount$group" ]; then
      take "$mount$group"/cgroup.procs "$mount$group"/cpu.* "$mount$group"/cpuacct.* "$mount$group"/memory.* \
        "$mount$group"/io.* "$mount$group"/blkio.throttle.* "$mount$group"/pids.*
    fi
  done
done < "/proc/$pid/cgroup"
echo "$(find "$folder" -type f | wc -l) files in $folder"
