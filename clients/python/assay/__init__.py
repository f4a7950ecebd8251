# SPDX-License-Identifier: Apache-2.0
"""Report your app's own numbers to the Assay profiler; a no-op when none is there."""
from .live_metrics import METRIC_NUMBER, METRIC_RATE, METRIC_TIMER, LiveMetrics

__all__ = ['LiveMetrics', 'METRIC_NUMBER', 'METRIC_RATE', 'METRIC_TIMER']
__version__ = '0.1.0'
