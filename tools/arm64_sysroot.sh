#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fills a folder with arm64's libraries: those that the build needs (tools/packages/build.txt) and
# what they depend on. Nothing is installed on this machine, and root is not needed.
#   tools/arm64_sysroot.sh FOLDER
set -euo pipefail
export LC_ALL=C
sysroot=$(realpath -m "${1:?usage: tools/arm64_sysroot.sh FOLDER}")
cd "$(dirname "$0")/packages"

wanted=$(grep -- '-dev$' build.txt)
# What is there is good as long as the list is, and where it lies.
stamp=$(printf '%s\n' "$sysroot" "$wanted")
[[ "$(cat "$sysroot/stamp" 2>/dev/null)" != "$stamp" ]] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,archives}/partial
touch "$work/status"
apt() {
  apt-get -qq -o Acquire::Retries=3 -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o Dir::State::status="$work/status" -o Dir::State::lists="$work/lists" \
    -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
    -o Debug::NoLocking=1 -o APT::Sandbox::User= "$@" </dev/null
}
echo "arm64: fetching $(tr '\n' ' ' <<<"$wanted")"
apt update
# shellcheck disable=SC2086 # one word a package
apt install -y --download-only --no-install-recommends $wanted >/dev/null

rm -rf "$sysroot"
# Debian's packages expect these links of the base system.
mkdir -p "$sysroot/usr/lib"
ln -s usr/lib "$sysroot/lib"
for package in "$work"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$sysroot" --keep-directory-symlink --exclude './usr/share/doc'
done
# What names the root of the file system must stay within this one.
find "$sysroot" -type l -lname '/*' -printf '%P\n' | while read -r link; do
  ln -sfn --relative "$sysroot$(readlink "$sysroot/$link")" "$sysroot/$link"
done
find "$sysroot/usr/lib" -name '*.cmake' -exec sed -i "s#\"/usr\\b#\"$sysroot/usr#g" {} +
echo "$stamp" >"$sysroot/stamp"
