/**
 * Tools in a conversation over the embedded transport: webhooks and client tools, with a model that calls them; requests
 * to the model, messages to the client, and the record (docs/contract/platform.md 6.7, 6.9).
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { type Meeting, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { CUT_MARK } from '../../../contracts/tools/cut.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Answered, type ModelMessage, said, toolSaid } from '../../fixtures/chat/model.js';
import { until } from '../../fixtures/until.js';

/** What the tools do, by the first part of their address: each test has its own. */
const tools = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
const toolServer = httpDouble((request, response) =>
  tools.get(request.url?.split('/')[1] ?? '')?.(request, response),
).listen(0, '127.0.0.1');
await once(toolServer, 'listening');
t.teardown(() => void toolServer.close());
const toolHost = `127.0.0.1:${(toolServer.address() as AddressInfo).port}`;

t.teardown(letGo);
/** Calls at a time. */
t.jobs = 4;
const { talks } = await Talks.shared(t);
const { model, call } = talks;

type Messages = readonly ModelMessage[];

/** What the model does in the conversations of each test, by the words with which the user begins them. */
const models = new Map<string, (messages: Messages) => Answered>();
/** What the user said first; notes may follow it in the same message. */
const begunWith = (messages: Messages): string =>
  messages.find(({ role }) => role === 'user')?.content?.split('\n\n')[0] ?? '';
const askedIn = (words: string): readonly Messages[] =>
  model.asked.filter((messages) => begunWith(messages) === words);
model.answer((messages) => models.get(begunWith(messages))?.(messages) ?? 'Yes.');

const eventsOf = ({ caller }: Meeting, type: string) =>
  caller.events.filter((event) => event['type'] === type);
const untilEvent = (meeting: Meeting, type: string) => until(type, () => eventsOf(meeting, type)[0]);
const untilShown = ({ caller }: Meeting, text: string) =>
  until(`"${text}" is shown`, () => caller.shown.some((shown) => shown.final && shown.text.trim() === text));
/** Hangs up and waits for the end, since only then the record is complete. */
const hangUp = ({ caller, invite }: Meeting) => {
  caller.hangUp();
  return talks.ended(invite);
};

const webhook = (place: string, more: object = {}) => ({
  name: 'Weather',
  description: 'Tells the weather of a city',
  url: `http://${toolHost}/${place}/{{city}}`,
  method: 'GET',
  arguments: [{ name: 'city', description: 'Which city' }],
  ...more,
});

async function toolId(body: object): Promise<string> {
  const made = await call('tools', { body });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return String(made.body['tool_id']);
}

const callsWeather = (messages: Messages): Answered => {
  const told = toolSaid(messages);
  return told === undefined ? { calls: { Weather: { city: 'Kyōto' } } } : `It is ${told}.`;
};

t.test(
  'a webhook tool: called once, told to the model, shown to the client, kept in the record',
  async (t) => {
    const urls: (string | undefined)[] = [];
    tools.set('weather', (request, response) => {
      urls.push(request.url);
      response.end('sunny');
    });
    models.set('Weather?', callsWeather);
    const meeting = await talks.meet({ tools: { tool_ids: [await toolId(webhook('weather'))] } });
    meeting.caller.send({ type: 'user.message', text: 'Weather?' });
    await untilShown(meeting, 'It is sunny.');
    t.same(urls, ['/weather/Ky%C5%8Dto']);
    const [started, ...otherStarts] = eventsOf(meeting, 'tool.started');
    const [completed, ...otherEnds] = eventsOf(meeting, 'tool.completed');
    t.same([otherStarts, otherEnds, eventsOf(meeting, 'tool.failed')], [[], [], []], 'exactly once each');
    exactly(t, started, { toolName: 'Weather', toolSource: 'webhook', input: '{"city":"Kyōto"}' });
    exactly(t, completed, { callId: started?.['callId'], output: 'sunny' });
    const { items } = await hangUp(meeting);
    t.same(
      items.map(({ type }) => type),
      ['message', 'tool_call', 'tool_result', 'message'],
    );
    exactly(t, items[1], {
      tool_name: 'Weather',
      tool_source: 'webhook',
      input: '{"city":"Kyōto"}',
      turn_id: 1,
    });
    exactly(t, items[2], { status: 'completed', output: 'sunny', error: null, turn_id: 1 });
  },
);

