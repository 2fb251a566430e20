"""An Azure server on this machine, with a user of all rights and one who may only read. It ends when its input does.

    azure_server.py AZURITE

Prints one line of JSON: what the environment of each user holds.
"""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta

CONTAINER, ACCOUNT = "bucket", "devstoreaccount1"
# The public key of Azurite.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
OPTIONS = ("--blobPort", "0", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent")


def main() -> None:
    from azure.storage.blob import BlobServiceClient, ContainerSasPermissions, generate_container_sas

    with subprocess.Popen(
        [sys.argv[1], *OPTIONS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        try:
            found = next(filter(None, (re.search(r"listens on (http://\S+)", line) for line in server.stdout)))
            place = f"{found[1]}/{ACCOUNT}"
            BlobServiceClient(place, KEY).create_container(CONTAINER)
            until, may = datetime.now(UTC) + timedelta(days=1), ContainerSasPermissions(read=True, list=True)
            token = generate_container_sas(ACCOUNT, CONTAINER, KEY, permission=may, expiry=until)
            own = {
                "AZURE_STORAGE_ENDPOINT": place,
                "AZURE_ALLOW_HTTP": "true",
                "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            }
            users = {
                "writer": own | {"AZURE_STORAGE_ACCOUNT_KEY": KEY},
                "reader": own | {"AZURE_STORAGE_SAS_TOKEN": token},
            }
            sys.stdout.write(json.dumps(users) + "\n")
            sys.stdout.flush()
            sys.stdin.read()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
