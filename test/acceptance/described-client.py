"""A program with the client that is generated from the description of the platform (described-client.test.mjs).

Reads what it is told as JSON, and prints JSON: what was answered, and what it found.
"""

import importlib
import io
import json
import sys
from datetime import datetime, timedelta, timezone

from described_client import AuthenticatedClient, Client, models
from described_client.types import File

told = json.load(sys.stdin)
keyed = AuthenticatedClient(base_url=told["base"], token=told["key"])
answers = []


def ask(name, wanted, client=keyed, **arguments):
    """The answer of an operation in the generated class; the status has to be the wanted one."""
    operation = importlib.import_module(f"described_client.api.agent.{name}")
    response = operation.sync_detailed(client=client, **arguments)
    body = json.loads(response.content or b"null")
    answers.append({"operation": name, "status": response.status_code, "body": body})
    if response.status_code != wanted:
        raise SystemExit(f"{name}: {response.status_code} {body}")
    if wanted >= 400 and not isinstance(response.parsed, models.Error):
        raise SystemExit(f"{name}: {wanted} is no error in its shape")
    return response.parsed


def same(name, one, other):
    if one != other:
        raise SystemExit(f"{name}: {one} is not {other}")


def document():
    return File(payload=io.BytesIO(b"# Hours\n\nOpen at seven."), file_name="hours.md", mime_type="text/markdown")


def make_tool():
    headers = [{"name": "X-Caller", "value": "{{system.caller_number}}", "kind": "custom"}]
    headers.append({"name": "Authorization", "value": "Bearer secret", "kind": "authorization_bearer"})
    tool = ask("create_tool", 201, body=models.ToolCreation.from_dict({
        "name": "lookup", "tool_type": "webhook", "description": "Looks an order up", "method": "POST",
        "arguments": [{"name": "order", "description": "Its number"}], "url": told["hook"],
        "content_type": "application/json", "body_template": '{"order": "{{order}}"}', "headers": headers,
        "timeout_seconds": 10, "error_handling": "hide", "expects_response": True, "execution_mode": "blocking",
        "mock_responses": [{"name": "found", "status_code": 200, "content_type": "text/plain", "body": "yes"}],
    }))
    changed = ask("change_tool", 200, tool_id=tool.tool_id, body=models.ToolChange.from_dict(
        {"execution_mode": "background", "timeout_seconds": 300}))
    same("execution_mode", changed.execution_mode, "background")
    ask("change_tool", 200, tool_id=tool.tool_id, body=models.ToolChange.from_dict(
        {"execution_mode": "blocking", "timeout_seconds": 20}))
    read = ask("read_tool", 200, tool_id=tool.tool_id)
    same("secrets", [(header.value, header.has_secret) for header in read.headers],
         [("{{system.caller_number}}", False), (None, True)])
    same("tools", [row.tool_id for row in ask("list_tools", 200, search="lookup").tools], [tool.tool_id])
    return tool.tool_id


def make_source():
    source = ask("create_knowledge_source", 201, body=models.KnowledgeCreation(source=document(), name="Hours"))
    source_id = source.knowledge_source_id
    ask("change_knowledge_source", 200, source_id=source_id, body=models.KnowledgeChange(source=document(), description="When"))
    same("content", ask("read_knowledge_source", 200, source_id=source_id).description, "When")
    same("sources", len(ask("list_knowledge_sources", 200, page=1, page_size=10).knowledge_sources), 1)
    return source_id


def write_back(agent_id):
    """What is read of a configuration is written again, whole and member by member, and stays as it is."""
    before = ask("read_config", 200, agent_id=agent_id).to_dict()
    known = models.ConfigChanges.from_dict(before)
    ask("change_config", 200, agent_id=agent_id, body=known)
    whole = keyed.get_httpx_client().patch(f"/v1/agent/agents/{agent_id}/config", json=before)
    same("written back", whole.status_code, 200)
    after = ask("read_config", 200, agent_id=agent_id).to_dict()
    for config in (before, after):
        config.pop("updated_at")
    same("configuration", after, before)
    return before


def contains(wanted, found, at="config"):
    """Whether everything that was sent is read again; secrets are not."""
    if isinstance(wanted, dict):
        for name, value in wanted.items():
            if name in ("secret", "api_key"):
                same(f"{at}.has_secret", found["has_secret"], True)
            else:
                contains(value, found[name], f"{at}.{name}")
    elif isinstance(wanted, list):
        same(f"{at} length", len(found), len(wanted))
        for one, other in zip(wanted, found):
            contains(one, other, at)
    else:
        same(at, found, wanted)


