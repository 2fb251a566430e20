"""Writes a folder of rate tables as a Kubernetes ConfigMap, which the deployment mounts.

    python deploy/configmap.py pricing_tables | kubectl apply --server-side -f -

Keys of a ConfigMap have no `/`, so `video/kling.yaml` becomes `video.kling.yaml`: prices and digest stay the same.
"""

import json
import sys
from pathlib import Path
from typing import Any

# What Kubernetes allows for one object.
MOST_BYTES = 2**20


def config_map(folder: Path) -> dict[str, Any]:
    """The tables of a folder as an object. Raises `ValueError` for more than one can hold, and for equal keys."""
    files = [path for path in sorted(folder.rglob("*.yaml")) if path.is_file()]
    data = {".".join(path.relative_to(folder).parts): path.read_text(encoding="utf-8") for path in files}
    if len(data) < len(files):
        raise ValueError(f"{folder}: two files would have one key")
    if (size := sum(len(text.encode()) for text in data.values())) > MOST_BYTES:
        raise ValueError(f"{folder} has {size} bytes; a ConfigMap holds {MOST_BYTES}")
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ratecard-tables"}, "data": data}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(config_map(Path(sys.argv[1]))))
