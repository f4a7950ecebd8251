#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the servers of Kubernetes from Debian's source package into $K8S_BASE/bin; what is there is not built again.
# Takes a quarter of an hour on two cores and 4 GB of disk, of which 0.5 GB stay.
set -euo pipefail

base=${K8S_BASE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay/kubernetes}
servers=(kube-apiserver kube-controller-manager kube-scheduler kubelet)
work=$base/build

is_built() {
  local name
  for name in "${servers[@]}" kubectl pause; do [[ -x $base/bin/$name ]] || return 1; done
}

# The same mirrors give source packages too, once they are asked for.
add_source_packages() {
  grep -rqsE '^(deb-src |Types:.*deb-src)' /etc/apt/sources.list /etc/apt/sources.list.d && return
  sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources \
    >/etc/apt/sources.list.d/debian-src.sources
  apt-get -qq update
}

# Unpacked, not installed: it would take the place of another kubectl.
unpack() { # PACKAGE FOLDER
  mkdir -p "$2"
  (cd "$2" && apt-get -qq download "$1" && dpkg -x "$1"_*.deb .)
}

# The copy of reflect2 in the source ends the API server at its first custom resource when built with Go >= 1.18.
replace_reflect2() {
  local theirs=vendor/github.com/modern-go/reflect2
  [[ ! -f $theirs/go_above_118.go ]] || return 0
  unpack golang-github-modern-go-reflect2-dev "$work/reflect2"
  rm -f "$theirs"/*.{go,s}
  cp "$work"/reflect2/usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} "$theirs"
}

if is_built; then exit 0; fi
mkdir -p "$work" "$base/bin"
cd "$work"
if ! compgen -G 'kubernetes-*/cmd/kubelet' >/dev/null; then
  add_source_packages
  apt-get -qq source kubernetes
fi
cd kubernetes-*/
replace_reflect2
GOFLAGS='' KUBE_GIT_VERSION=v1.20.2 make WHAT="${servers[*]/#/cmd/}"
cp "${servers[@]/#/_output/bin/}" "$base/bin"
gcc -Os -static -DVERSION=local -o "$base/bin/pause" build/pause/linux/pause.c
unpack kubernetes-client "$work/client"
cp "$work/client/usr/bin/kubectl" "$base/bin"
chmod -R u+w "$work"
rm -rf "$work"
