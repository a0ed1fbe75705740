"""Threads, tiles of rows, and how long work is stopped."""
