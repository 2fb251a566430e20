"""An S3 server on this machine, with users of several rights. It ends when its standard input does.

Prints one line of JSON: what the environment of each user holds.
"""

import json
import logging
import sys
from typing import Any

BUCKET = "bucket"
RIGHTS = {"writer": ["s3:*"], "reader": ["s3:GetObject", "s3:ListBucket"]}


def main() -> None:
    import boto3
    from moto import settings
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    anyone = {"endpoint_url": address, "region_name": "us-east-1"}
    anyone |= {"aws_access_key_id": "anyone", "aws_secret_access_key": "anyone"}
    s3, iam = boto3.client("s3", **anyone), boto3.client("iam", **anyone)
    s3.create_bucket(Bucket=BUCKET)
    users: dict[str, Any] = {}
    for user, actions in RIGHTS.items():
        iam.create_user(UserName=user)
        policy = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": actions, "Resource": "*"}}
        iam.put_user_policy(UserName=user, PolicyName="all", PolicyDocument=json.dumps(policy))
        made = iam.create_access_key(UserName=user)["AccessKey"]
        users[user] = {
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
        }
    # From now on, requests need the rights of their sender.
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    sys.stdout.write(json.dumps(users) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
