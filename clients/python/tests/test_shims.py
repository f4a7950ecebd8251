# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def test_a_real_package_comes_before_the_shim(tmp_path):
    real = tmp_path / 'waggle'
    real.mkdir()
    (real / '__init__.py').write_text('')
    (real / 'live_metrics.py').write_text('LiveMetrics = "the real one"')
    for order in ([ROOT, str(tmp_path)], [str(tmp_path), ROOT]):
        out = subprocess.check_output(
            [sys.executable, '-c', 'from waggle.live_metrics import LiveMetrics; print(LiveMetrics)'],
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(order)), universal_newlines=True)
        assert out == 'the real one\n'
