#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Says in one line why a real Kubernetes cannot be built or run on this machine, and fails; silent where it can.
# Changes nothing that it does not undo.
set -uo pipefail

base=${K8S_BASE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay/kubernetes}
scratch=$(mktemp -d)
daemon=''
clean_up() {
  if [[ -n $daemon ]]; then
    kill "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
  fi
  ip link delete kbr-try 2>/dev/null
  rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT

cannot() {
  echo "$*"
  exit 1
}
gigabytes_free() { df --output=avail -B1G "$1" | tail -n 1; }

# A Docker engine of its own for a moment: mounts, namespaces and control groups may be refused one by one.
docker_starts() {
  local i
  dockerd -H "unix://$scratch/docker.sock" --data-root "$scratch/data" --exec-root "$scratch/exec" \
    --pidfile "$scratch/pid" --bridge none --iptables=false --ip6tables=false >"$scratch/log" 2>&1 </dev/null &
  daemon=$!
  for ((i = 0; i < 150; i++)); do
    docker -H "unix://$scratch/docker.sock" version >/dev/null 2>&1 && return 0
    kill -0 "$daemon" 2>/dev/null || return 1
    sleep 0.2
  done
  return 1
}

((EUID == 0)) || cannot "it needs root"
[[ -d /sys/fs/cgroup/memory && -d /sys/fs/cgroup/cpu ]] || cannot "it needs cgroup v1, and this machine has v2"
# shellcheck disable=SC1091 # only there at run time
[[ $(. /etc/os-release && echo "${ID:-} ${VERSION_ID:-}") == "debian 12" ]] || cannot "it is built from packages of Debian 12"
mkdir -p "$base" || cannot "$base cannot be written"
need=3 # images and logs of a run
[[ -x $base/bin/kubelet && -x $base/bin/kubectl ]] || need=8
(($(gigabytes_free "$base") >= need)) || cannot "it needs $need GB free in $base"
(($(awk '/^MemAvailable/ {print $2}' /proc/meminfo) >= 2000000)) || cannot "it needs 2 GB of free memory"
for tool in dockerd docker ip iptables; do
  command -v "$tool" >/dev/null || cannot "there is no $tool; call tools/setup.sh kubernetes first"
done
ip link add kbr-try type bridge 2>/dev/null || cannot "no bridge can be made here"
iptables -t nat -S OUTPUT >/dev/null 2>&1 || cannot "iptables has no nat table here"
docker_starts || cannot "Docker does not start here: $(tail -n 1 "$scratch/log" | cut -c 1-200)"
