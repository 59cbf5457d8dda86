#!/usr/bin/env bash
# Text to speech and back with curl. Writes hello.mp3.
set -euo pipefail
GATEWAY=${GATEWAY:-http://localhost:8080}
: "${KEY:?Set KEY to an API key, for example KEY=\$(cat ../../data/api-key)}"
curl -s "$GATEWAY/health" -o /dev/null || {
  echo "No gateway answers at $GATEWAY. Run npm start at the top of the repository, or set GATEWAY." >&2
  exit 1
}

curl -sf "$GATEWAY/v1/audio/speech" \
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \
  -d '{"model": "tts-1", "voice": "alloy", "input": "The weather is nice today."}' \
  -o hello.mp3

curl -sf "$GATEWAY/v1/audio/transcriptions" -H "Authorization: Bearer $KEY" \
  -F model=whisper-1 -F file=@hello.mp3 -F response_format=text
