/**
 * The Python package (client/python): installed by pip into an empty environment, where the generator writes it, and used with a real
 * gateway: the code of client/python/README.md, and what else one does with agents, sessions and events. It fetches packages, so it is a
 * long form; what verifies events is tried with all cases in webhooks.test.mjs.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { externalTool } from '../../dist/test/fixtures/external.js';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';
import { startPlatform } from '../../dist/test/fixtures/platform/platform.js';
import { startReceiver } from '../../dist/test/fixtures/platform/receiver.js';
import t from '../../dist/test/fixtures/tap.js';
import { pipSkipReason } from '../../dist/test/fixtures/python.js';

t.setTimeout(1_800_000);

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL('../../client/python', import.meta.url));

const skip = pipSkipReason();

/** An empty environment with the package in it. */
async function installed(folder) {
  const environment = join(folder, 'environment');
  await run(externalTool('python3'), ['-m', 'venv', environment]);
  const python = join(environment, 'bin', 'python');
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE], {
    maxBuffer: 1e8,
  });
  return python;
}

const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
const [EXAMPLE] = [...readme.matchAll(/```python\n([^]*?)```/g)].map(([, code]) => code);

/** The rest of a program: reads what it is told as JSON, and prints JSON. */
const PROGRAM = `
import json, sys
from speech_gateway_client import GatewayError, ask, connect, items, pages, verify_webhook
from speech_gateway_client.api.agents import change_draft_configuration, create_agent, delete_agent, list_agents, publish_draft
from speech_gateway_client.api.deliveries import test_webhook
from speech_gateway_client.api.sessions import create_session, delete_session, end_session, list_sessions, read_session
from speech_gateway_client.models import (
    CallEndedEvent, ChangeDraftConfigurationBody, CreateAgentBody, CreateSessionBody, TestWebhookBody,
)

told = json.load(sys.stdin)
gateway = connect(told["base"], key=told["key"])

def refused(operation, **arguments):
    try:
        ask(operation, gateway, **arguments)
    except GatewayError as error:
        return [error.status, error.message, len(error.errors)]

def talk():
    agents = [ask(create_agent, gateway, body=CreateAgentBody(name=f"Agent {number}")) for number in range(5)]
    first = agents[0].agent_id
    hooks = {"webhooks": {"post_call": {"url": told["url"], "secret": told["secret"]}}}
    config = ask(change_draft_configuration, gateway, agent_id=first, body=ChangeDraftConfigurationBody.from_dict(hooks))
    published = ask(publish_draft, gateway, agent_id=first)
    session = ask(create_session, gateway, body=CreateSessionBody.from_dict({"agent_id": first, "metadata": {"order": "A-17"}}))
    ask(end_session, gateway, session_id=session.session_id)
    record = ask(read_session, gateway, session_id=session.session_id)
    listed = [row.session_id for row in items(list_sessions, gateway, agent_id=first)]
    tried = ask(test_webhook, gateway, agent_id=first, body=TestWebhookBody(url=told["url"]))
    answer = {
        "has_secret": config.webhooks.post_call[0].has_secret,
        "version": published.version_number,
        "metadata": record.metadata.to_dict(),
        "ended": record.ended_at.isoformat() if record.ended_at else None,
        "listed": listed == [session.session_id],
        "names": sorted(agent.name for agent in items(list_agents, gateway, page_size=2)),
        "pages": len(list(pages(list_agents, gateway, page_size=2))),
        "tried": [tried.ok, tried.status_code],
        "deleted": ask(delete_session, gateway, session_id=session.session_id),
        "gone": refused(read_session, session_id=session.session_id),
        "refused": refused(create_agent, body=CreateAgentBody(name="")),
    }
    for agent in agents:
        ask(delete_agent, gateway, agent_id=agent.agent_id)
    return {**answer, "left": len(list(items(list_agents, gateway)))}

def verify():
    event = verify_webhook(told["body"].encode(), told["signature"], told["secret"])
    return {"id": event["event_id"], "agent": CallEndedEvent.from_dict(event).session.agent_name}

print(json.dumps({"talk": talk, "verify": verify}[told["do"]]()))
`;

t.test('installed by pip, it makes, lists and deletes, and verifies events', { skip }, async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { gateway, key } = await startPlatform(t, { OUTBOUND_ALLOW: '127.0.0.1' });
  const python = await installed(folder);
  const ran = async (name, code, input = {}) => {
    const file = join(folder, name);
    writeFileSync(file, code);
    const running = run(python, [file]);
    running.child.stdin.end(JSON.stringify(input));
    return (await running).stdout;
  };

  const { url, seen } = await startReceiver(t);
  const told = { base: gateway.base, key, url, secret: 'a sécret' };
  exactly(t, JSON.parse(await ran('talk.py', PROGRAM, { ...told, do: 'talk' })), {
    has_secret: true,
    version: 1,
    metadata: { order: 'A-17' },
    ended: /^\d{4}-/,
    listed: true,
    names: [0, 1, 2, 3, 4].map((number) => `Agent ${number}`),
    pages: 3,
    tried: [true, 200],
    deleted: null,
    gone: [404, 'Session not found', 0],
    refused: [422, /name/, 1],
    left: 0,
  });

  const { body, headers } = seen.find((request) => JSON.parse(request.body).test);
  const event = JSON.parse(body);
  const signature = headers['x-svc-webhook-signature'];
  exactly(t, JSON.parse(await ran('verify.py', PROGRAM, { ...told, do: 'verify', body, signature })), {
    id: event.event_id,
    agent: event.session.agent_name,
  });

  const example = EXAMPLE.replace('http://localhost:8080', gateway.base).replace('sk_…', key);
  t.match(await ran('readme.py', example), /\['Bakery'\] sess_/);
});