def make_agent(tool_id, source_id):
    config = told["config"]
    config["tools"]["tool_ids"] = [tool_id]
    config["knowledge_base"]["knowledge_source_ids"] = [source_id]
    creation = models.AgentCreation.from_dict({"name": "Bakery", "description": "Bread", "config": config})
    agent_id = ask("create_agent", 201, body=creation).agent_id
    contains(config, write_back(agent_id))
    same("status", ask("create_session", 409, body=models.SessionRequest(agent_id=agent_id)).status, 409)
    ask("change_agent", 200, agent_id=agent_id, body=models.AgentChange.from_dict({
        "name": "Bakery", "description": "Bread and cake", "status": "active", "public_enabled": True,
        "allowed_origins": ["https://bakery.example.com"],
        "overrides_allowed": ["first_message", "system_prompt", "voice_id", "language"],
    }))
    title = models.Publication(version_title="First", version_description="Of this agent")
    same("version", ask("publish", 200, agent_id=agent_id, body=title).version_number, 1)
    same("versions", [row.version_title for row in ask("list_versions", 200, agent_id=agent_id).versions], ["First"])
    same("frozen", ask("read_version", 200, agent_id=agent_id, version_number="1").config.guardrails.focus, True)
    same("state", ask("read_agent", 200, agent_id=agent_id).publication_state, "live")
    listed = ask("list_agents", 200, publication_state="live", include_archived=True, include_total=True, search="Baker")
    same("agents", agent_id in [row.agent_id for row in listed.agents], True)
    same("of tool", ask("list_agents_of_tool", 200, tool_id=tool_id).total, 1)
    same("of source", ask("list_agents_of_knowledge_source", 200, source_id=source_id).total, 1)
    ask("delete_tool", 409, tool_id=tool_id)
    ask("delete_knowledge_source", 409, source_id=source_id)
    visitor = Client(base_url=told["base"], headers={"origin": "https://bakery.example.com"})
    ask("read_widget", 200, client=visitor, agent_id=agent_id)
    ask("read_widget", 403, client=Client(base_url=told["base"]), agent_id=agent_id)
    return agent_id


def make_session(agent_id):
    request = models.SessionRequest.from_dict({
        "agent_id": agent_id, "name": "Ada’s", "tool_events": False, "end_user_id": "ada", "metadata": {"order": 7},
        "record_audio": False, "timezone": "Asia/Tokyo", "client_timezone": "UTC", "world_context": False,
        "overrides": {"first_message": "Hello {{name}}", "system_prompt": "Be brief.", "voice_id": "default", "language": "en"},
        "dynamic_variables": {"name": "Ada", "number": 7, "known": True},
    })
    created = ask("create_session", 201, body=request)
    session_id = created.session_id
    same("expiry", created.expires_at > datetime.now(timezone.utc), True)
    since = datetime.now(timezone.utc) - timedelta(minutes=10)
    rows = ask("list_sessions", 200, status="pending", agent_id=agent_id, direction="inbound", created_after=since).sessions
    same("sessions", [row.session_id for row in rows], [session_id])
    same("metadata", ask("read_session", 200, session_id=session_id).metadata.to_dict(), {"order": 7})
    ask("read_recording", 404, session_id=session_id)
    return session_id


def refusals(agent_id):
    nobody = AuthenticatedClient(base_url=told["base"], token="nobody")
    ask("list_agents", 401, client=nobody)
    ask("list_agents", 400, page=1, cursor="x")
    ask("read_agent", 404, agent_id="agent_nobody")
    ask("create_agent", 422, body=models.AgentCreation(name=""))
    ask("change_config", 422, agent_id=agent_id, body=models.ConfigChanges.from_dict(
        {"conversation": {"max_duration_seconds": 10}}))
    ask("create_session", 422, body=models.SessionRequest(agent_id=agent_id, timezone="Nowhere"))
    ask("create_tool", 422, body=models.ToolCreation(name="x", url="ftp://example.com"))
    ask("place_phone_call", 404, body=models.PhoneCallRequest(
        agent_id=agent_id, phone_number_id="phone_nobody", to_number="+4930123456"))


