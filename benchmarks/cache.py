"""What is slow to find and the same every time: reference solutions, and the runs of iterative peers."""

import hashlib
import json
from pathlib import Path
from typing import Any


class Cache:
    """A folder of JSON files, one for each key. Delete the folder to forget."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, kind: str, key: str) -> dict[str, Any] | None:
        path = self._path(kind, key)
        if not path.exists():
            return None
        stored = json.loads(path.read_text())
        return stored["value"] if stored["key"] == key else None

    def put(self, kind: str, key: str, value: dict[str, Any]) -> None:
        path = self._path(kind, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"key": key, "value": value}, indent=1))

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / kind / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
