"""Tables as Kubernetes mounts a ConfigMap: every visible name is a link into `..data`, a link that is swapped."""

import shutil
from collections.abc import Mapping
from pathlib import Path


class Mount:
    """A mounted volume: each `put` makes a new hidden folder and turns `..data` to it in one step."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0
        folder.mkdir(parents=True)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Other contents, as the kubelet writes them: all at once."""
        self.number += 1
        hidden = f"..2026_11_22_00_00_{self.number:02}.{self.number}"
        for name, content in files.items():
            path = self.folder / hidden / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        data, new = self.folder / "..data", self.folder / "..data_tmp"
        old = data.readlink() if data.is_symlink() else None
        new.symlink_to(hidden)
        new.replace(data)
        for top in {name.partition("/")[0] for name in files}:
            if not (self.folder / top).is_symlink():
                (self.folder / top).symlink_to(f"..data/{top}")
        if old:
            shutil.rmtree(self.folder / old)