t.test('a model that has said all before its tool adds nothing, and no word of it is lost', async (t) => {
  const words = 'I have put you down for Tuesday at nine, and there is a place by the window for you.';
  tools.set('booked', (_, response) => response.end('ok'));
  const books: Answered = { text: words, calls: { Weather: { city: 'Oslo' } } };
  models.set('Book it', (messages) => (toolSaid(messages) === undefined ? books : ''));
  const meeting = await talks.meet({ tools: { tool_ids: [await toolId(webhook('booked'))] } });
  meeting.caller.send({ type: 'user.message', text: 'Book it' });
  await untilShown(meeting, words);
  await untilEvent(meeting, 'turn.completed');
  t.equal(askedIn('Book it').length, 2);
  t.same(eventsOf(meeting, 'error'), []);
  const { items } = await hangUp(meeting);
  t.same(
    items.flatMap(({ role, content }) => (role === 'assistant' ? [content] : [])),
    [words],
  );
});

t.test('a model that says nothing at all after its tool has failed', async (t) => {
  tools.set('mute', (_, response) => response.end('ok'));
  const looks: Answered = { calls: { Weather: { city: 'Oslo' } } };
  models.set('Look', (messages) => (toolSaid(messages) === undefined ? looks : ''));
  const meeting = await talks.meet({ tools: { tool_ids: [await toolId(webhook('mute'))] } });
  meeting.caller.send({ type: 'user.message', text: 'Look' });
  await untilEvent(meeting, 'error');
  await untilShown(meeting, 'Sorry, I could not answer that. Please try again.');
  const { items } = await hangUp(meeting);
  exactly(t, items.at(-1), { role: 'assistant', error: 'provider_failed' });
});

t.test('a call is the request that the tool’s test sends: one Content-Type, the tool’s own', async (t) => {
  const sent: (readonly string[])[] = [];
  tools.set('posted', (request, response) => {
    const { rawHeaders: raw } = request;
    sent.push(raw.filter((_, index) => raw[index - 1]?.toLowerCase() === 'content-type'));
    response.end('sunny');
  });
  models.set('Weather, by post?', callsWeather);
  const posting = {
    method: 'POST',
    content_type: 'application/json',
    body_template: '{"city":"{{city}}"}',
    headers: [{ name: 'Content-Type', value: 'application/vnd.weather+json' }],
  };
  const meeting = await talks.meet({ tools: { tool_ids: [await toolId(webhook('posted', posting))] } });
  meeting.caller.send({ type: 'user.message', text: 'Weather, by post?' });
  await untilShown(meeting, 'It is sunny.');
  t.strictSame(sent, [['application/vnd.weather+json']]);
  await hangUp(meeting);
});

t.test('tool_events:false keeps tools off the client, and errors can be hidden from the model', async (t) => {
  tools.set('broken', (_, response) => response.writeHead(500).end('stack trace of the shop'));
  const words = 'Weather, if any?';
  models.set(words, (messages) => (toolSaid(messages) === undefined ? callsWeather(messages) : 'No idea.'));
  const tool = await toolId(webhook('broken', { error_handling: 'hide' }));
  const meeting = await talks.meet({ tools: { tool_ids: [tool] } }, { tool_events: false });
  meeting.caller.send({ type: 'user.message', text: words });
  await untilShown(meeting, 'No idea.');
  t.notOk(meeting.caller.events.some(({ type }) => String(type).includes('tool')));
  t.notMatch(JSON.stringify(askedIn(words)), /stack trace/);
  const result = (await hangUp(meeting)).items.find(({ type }) => type === 'tool_result');
  exactly(t, result, { status: 'failed', error: 'HTTP 500: stack trace of the shop' }, 'the owner may know');
  const line = await until('the log names it', () =>
    talks.gateway
      .stderr()
      .split('\n')
      .find((each) => each.includes(`"A tool at http://${toolHost} failed (500)"`)),
  );
  exactly(t, JSON.parse(line), {
    ...{ level: 40, part: 'tool', address: `http://${toolHost}`, outcome: 'failed', status: 500 },
    ...{ sessionId: meeting.invite.session_id, agentId: /^agent_/, workspaceId: /./ },
  });
  t.notMatch(line, /stack trace|broken/, 'neither what it answered, nor its path');
});

