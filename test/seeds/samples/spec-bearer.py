import os, httpx

# Load from environment — never hardcode
WAKE_API_KEY = os.environ["WAKE_API_KEY"]

HEADERS = {
    "Authorization": f"Bearer {WAKE_API_KEY}",
    "Content-Type":  "application/json"
}

httpx.post("https://api.gardenroom.ai/wake/v1/deliver",
    headers=HEADERS, json=payload)
