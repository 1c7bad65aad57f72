import hmac, hashlib, os

WEBHOOK_SECRET = os.environ["WAKE_WEBHOOK_SECRET"]

def verify_wake_webhook(payload_body: bytes, signature_header: str) -> bool:
    """
    payload_body     — raw request body as bytes, BEFORE any JSON parsing
    signature_header — value of X-Wake-Signature header
    """
    expected = "sha256=" + hmac.new(
        WEBHOOK_SECRET.encode("utf-8"),
        payload_body,
        hashlib.sha256
    ).hexdigest()
    # Always use constant-time comparison — never ==
    return hmac.compare_digest(expected, signature_header)

# In your handler:
if not verify_wake_webhook(request.body, request.headers["X-Wake-Signature"]):
    return 401  # reject — may have been tampered with