t.test('an interrupted tool call is answered to the model before what was said after it', async (t) => {
  const waiting: ServerResponse[] = [];
  tools.set('slow', (_, response) => void waiting.push(response));
  const words = 'Weather, when you know?';
  models.set(words, (messages) => (said(messages) === 'Never mind' ? 'Fine.' : callsWeather(messages)));
  const meeting = await talks.meet({ tools: { tool_ids: [await toolId(webhook('slow'))] } });
  meeting.caller.send({ type: 'user.message', text: words });
  await until('the tool runs', () => waiting.length > 0);
  meeting.caller.send({ type: 'user.message', text: 'Never mind' });
  await untilShown(meeting, 'Fine.');
  const told = askedIn(words).find((messages) => said(messages) === 'Never mind');
  const roles = told?.filter(({ role }) => role !== 'system').map(({ role }) => role);
  t.same(roles, ['user', 'assistant', 'tool', 'user']);
  await untilEvent(meeting, 'tool.failed');
  t.equal(eventsOf(meeting, 'tool.started').length, 1);
  waiting[0]?.destroy();
  meeting.caller.hangUp();
});

const clientTool = (more: object = {}) => ({
  name: 'pick_color',
  tool_type: 'client',
  arguments: [{ name: 'of', description: 'Of what' }],
  ...more,
});

const callsClient = (messages: Messages): Answered => {
  const told = toolSaid(messages);
  return told === undefined ? { calls: { pick_color: { of: 'lamp' } } } : `So: ${told}`;
};

models.set('Which?', callsClient);

t.test('client tools: answered, refused, and not answered in time', async (t) => {
  const ask = async (timeout: number, reply?: object) => {
    const tool = await toolId(clientTool({ timeout_seconds: timeout }));
    const meeting = await talks.meet({ tools: { tool_ids: [tool] } });
    meeting.caller.send({ type: 'user.message', text: 'Which?' });
    const asked = await untilEvent(meeting, 'client_tool.call');
    exactly(t, asked, { toolName: 'pick_color', params: { of: 'lamp' }, expectsResponse: true });
    const { callId } = asked as { callId?: unknown };
    if (reply) meeting.caller.send({ type: 'client_tool.result', callId, ...reply });
    await until('it is answered', () => shownBy(meeting.caller, 'agent').length > 0);
    const [shown = ''] = shownBy(meeting.caller, 'agent');
    meeting.caller.hangUp();
    return shown;
  };
  const [answered, refused, late] = await Promise.all([
    ask(60, { result: { color: 'red' } }),
    ask(60, { result: 'no colours left', isError: true }),
    ask(1),
  ]);
  t.equal(answered, 'So: {"color":"red"}');
  t.match(refused, /^So: \{"error":"no colours left"\}/);
  t.match(late, /did not answer within 1 s/);
});

/** A result that can be parsed, but not written as JSON again. */
const DEEP = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;

t.test('a client’s result that nests too deep is a failure of its tool, not of the call', async (t) => {
  const meeting = await talks.meet({ tools: { tool_ids: [await toolId(clientTool())] } });
  meeting.caller.send(`{"type":"client_tool.result","callId":"nobody","result":${DEEP}}`);
  meeting.caller.send({ type: 'user.message', text: 'Which?' });
  const asked = await untilEvent(meeting, 'client_tool.call');
  const { callId } = asked as { callId?: unknown };
  meeting.caller.send(`{"type":"client_tool.result","callId":${JSON.stringify(callId)},"result":${DEEP}}`);
  await untilShown(meeting, 'So: {"error":"The result is nested too deep"}');
  const result = (await hangUp(meeting)).items.find(({ type }) => type === 'tool_result');
  exactly(t, result, { status: 'failed', error: 'The result is nested too deep' });
});

t.test('a client tool that expects no response does not wait for one', async (t) => {
  const tool = await toolId(clientTool({ expects_response: false, timeout_seconds: 100 }));
  const meeting = await talks.meet({ tools: { tool_ids: [tool] } });
  meeting.caller.send({ type: 'user.message', text: 'Which?' });
  await until('the agent speaks', () => shownBy(meeting.caller, 'agent').length > 0);
  exactly(t, eventsOf(meeting, 'client_tool.call')[0], { expectsResponse: false });
  meeting.caller.hangUp();
});

