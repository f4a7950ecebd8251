# SPDX-License-Identifier: Apache-2.0
from setuptools import setup

setup(
    name='assay-client',
    version='0.1.0',
    description="Report an app's own numbers to the Assay profiler",
    license='Apache-2.0',
    python_requires='>=3.6',
    # `waggle` is left out: it would be put into the folder of the real package of that name.
    packages=['assay', 'pywaggle'],
)
