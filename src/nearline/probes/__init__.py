"""Probes: how much of the labels embeddings tell, by published protocols that are records here."""

from nearline.probes._run import probe
from nearline.probes.protocols import PROTOCOLS, Protocol
from nearline.probes.result import Line, Probed

__all__ = ["PROTOCOLS", "Line", "Probed", "Protocol", "probe"]