t.test(
  'half a character, of a client or at a cut, is in no record and no request to the model',
  async (t) => {
    // The model is told 16,000 characters; the pair is cut there.
    const fitting = 16_000 - CUT_MARK.length - 1;
    tools.set('long', (_, response) => response.end(`${'x'.repeat(fitting)}😀${'y'.repeat(100)}`));
    const words = 'Weather \ufffd?';
    models.set(words, (messages) => (toolSaid(messages) === undefined ? callsWeather(messages) : 'A lot.'));
    const meeting = await talks.meet({ tools: { tool_ids: [await toolId(webhook('long'))] } });
    meeting.caller.send({ type: 'user.message', text: 'Weather \ud83d?' });
    await untilShown(meeting, 'A lot.');
    const { items } = await hangUp(meeting);
    t.notMatch(JSON.stringify(askedIn(words)), /\\ud/);
    const [result] = items.filter(({ type }) => type === 'tool_result');
    exactly(t, result, { output_truncated: false, told_truncated: true, output: /y$/ });
    t.equal(
      askedIn(words)
        .map(toolSaid)
        .find((told) => told !== undefined),
      `${'x'.repeat(fitting)}${CUT_MARK}`,
    );
    t.notMatch(JSON.stringify(items), /\\ud/);
    exactly(t, items[0], { content: 'Weather \ufffd?' });
  },
);

t.test('a tool of an MCP server is called as any other; its secrets are in no log', async (t) => {
  const asked: (string | undefined)[] = [];
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} },
    'tools/list': { tools: [{ name: 'Weather', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'sunny' }] },
  };
  tools.set('mcp', (request, response) => {
    asked.push(request.headers.authorization);
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { id, method } = JSON.parse(body) as { id?: number; method: string };
      if (id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`);
    });
  });
  models.set('Weather, by MCP?', callsWeather);
  const headers = [{ name: 'A', kind: 'authorization_bearer', value: 'Bearer very-secret' }];
  const server = { name: 'crm', tool_type: 'mcp', url: `http://${toolHost}/mcp`, headers };
  const away = { name: 'erp', tool_type: 'mcp', url: 'http://127.0.0.2:1/mcp', headers };
  const ids = await Promise.all([server, away].map(toolId).map((id) => id.catch(() => undefined)));
  t.equal(ids[1], undefined, 'a private address is refused as it is saved');
  const meeting = await talks.meet({ tools: { tool_ids: [ids[0]] } });
  meeting.caller.send({ type: 'user.message', text: 'Weather, by MCP?' });
  await untilShown(meeting, 'It is sunny.');
  exactly(t, eventsOf(meeting, 'tool.completed')[0], { toolSource: 'mcp', output: 'sunny' });
  const { items } = await hangUp(meeting);
  exactly(t, items[1], { tool_name: 'Weather', tool_source: 'mcp', input: '{"city":"Kyōto"}' });
  t.same([...new Set(asked)], ['Bearer very-secret']);
  t.notMatch(talks.gateway.stderr(), 'very-secret');
});

t.test('a hand-over: another agent continues the same call, and the client gets an event', async (t) => {
  const shop = await talks.agent({
    prompt: { system_prompt: 'You are the shop.', first_message_mode: 'off' },
  });
  models.set('Tea please', (messages) => {
    if (messages[0]?.content?.startsWith('You are the shop.')) return 'Here is the shop.';
    return { calls: { transfer_to_agent: { agent_id: shop, note: 'wants tea' } } };
  });
  const meeting = await talks.meet({
    tools: { transfer_agents: [{ agent_id: shop, description: 'Sells' }] },
  });
  meeting.caller.send({ type: 'user.message', text: 'Tea please' });
  await untilShown(meeting, 'Here is the shop.');
  const roles = askedIn('Tea please')
    .at(-1)
    ?.map(({ role }) => role);
  t.same(roles, ['system', 'user'], 'the shop has no tools, and is told of the call in words');
  exactly(t, eventsOf(meeting, 'agent.changed'), [{ agentId: shop }]);
  const { items } = await hangUp(meeting);
  exactly(t, items[2], {
    tool_name: 'transfer_to_agent',
    tool_source: 'builtin',
    status: 'completed',
    output: /wants tea/,
  });
});
