"""
The agent platform of a speech gateway: agents, sessions, webhooks.

`api` and `models` are generated from the gateway's /openapi.json: a module for each operation, a class for each body.
What is written by hand: `connect`, `ask`, `pages`, `items`, `verify_webhook`.
"""

from .calls import GatewayError, ask, connect, items, pages
from .webhooks import WebhookError, verify_webhook

__all__ = (
    "GatewayError",
    "WebhookError",
    "ask",
    "connect",
    "items",
    "pages",
    "verify_webhook",
)
