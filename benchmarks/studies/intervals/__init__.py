"""Coverage of intervals and false rejections of comparisons, measured: python -m benchmarks.studies.intervals."""
