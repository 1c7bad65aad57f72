# One HTTP request per interval, regardless of how many deliveries are outstanding
since = None

while agent_is_running:
    params = {
        "agent_id": agent_id,
        "status":   "approved,rejected,redirected",
    }
    if since:
        params["since"] = since

    r    = httpx.get(f"{WAKE_ENDPOINT}/responses", headers=HEADERS, params=params)
    data = r.json()

    for item in data["deliveries"]:
        dispatch_response(item["delivery_id"], item)

    if data["deliveries"]:
        since = data["next_since"]

    time.sleep(poll_interval)
