#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_metrics.sh PRINT_EXPOSITION...: the classic text has to pass promtool, lint included.
set -eu
text=$("$@" classic; echo .)
printf '%s' "${text%.}" | promtool check metrics
