SECRET="dev-secret"
EVENT_ID="evt_demo_01"
TS=$(date +%s)
BODY='{"spec":"akep.v1","event_id":"evt_demo_01","event_type":"knowledge.acquired","occurred_at":"2026-05-18T03:00:00Z","source":{"name":"demo","type":"system"},"subject":{"task_id":"t_1"},"knowledge":{"kind":"observation","content_type":"text/plain","summary":"hello AKEP"},"routing":{"resume_policy":"append_only"}}'

SIG="v1,$(printf '%s' "${EVENT_ID}.${TS}.${BODY}" \
  | openssl dgst -sha256 -hmac "$SECRET" -binary \
  | base64)"

curl -sS -X POST http://127.0.0.1:8787/akep/events \
  -H "content-type: application/json" \
  -H "webhook-id: ${EVENT_ID}" \
  -H "webhook-timestamp: ${TS}" \
  -H "webhook-signature: ${SIG}" \
  --data "${BODY}"
# → 202 {"accepted":true,"duplicate":false}
