"""The report: one HTML file that says what a contest found, for people and, as JSON inside, for programs."""

from nearline.report._write import facts_of, write_report

__all__ = ["facts_of", "write_report"]
