const crypto = require("crypto");
const WEBHOOK_SECRET = process.env.WAKE_WEBHOOK_SECRET;

function verifyWakeWebhook(payloadBody, signatureHeader) {
    // payloadBody must be raw Buffer — not parsed JSON
    const expected = "sha256=" + crypto
        .createHmac("sha256", WEBHOOK_SECRET)
        .update(payloadBody)
        .digest("hex");
    // Always use timingSafeEqual — never ===
    return crypto.timingSafeEqual(
        Buffer.from(expected),
        Buffer.from(signatureHeader)
    );
}

app.post("/wake-callback", express.raw({ type: "application/json" }), (req, res) => {
    if (!verifyWakeWebhook(req.body, req.headers["x-wake-signature"])) {
        return res.status(401).send("Invalid signature");
    }
    const response = JSON.parse(req.body);
    // handle response...
});
