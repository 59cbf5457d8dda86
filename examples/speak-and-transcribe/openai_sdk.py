"""Text to speech and back with OpenAI's SDK. Writes hello.mp3."""

import os

from openai import OpenAI

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
