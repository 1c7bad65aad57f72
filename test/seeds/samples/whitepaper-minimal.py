import httpx, time, os
WAKE_URL = os.environ["WAKE_ENDPOINT"]
API_KEY = os.environ["WAKE_API_KEY"]
def deliver(agent_id, type, headline, summary, details, timeout=3600):
    r = httpx.post(
        f"{WAKE_URL}/wake/v1/deliver",
        headers={"Authorization": f"Bearer {API_KEY}"},
        json={"agent_id": agent_id, "provider": "claude", "type": type,
        "headline": headline, "summary": summary,
        "details": details, "timeout_seconds": timeout}
    )
    return r.json()["delivery_id"]
def await_response(delivery_id, poll=60, max_wait=3600):
    elapsed = 0
    while elapsed < max_wait:
        r = httpx.get(
            f"{WAKE_URL}/wake/v1/response/{delivery_id}",
            headers={"Authorization": f"Bearer {API_KEY}"}
        )
        data = r.json()
        if data["status"] != "pending":
            return data
        time.sleep(poll)
        elapsed += poll
    return {"status": "timeout", "feedback": None}
# Usage
delivery_id = deliver(
    agent_id="research-agent-01",
    type="output",
    headline="Market research report ready for your review",
    summary="Completed analysis of the top 10 competitors in the space.",
    details={"report_url": "https://...", "word_count": 3200}
)
response = await_response(delivery_id)
if response["status"] == "approved":
    proceed_with_next_step()
elif response["status"] == "rejected":
    handle_rejection(response["feedback"])
elif response["status"] == "redirected":
    incorporate_edits(response["edited_content"], response["feedback"])