def make():
    tool_id, source_id = make_tool(), make_source()
    agent_id = make_agent(tool_id, source_id)
    caller = ask("create_agent", 201, body=models.AgentCreation(name="Caller")).agent_id
    ask("change_config", 200, agent_id=caller, body=models.ConfigChanges.from_dict({
        "prompt": {"first_message_mode": "prompt"},
        "conversation": {"eagerness": "eager", "record_audio": True, "outbound": None},
        "llm": {"custom": {"base_url": told["model"], "model": "wise-1", "api_key": "sesame"}},
        "tools": {"tool_ids": [tool_id]},
        "webhooks": {"post_call": [{"url": told["hook"], "secret": "a secret"}]},
        "analysis": {"summary": {"enabled": False}},
    }))
    ask("publish", 200, agent_id=caller)
    pending = make_session(agent_id)
    refusals(agent_id)
    return {"agent": agent_id, "caller": caller, "pending": pending}


def place():
    request = models.PhoneCallRequest.from_dict({
        "agent_id": told["agent"], "phone_number_id": told["number"], "to_number": told["to"],
        "dynamic_variables": {"name": "Ada"}, "metadata": {"order": 8},
    })
    first = ask("place_phone_call", 201, body=request, idempotency_key="described")
    again = ask("place_phone_call", 201, body=request, idempotency_key="described")
    same("session", again.session_id, first.session_id)
    other = models.PhoneCallRequest.from_dict({**request.to_dict(), "to_number": "nowhere"})
    same("reason", ask("place_phone_call", 422, body=other).reason, "destination_invalid")
    same("reason", ask("place_phone_call", 422, body=other, idempotency_key="described").reason, "idempotency_key_reuse")
    return first.session_id


EVENTS = {
    "conversation.init": models.ConversationInit,
    "phone_call.dial_finished": models.DialFinished,
    "call.ended": models.CallEnded,
    "call.analyzed": models.CallAnalyzed,
}


def read():
    session = ask("read_session", 200, session_id=told["session"])
    rows = ask("list_sessions", 200, direction="outbound", caller_number=session.caller_number).sessions
    same("sessions", [row.session_id for row in rows], [session.session_id])
    events = [EVENTS[body["event"]].from_dict(body).event for body in told["events"] if body["event"] in EVENTS]
    return {
        "items": sorted({item.type_ for item in session.items}),
        "events": sorted(set(events)),
        "dialled": [session.direction, session.dial_status],
        "tracks": len(ask("read_recording", 200, session_id=told["session"]).tracks),
    }


def import_number(wanted):
    return ask("import_phone_number", wanted, body=models.NumberImport.from_dict({
        "provider": "sip", "phone_number": told["number"], "label": "Desk",
        "inbound_auth_username": "caller", "inbound_auth_password": "their password",
        "inbound_allowed_addresses": ["203.0.113.0/24"], "termination_uri": "sip.example.com:5061",
        "termination_transport": "tls", "termination_auth_username": "trunk", "termination_auth_password": "our password",
        "agent_id": ask("create_agent", 201, body=models.AgentCreation(name="Desk")).agent_id,
    }))


def import_():
    number_id = import_number(201).phone_number_id
    import_number(409)
    same("numbers", [row.phone_number_id for row in ask("list_phone_numbers", 200, phone_number=told["number"]).phone_numbers], [number_id])
    ask("change_phone_number", 200, phone_number_id=number_id, body=models.NumberChange(label="Front desk"))
    ask("replace_sip_config", 200, phone_number_id=number_id, body=models.SipConfig.from_dict(
        {"inbound_auth_username": "caller", "inbound_auth_password": "", "termination_uri": ""}))
    read = ask("read_phone_number", 200, phone_number_id=number_id)
    same("number", [read.label, read.status, read.termination_uri], ["Front desk", "active", ""])
    ask("delete_phone_number", 204, phone_number_id=number_id)
    ask("read_phone_number", 404, phone_number_id=number_id)


def import_fails():
    import_number(502)
    row, = ask("list_phone_numbers", 200, phone_number=told["number"]).phone_numbers
    same("number", [row.status, row.status_detail != ""], ["error", True])


def remove():
    sessions = ask("list_sessions", 200, status="pending,active").sessions
    for row in sessions:
        ask("end_session", 204, session_id=row.session_id)
    for agent_id in told["agents"]:
        ask("delete_agent", 204, agent_id=agent_id)
    for row in ask("list_tools", 200).tools:
        ask("delete_tool", 204, tool_id=row.tool_id)
    for row in ask("list_knowledge_sources", 200).knowledge_sources:
        ask("delete_knowledge_source", 204, source_id=row.knowledge_source_id)


PARTS = {"make": make, "place": place, "read": read, "import": import_, "import_fails": import_fails, "remove": remove}
found = PARTS[told["do"]]()
print(json.dumps({"answers": answers, "found": found}))
