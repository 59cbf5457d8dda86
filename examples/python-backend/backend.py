"""A backend for a page that talks to an agent, with Python's standard library alone.

It makes the agent, serves the page of web-call, requests a session for each visitor with the key that stays here, and takes
the events after calls, whose signatures it checks.

    python3 backend.py

The gateway must be allowed to reach it: OUTBOUND_ALLOW=127.0.0.1 npm start
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
GATEWAY = os.environ.get("GATEWAY", "http://localhost:8080").rstrip("/")
# A new one for each run: the agent's configuration gets it, and nobody else.
WEBHOOK_SECRET = secrets.token_hex(16)
FILES = {
    "/": ("text/html; charset=utf-8", TOP / "examples/web-call/index.html"),
    "/livekit-client.js": ("text/javascript", TOP / "node_modules/livekit-client/dist/livekit-client.esm.mjs"),
}
MOST_BYTES = 1_000_000


def key_here() -> str:
    kept = TOP / "data/api-key"
    if "KEY" in os.environ:
        return os.environ["KEY"]
    if kept.exists():
        return kept.read_text().strip()
    sys.exit("Set KEY to an API key. A gateway prints its first one, and keeps it in data/api-key.")


KEY = key_here()


def request(method: str, path: str, body: dict | None = None) -> tuple[int, bytes]:
    """The status and the body of the gateway's answer."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(GATEWAY + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


def api(method: str, path: str, body: dict | None = None) -> dict:
    """The gateway's answer. Ends the program with a line that says what to do if it is none."""
    try:
        status, answer = request(method, path, body)
    except urllib.error.URLError:
        sys.exit(f"No gateway answers at {GATEWAY}. Run npm start at the top of the repository, or set GATEWAY.")
    if status == 401:
        sys.exit(f"The gateway at {GATEWAY} does not know this key: set KEY to one of its own.")
    if b"must not point to a" in answer:
        sys.exit("The gateway may not call this machine. Start it with OUTBOUND_ALLOW=127.0.0.1 npm start")
    if status >= 400:
        sys.exit(f"{method} {path}: {status} {answer.decode()}")
    return json.loads(answer)


def put_agent(webhook: str) -> str:
    """Makes or changes the agent, and publishes it. Returns its id."""
    name = "Bakery behind Python"
    listed = api("GET", "/v1/agent/agents?search=" + urllib.parse.quote(name))["agents"]
    known = [agent["agent_id"] for agent in listed if agent["name"] == name]
    agent_id = known[0] if known else api("POST", "/v1/agent/agents", {"name": name})["agent_id"]
    api(
        "PATCH",
        f"/v1/agent/agents/{agent_id}/config",
        {
            "prompt": {
                "system_prompt": "You answer for a bakery, which opens at seven. The visitor is {{visitor}}.",
                "first_message_mode": "fixed",
                "first_message": "Hello {{visitor}}, this is the bakery.",
            },
            "webhooks": {"post_call": [{"url": webhook, "secret": WEBHOOK_SECRET}]},
        },
    )
    api("POST", f"/v1/agent/agents/{agent_id}/publish", {})
    return agent_id


def verify(body: bytes, header: str, secret: str) -> dict:
    """The event, or an error. `body`: the bytes as they came; `header`: X-Svc-Webhook-Signature."""
    parts = dict(part.strip().split("=", 1) for part in (header or "").split(",") if "=" in part)
    t = parts.get("t", "")
    if not t.isdigit() or abs(time.time() - int(t)) > 300:
        raise ValueError("too old, or unsigned")
    expected = hmac.new(secret.encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), parts.get("v1", "").encode()):
        raise ValueError("wrong signature")
    return json.loads(body)


class Backend(BaseHTTPRequestHandler):
    agent_id = ""
    # Events arrive at least once: the same id again is the same event.
    seen: set[str] = set()

    def do_GET(self) -> None:
        sdk = re.fullmatch(r"/sdk/([\w-]+\.js)", self.path)
        kind, file = FILES.get(self.path, ("text/javascript", TOP / "client/dist" / sdk[1] if sdk else None))
        if file is None or not file.exists():
            return self.answer(404)
        self.answer(200, file.read_bytes(), kind)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        if self.path == "/session":
            return self.make_session()
        if self.path == "/webhook":
            return self.take_event(body)
        self.answer(404)

    def make_session(self) -> None:
        """Your own code knows who the visitor is; this one knows nobody."""
        wanted = {
            "agent_id": self.agent_id,
            "end_user_id": "visitor-1",
            "dynamic_variables": {"visitor": "Ada"},
            "metadata": {"page": "example"},
        }
        self.answer(*request("POST", "/v1/agent/sessions", wanted))

    def take_event(self, body: bytes) -> None:
        try:
            event = verify(body, self.headers.get("X-Svc-Webhook-Signature", ""), WEBHOOK_SECRET)
        except ValueError as error:
            print(f"refused: {error}", flush=True)
            return self.answer(401)
        if event["event_id"] not in self.seen:
            self.seen.add(event["event_id"])
            print(f"event: {event['event']} {event.get('ended_reason') or ''}", flush=True)
        self.answer(204)

    def answer(self, status: int, body: bytes = b"", kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Requests are not printed."""


api("GET", "/v1/key")
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Backend)
own = os.environ.get("BACKEND_URL", f"http://127.0.0.1:{server.server_port}")
Backend.agent_id = put_agent(f"{own}/webhook")
print(f"Talk to it: http://localhost:{server.server_port}", flush=True)
server.serve_forever()
