// Load from environment — never hardcode
const WAKE_API_KEY = process.env.WAKE_API_KEY;

const response = await fetch("https://api.gardenroom.ai/wake/v1/deliver", {
    method: "POST",
    headers: {
        "Authorization": `Bearer ${WAKE_API_KEY}`,
        "Content-Type":  "application/json"
    },
    body: JSON.stringify(payload)
});
