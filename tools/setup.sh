#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a task needs, and only when some are missing.
#   tools/setup.sh [build|test|lint|fuzz|bench|kubernetes|arm64]
# The lists are tools/packages/*.txt.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/packages"

case "${1:-build}" in
  build) lists=(build.txt) ;;
  test) lists=(build.txt test.txt) ;;
  lint) lists=(build.txt test.txt lint.txt) ;;
  fuzz) lists=(build.txt fuzz.txt) ;;
  bench) lists=(build.txt bench.txt) ;;
  kubernetes) lists=(build.txt test.txt kubernetes.txt) ;;
  arm64) lists=(build.txt test.txt arm64.txt) ;;
  *) echo "usage: tools/setup.sh [build|test|lint|fuzz|bench|kubernetes|arm64]" >&2; exit 2 ;;
esac

# Debian's npm conflicts with a nodejs from elsewhere, so one that is good enough is left alone.
node_is_there() {
  command -v npm >/dev/null && command -v node >/dev/null || return 1
  local version
  version=$(node --version)
  version=${version#v}
  ((${version%%.*} >= 18))
}

wanted=$(grep -hv '^#' "${lists[@]}" | sort -u)
installed=''
if command -v dpkg-query >/dev/null; then
  # shellcheck disable=SC2086,SC2016 # one word a package; the fields are dpkg-query's
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^installed //p' | sort -u || true)
fi
missing=$(comm -23 <(echo "$wanted") <(echo "$installed"))
if grep -qxE 'nodejs|npm' <<<"$missing" && node_is_there; then
  missing=$(grep -vxE 'nodejs|npm' <<<"$missing" || true)
fi
[[ -n "$missing" ]] || exit 0

missing=$(tr '\n' ' ' <<<"$missing")
if ! command -v apt-get >/dev/null; then
  echo "setup: this script knows Debian 12 only; install what these packages hold by hand: $missing" >&2
  exit 1
fi
# shellcheck disable=SC1091 # only there at run time
os=$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-}")
[[ "$os" == "debian 12" ]] || echo "setup: written for Debian 12, untried on $os" >&2
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "setup: packages are missing; as root run: apt-get install --no-install-recommends $missing" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: installing $missing"
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
    -o Acquire::Retries=3 "$@" </dev/null
}
# shellcheck disable=SC2086 # one word a package
install() { apt install -y --no-install-recommends $missing >/dev/null; }
# Package lists may be absent or too old for the archive: then fetch them and try again.
install 2>/dev/null || { apt update && install; }
