import os, time, hmac, hashlib
import httpx

# ── Configuration — load from environment, never hardcode ──
WAKE_ENDPOINT      = os.environ["WAKE_ENDPOINT"]       # https://api.gardenroom.ai/wake/v1
WAKE_API_KEY       = os.environ["WAKE_API_KEY"]        # wk_live_...
WAKE_WEBHOOK_SECRET = os.environ.get("WAKE_WEBHOOK_SECRET")
AGENT_ID           = os.environ["WAKE_AGENT_ID"]       # research-agent-01

HEADERS = {
    "Authorization": f"Bearer {WAKE_API_KEY}",
    "Content-Type":  "application/json"
}

def deliver(type, headline, summary, details=None, timeout=3600):
    r = httpx.post(f"{WAKE_ENDPOINT}/deliver", headers=HEADERS, json={
        "agent_id": AGENT_ID, "provider": "claude",
        "type": type, "headline": headline,
        "summary": summary, "details": details,
        "timeout_seconds": timeout
    })
    if r.status_code == 429:
        time.sleep(int(r.headers.get("Retry-After", 60)))
        return deliver(type, headline, summary, details, timeout)  # retry once
    r.raise_for_status()
    return r.json()["delivery_id"]

def await_response(delivery_id, poll=60, max_wait=3600):
    elapsed = 0
    while elapsed < max_wait:
        data = httpx.get(
            f"{WAKE_ENDPOINT}/response/{delivery_id}",
            headers=HEADERS
        ).json()
        if data["status"] != "pending":
            return data
        time.sleep(poll); elapsed += poll
    return {"status": "timeout"}

def verify_webhook(payload_body: bytes, signature_header: str) -> bool:
    expected = "sha256=" + hmac.new(
        WAKE_WEBHOOK_SECRET.encode(), payload_body, hashlib.sha256
    ).hexdigest()
    return hmac.compare_digest(expected, signature_header)

# ── Usage ──
delivery_id = deliver(
    type="output",
    headline="Market research report ready for your review",
    summary="Completed analysis of the top 10 competitors.",
    details={"url": "https://...", "word_count": 3200}
)

response = await_response(delivery_id)

if   response["status"] == "approved":    proceed()
elif response["status"] == "rejected":    handle(response["feedback"])
elif response["status"] == "redirected":  incorporate(response["edited_content"])
elif response["status"] == "timeout":     proceed_with_assumptions()
