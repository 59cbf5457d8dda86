"""Verifying post-call events at the server that receives them, with the standard library alone."""

import hashlib
import hmac
import json
import re
import time
from collections.abc import Sequence
from typing import Any

_TIME = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")


class WebhookError(ValueError):
    """A request was refused. `code`: signature_missing, signature_wrong, too_old or not_an_event."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _read(header: str | None) -> tuple[str, list[str]]:
    """The time and the signatures; elements of other versions are left out."""
    elements = [element.strip().partition("=") for element in (header or "").split(",")]
    found = next((value for name, _, value in elements if name == "t"), "")
    signatures = [value for name, _, value in elements if name == "v1" and _SIGNATURE.fullmatch(value)]
    if not _TIME.fullmatch(found) or not signatures:
        raise WebhookError("signature_missing", "The request has no signature of the form t=…,v1=…")
    return found, signatures


def _is_signed(signed: bytes, signatures: Sequence[str], secrets: Sequence[str]) -> bool:
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets]
    return any([hmac.compare_digest(one, given) for one in expected for given in signatures])


def _event_in(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    if isinstance(event, dict) and isinstance(event.get("event"), str):
        return event
    raise WebhookError("not_an_event", "The body is no event")


def verify_webhook(
    body: bytes,
    signature: str | None,
    secret: str | Sequence[str],
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> dict[str, Any]:
    """
    The event of a request that the gateway has signed. Raises `WebhookError`.

    `body`: the bytes as they came. `signature`: the header X-Svc-Webhook-Signature. `secret`: several while it is being
    changed. `now`: seconds since the epoch, by default the clock's.
    """
    moment, signatures = _read(signature)
    secrets = [secret] if isinstance(secret, str) else secret
    if not _is_signed(moment.encode() + b"." + body, signatures, secrets):
        raise WebhookError("signature_wrong", "The signature does not fit the body and the secret")
    if abs((time.time() if now is None else now) - int(moment)) > tolerance_seconds:
        raise WebhookError("too_old", f"The signature was not made within {tolerance_seconds} seconds of now")
    return _event_in(body)
