#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a folder with Debian's Python package of XGBoost and what it needs, beside the system: installed, it would
# drive out a library that we build with. Nothing of it is installed.
#   tests/witness/xgboost_root.sh FOLDER [PACKAGE…]
# Further packages come beside it.
# Prints the PYTHONPATH and the LD_LIBRARY_PATH to use it with. Exits with 77 where the packages cannot be fetched.
set -euo pipefail
root=$1
shift
packages=("$@" python3-xgboost python3-scipy python3-decorator libxgboost0 libblas3 liblapack3 liblbfgsb0 libgfortran5
  libquadmath0)

if [[ ! -e $root/complete ]]; then
  rm -rf "$root"
  mkdir -p "$root/archives"
  # apt writes as its own user, who may not enter this folder: the warning says no more than that.
  if ! (cd "$root/archives" && apt-get -q download "${packages[@]}") >"$root/log" 2>&1; then
    tail -n 3 "$root/log" >&2
    exit 77
  fi
  for package in "$root"/archives/*.deb; do dpkg -x "$package" "$root"; done
  rm -rf "$root/archives"
  touch "$root/complete"
fi
libraries=$root/usr/lib/$(gcc -print-multiarch)
echo "$root/usr/lib/python3/dist-packages"
echo "$libraries:$libraries/blas:$libraries/lapack"
