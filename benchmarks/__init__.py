"""Contests side by side with other libraries: ``python -m benchmarks --list``. The figures in the docs come from here.

harness.py runs heats and judges them, contests/ says what is contested, peers.py and ours.py how each library is
called, problems.py what is minimized and how well that was done, data.py where rows come from.
"""
