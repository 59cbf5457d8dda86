"""Calling the generated operations: errors are raised, and lists go on to their end."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from types import ModuleType
from typing import Any

import attrs

from .client import AuthenticatedClient
from .types import UNSET


class GatewayError(Exception):
    """The gateway refused: `status`, `message`, and of a body that is not valid all `errors`."""

    def __init__(self, status: int, message: str, errors: list[dict[str, Any]]) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.errors = errors


def connect(base_url: str, key: str, **options: Any) -> AuthenticatedClient:
    """A client with an API key; `options` are those of `AuthenticatedClient`, such as `timeout`."""
    return AuthenticatedClient(base_url=base_url, token=key, **options)


def _error_of(status: HTTPStatus, content: bytes) -> GatewayError:
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    told = body if isinstance(body, dict) else {}
    return GatewayError(int(status), told.get("message", status.phrase), told.get("errors", []))


def ask(operation: ModuleType, client: AuthenticatedClient, **arguments: Any) -> Any:
    """What an operation of `api` answers; nothing (`None`) if that has no body. Raises `GatewayError`."""
    response = operation.sync_detailed(client=client, **arguments)
    if not 200 <= response.status_code < 300:
        raise _error_of(response.status_code, response.content)
    return response.parsed


def pages(operation: ModuleType, client: AuthenticatedClient, **arguments: Any) -> Iterator[Any]:
    """The pages of a list, each asked for when it is wanted."""
    cursor = UNSET
    while True:
        page = ask(operation, client, **arguments, cursor=cursor)
        yield page
        if not page.has_more:
            return
        cursor = page.next_cursor


def items(operation: ModuleType, client: AuthenticatedClient, **arguments: Any) -> Iterator[Any]:
    """The rows of all pages of a list."""
    for page in pages(operation, client, **arguments):
        values = (getattr(page, field.name) for field in attrs.fields(type(page)))
        yield from next(value for value in values if isinstance(value, list))
