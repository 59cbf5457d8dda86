"""Text to speech and back with OpenAI's SDK. Writes hello.mp3."""

import os
import sys

try:
    from openai import OpenAI
except ImportError:
    sys.exit("The package openai is missing: pip install openai")

if "KEY" not in os.environ:
    sys.exit("Set KEY to an API key. A gateway prints its first one, and keeps it in data/api-key.")

client = OpenAI(
    base_url=os.environ.get("GATEWAY", "http://localhost:8080") + "/v1",
    api_key=os.environ["KEY"],
)

with client.audio.speech.with_streaming_response.create(
    model="tts-1",
    voice="alloy",
    input="The weather is nice today.",
) as speech:
    speech.stream_to_file("hello.mp3")

with open("hello.mp3", "rb") as audio:
    transcript = client.audio.transcriptions.create(model="whisper-1", file=audio)
print(transcript.text)
