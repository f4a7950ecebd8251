# SPDX-License-Identifier: Apache-2.0
"""For apps that say `from waggle.live_metrics import LiveMetrics`.

This folder has no __init__.py on purpose: a real package of this name, wherever it is installed,
then comes before it.
"""
from assay.live_metrics import METRIC_NUMBER, METRIC_RATE, METRIC_TIMER, LiveMetrics

SageAppMetricsServer = LiveMetrics  # as the first apps with hooks call it

__all__ = ['LiveMetrics', 'METRIC_NUMBER', 'METRIC_RATE', 'METRIC_TIMER', 'SageAppMetricsServer']
