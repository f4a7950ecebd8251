#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a container image of what was built: assay, assay-agent and the libraries that they load, nothing else.
#   tools/image.sh [NAME]    assay:VERSION unless named
# $ASSAY_BIN is the folder of the programs (build/release/bin), $ENGINE what imports the image (docker; podman works too).
set -euo pipefail
cd "$(dirname "$0")/.."

bin=${ASSAY_BIN:-build/release/bin}
version=$(sed -nE 's/^project\(assay VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
name=${1:-assay:$version}
programs=(assay assay-agent)
# Loaded at their first use, so that ldd does not name them: requests, and a shared history.
late=(libcurl.so.4 libpq.so.5)
certificates=/etc/ssl/certs/ca-certificates.crt

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

for program in "${programs[@]}"; do
  if [[ ! -x $bin/$program ]]; then
    echo "image: there is no $bin/$program; call make build first, or name its folder in ASSAY_BIN" >&2
    exit 4
  fi
done
libraries=()
for library in "${late[@]}"; do
  found=$(/sbin/ldconfig -p | sed -nE "s|^\s*$library .*=> (.*)|\1|p" | head -n 1)
  [[ -z $found ]] || libraries+=("$found")
done

mkdir -p "$root"/usr/bin "$root"/etc "$root"/tmp "$root"/run "$root"/var/lib/assay
chmod 1777 "$root/tmp"
for program in "${programs[@]}"; do strip -o "$root/usr/bin/$program" "$bin/$program"; done
ldd "${programs[@]/#/$bin/}" "${libraries[@]}" | grep -oE '/[^ ]+\.so[^ ]*' | sort -u |
  cat - <(printf '%s\n' "${libraries[@]}") |
  while read -r library; do [[ $library == *: ]] || install -D -m 755 "$(realpath "$library")" "$root$library"; done
if [[ -f $certificates ]]; then install -D -m 644 "$certificates" "$root$certificates"; fi
printf 'root:x:0:0::/:\nassay:x:65532:65532::/var/lib/assay:\n' >"$root/etc/passwd"
printf 'root:x:0:\nassay:x:65532:\n' >"$root/etc/group"
chown 65532:65532 "$root/var/lib/assay" 2>/dev/null || true  # volumes are mounted there anyway

tar -C "$root" --sort=name --mtime=@0 --numeric-owner -c . |
  "${ENGINE:-docker}" import -c 'ENV PATH=/usr/bin' -c 'USER 65532:65532' - "$name" >/dev/null
echo "$name: $(du -sm "$root" | cut -f1) MB"
