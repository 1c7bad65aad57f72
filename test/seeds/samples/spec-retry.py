def deliver_with_retry(payload, max_retries=3):
    for attempt in range(max_retries):
        r = httpx.post(WAKE_ENDPOINT + "/deliver",
            headers=HEADERS, json=payload)

        if r.status_code == 429:
            retry_after = int(r.headers.get("Retry-After", 60))
            time.sleep(retry_after)
            continue

        r.raise_for_status()
        return r.json()

    # Still failing after retries — surface an alert, don't loop
    raise Exception("Rate limit exceeded after retries — check for agent loop")
