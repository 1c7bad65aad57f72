"""Signs an AKEP event and sends it, as the README of the AKEP project describes its own sign_event.py."""

import argparse
import base64
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--url", required=True)
parser.add_argument("--event", required=True)
arguments = parser.parse_args()

with open(arguments.event, "rb") as file:
    body = file.read()

event_id = json.loads(body)["event_id"]
timestamp = str(int(time.time()))
secret = os.environ["AKEP_WEBHOOK_SECRET"]
key = base64.b64decode(secret[len("whsec_"):]) if secret.startswith("whsec_") else secret.encode()
signed = f"{event_id}.{timestamp}.".encode() + body
signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()

request = urllib.request.Request(
    arguments.url,
    data=body,
    method="POST",
    headers={
        "content-type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{signature}",
    },
)
try:
    with urllib.request.urlopen(request) as reply:
        print(reply.status, reply.read().decode())
except urllib.error.HTTPError as refusal:
    print(refusal.code, refusal.read().decode())
