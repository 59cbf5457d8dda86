/**
 * The session SDK in Node, on a room of @livekit/rtc-node: joining, talking in writing, tools, every way to end.
 */
import { AudioStream, dispose, Room, RoomEvent, SimulateScenarioKind, TrackKind } from 'rtc-node-1';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { AgentSession } from '../../client/dist/index.js';
import { runTool, TOOL_LIMITS } from '../../client/dist/tools.js';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { startGateway } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';

const ORIGIN = 'https://shop.example.com';
const FIRST = 'Hello, this is the lamp shop.';

const gateway = await startGateway({ MEDIA_UDP_PORT: '0', MEDIA_HOST: '127.0.0.1' });
t.teardown(async () => {
  await dispose();
  await gateway.stop();
});
const call = client(gateway.base);

const tool = async (name, description, more = {}) => {
  const body = { name, description, tool_type: 'client', ...more };
  return (await call('tools', { body })).body.tool_id;
};
const agentId = await makeAgent(call, {
  config: {
    prompt: {
      system_prompt: 'The shop opens at nine on weekdays.',
      first_message_mode: 'fixed',
      first_message: FIRST,
    },
    tools: {
      tool_ids: [
        await tool('show_map', 'Shows the map.'),
        await tool('print_receipt', 'Prints the receipt.'),
        await tool('dim_lights', 'Dims the lights.'),
        await tool('ring_bell', 'Rings the bell.', { expects_response: false }),
      ],
      system_tools: { hang_up_call: true },
    },
  },
  change: { public_enabled: true, allowed_origins: [ORIGIN] },
});

const from = (origin) => (address, init) => fetch(address, { ...init, headers: { ...init.headers, origin } });
const publicAgent = (more = {}) => ({ agentId, baseUrl: gateway.base, fetch: from(ORIGIN), ...more });

const EVENTS = [
  'connect',
  'disconnect',
  'statusChange',
  'modeChange',
  'userTranscript',
  'agentResponseDelta',
  'agentResponse',
  'message',
  'toolCallStarted',
  'toolCallCompleted',
  'toolCallFailed',
  'error',
];

/** A session, and all that it has told, in order. */
function make(options) {
  const room = new Room();
  const session = new AgentSession({ room, agent: publicAgent(), ...options });
  const told = [];
  for (const name of EVENTS) session.on(name, (event) => told.push({ name, event }));
  const all = (wanted) => told.filter(({ name }) => name === wanted).map(({ event }) => event);
  const heard = (name, fits = () => true) => until(`${name} is told`, () => all(name).find(fits));
  return { session, room, told, all, heard };
}

const record = async ({ sessionId }) => (await call(`sessions/${sessionId}`)).body;
const says =
  (text) =>
  ({ text: said }) =>
    said.includes(text);

t.test('a conversation: heard, in writing, with tools, until the user hangs up', async (t) => {
  const given = [];
  const tools = {
    show_map: (params, context) => {
      given.push({ params, context });
      return 'The map is on the screen.';
    },
    print_receipt: () => 'x'.repeat(TOOL_LIMITS.resultBytes),
    ring_bell: () => void given.push('bell'),
  };
  const { session, room, all, told, heard } = make({ tools });
  let loud = 0;
  room.on(RoomEvent.TrackSubscribed, async (track) => {
    if (track.kind !== TrackKind.KIND_AUDIO) return;
    for await (const { data } of new AudioStream(track, 24_000, 1))
      if (data.some((sample) => Math.abs(sample) > 1000)) loud += 1;
  });
  await rejectsExactly(t, session.sendText('too early'), { code: 'connection_failed' });
  t.equal(session.status, 'disconnected');
  await session.start();
  t.equal(session.status, 'connected');
  t.strictSame(all('connect'), [{ sessionId: session.sessionId }]);
  await rejectsExactly(t, session.start(), { message: /once/ });
  exactly(t, all('error'), [{ code: 'connection_failed', message: /once/ }]);

  t.equal((await heard('agentResponse')).text, FIRST);
  t.ok(loud > 0, 'it was heard');
  t.equal(
    all('agentResponseDelta')
      .map(({ delta }) => delta)
      .join(''),
    FIRST,
  );
  await until('it listens', () => session.mode === 'listening');
  t.ok(all('modeChange').some(({ mode }) => mode === 'speaking'));

  await session.sendText('When does the shop open on weekdays?', { audio: false });
  await heard('agentResponse', says('nine'));
  await session.sendText('Please show me the map.', { audio: false });
  await heard('agentResponse', says('The map is on the screen'));
  const [{ params, context }] = given;
  t.strictSame(params, {});
  t.equal(all('toolCallStarted')[0].callId, context.callId);
  exactly(t, all('toolCallCompleted')[0], {
    toolName: 'show_map',
    source: 'client',
    output: /on the screen/,
  });

  await session.sendText('Print the receipt.', { audio: false });
  exactly(t, await heard('toolCallFailed'), { toolName: 'print_receipt', error: /larger than 60000 bytes/ });
  await session.sendText('Dim the lights.', { audio: false });
  exactly(t, await heard('toolCallFailed', ({ toolName }) => toolName === 'dim_lights'), {
    error: /no tool/,
  });
  t.strictSame(
    all('error').map(({ code }) => code),
    ['connection_failed', 'tool_failed'],
  );
  await session.sendText('Ring the bell.', { audio: false });
  await until('the bell has rung', () => given.includes('bell'));

  session.activity();
  session.interrupt();
  await session.end();
  await session.end();
  t.equal(session.status, 'disconnected');
  t.strictSame(all('disconnect'), [{ reason: 'user_hangup' }]);
  t.strictSame(told.at(-1), { name: 'disconnect', event: { reason: 'user_hangup' } });
  t.strictSame(
    all('statusChange').map(({ status }) => status),
    ['connecting', 'connected', 'disconnected'],
  );

  const { status, source, ended_reason, items } = await until('the record is closed', async () => {
    const found = await record(session);
    return found.status === 'active' ? undefined : found;
  });
  exactly(
    t,
    { status, source, ended_reason },
    { status: 'completed', source: 'public', ended_reason: 'hangup' },
  );
  const written = items.filter(({ type, role }) => type === 'message' && role === 'assistant');
  const agentSaid = all('message').filter(({ role }) => role === 'agent');
  t.strictSame(
    agentSaid.map(({ text }) => text.trim()),
    written.map(({ content }) => content),
  );
  t.equal(items.filter(({ type }) => type === 'tool_call').length, 4);
});

t.test('the agent hangs up, and the API ends a call', async (t) => {
  const left = make();
  await left.session.start();
  await left.session.sendText('Goodbye.', { audio: false });
  t.strictSame(await left.heard('disconnect'), { reason: 'agent_hangup' });
  t.equal(left.session.status, 'disconnected');

  const ended = make();
  await ended.session.start();
  await call(`sessions/${ended.session.sessionId}/end`, { method: 'POST' });
  t.strictSame(await ended.heard('disconnect'), { reason: 'agent_hangup' });
});

/** The connection is lost in the way of that name; resolves when it is there again. */
async function reconnects({ session, room, all }, kind) {
  const losses = () => all('statusChange').filter(({ status }) => status === 'reconnecting').length;
  const before = losses();
  await room.simulateScenario(SimulateScenarioKind[kind]);
  await until(`${kind} is told`, () => losses() > before);
  await until('it is connected again', () => session.status === 'connected');
}

t.test('lost connections while the agent speaks do not end a conversation', async (t) => {
  const first_message = 'Once upon a time there was a lamp that nobody could put out. '.repeat(4).trim();
  const talkative = await makeAgent(call, {
    config: { prompt: { system_prompt: 'We open at nine.', first_message_mode: 'fixed', first_message } },
  });
  const { body: response } = await call('sessions', { body: { agent_id: talkative } });
  const made = make({ agent: undefined, session: response });
  const { session, all, heard } = made;
  await session.start();
  await heard('agentResponseDelta');
  for (const kind of ['SIMULATE_SIGNAL_RECONNECT', 'SIMULATE_FULL_RECONNECT']) {
    await reconnects(made, kind);
    t.equal(all('agentResponse').length, 0, `${kind}: it still speaks`);
  }
  t.equal((await heard('agentResponse')).text, first_message);
  t.equal(
    all('agentResponseDelta')
      .map(({ delta }) => delta)
      .join(''),
    first_message,
  );
  await session.sendText('When do you open?', { audio: false });
  await heard('agentResponse', says('nine'));
  t.strictSame([all('disconnect'), all('error')], [[], []]);
  await session.end();
  t.strictSame(all('disconnect'), [{ reason: 'user_hangup' }]);
});

t.test('a session that somebody else has requested', async (t) => {
  const { body: response } = await call('sessions', { body: { agent_id: agentId } });
  const { session, heard } = make({ agent: undefined, session: async () => response });
  await session.start();
  t.equal(session.sessionId, response.session_id);
  await session.end();
  await heard('disconnect');
  const again = make({ agent: undefined, session: response });
  await rejectsExactly(t, again.session.start(), { code: 'connection_failed' }, 'a token joins once');
  t.equal(again.session.status, 'disconnected');
  t.equal(again.all('disconnect').length, 0, 'it never began');
});

t.test('a device whose clock is ahead, with a browser of 2023, joins', async (t) => {
  const { any } = AbortSignal;
  t.teardown(() => (AbortSignal.any = any));
  delete AbortSignal.any;
  const ask = async (...request) => {
    const response = await from(ORIGIN)(...request);
    return Response.json({ ...(await response.json()), expires_at: '2020-01-01T00:00:00Z' });
  };
  const { session, all } = make({ agent: publicAgent({ fetch: ask }) });
  await session.start();
  t.equal(session.status, 'connected');
  t.strictSame(all('error'), []);
  await session.end();
});

t.test('a session that does not begin says why, twice: to the caller and to listeners', async (t) => {
  const response = { transport: 'media', media_url: 'ws://127.0.0.1:9', token: 'x' };
  const soon = new Date(Date.now() + 60_000).toISOString();
  const cases = [
    ['origin_forbidden', { agent: publicAgent({ fetch: from('https://elsewhere.example.com') }) }],
    ['agent_not_public', { agent: publicAgent({ agentId: await makeAgent(call) }) }],
    ['session_request_failed', { agent: publicAgent({ agentId: 'nobody' }) }],
    ['session_request_failed', { agent: publicAgent({ baseUrl: 'http://127.0.0.1:9' }) }],
    ['unsupported_transport', { session: { ...response, transport: 'pigeon' } }],
    ['session_expired', { session: { ...response, expires_at: '2020-01-01T00:00:00Z' } }],
    ['session_request_failed', { session: { transport: 'media', token: 'x' } }],
    ['session_request_failed', { session: () => Promise.reject(new Error('Not today')) }],
    ['session_request_failed', { session: () => undefined }],
    ['session_request_failed', { session: { error: 'Sign in first' } }],
    [
      'session_request_failed',
      { agent: publicAgent({ fetch: async () => new Response('<h1>Welcome</h1>') }) },
    ],
    ['session_request_failed', { agent: publicAgent({ fetch: async () => Response.json(null) }) }],
    ['connection_failed', { session: response, room: undefined }],
    ['connection_failed', { session: { ...response, expires_at: soon } }],
  ];
  for (const [code, options] of cases) {
    const { session, all } = make({ agent: undefined, ...options });
    await rejectsExactly(t, session.start(), { name: 'SessionError', code });
    t.strictSame(
      all('error').map((error) => error.code),
      [code],
    );
    t.equal(session.status, 'disconnected');
  }
});

/** Moments of a start: each ends the usual session then, or gives another that ends itself. */
const EARLY = {
  'at once': ({ session }) => queueMicrotask(() => session.end()),
  'while the gateway is asked': ({ session }) => void setImmediate(() => session.end()),
  'while somebody asks for the session, and never hears': () => {
    const asking = make({
      agent: undefined,
      session: () => {
        setImmediate(() => asking.session.end());
        return new Promise(() => undefined);
      },
    });
    return asking;
  },
  'while the room is joined': ({ session, room }) => {
    const connect = room.connect.bind(room);
    room.connect = (...place) => {
      void session.end();
      return connect(...place);
    };
  },
  'when the agent is there': ({ session, room }) => {
    const { remoteParticipants } = room;
    const connect = room.connect.bind(room);
    room.connect = async (...place) => {
      await connect(...place);
      const isThere = ({ attributes }) => 'lk.agent.state' in attributes;
      await until('the agent is there', () => [...remoteParticipants.values()].some(isThere));
      Object.defineProperty(room, 'remoteParticipants', {
        get() {
          void session.end();
          return remoteParticipants;
        },
      });
    };
  },
};

for (const [moment, endDuring] of Object.entries(EARLY))
  t.test(`ended ${moment}, a start neither succeeds nor fails`, async (t) => {
    const usual = make();
    const { session, room, all } = endDuring(usual) ?? usual;
    await rejectsExactly(t, session.start(), { code: 'connection_failed', message: /was ended/ });
    t.equal(session.status, 'disconnected');
    t.strictSame([all('error'), all('connect'), all('disconnect')], [[], [], []]);
    await until('the room is left', () => !room.isConnected);
    await rejectsExactly(t, session.setMuted(true), { code: 'device_change_failed' });
  });

t.test('a tool that takes too long is aborted, and its late answer is ignored', async (t) => {
  const failures = [];
  let signal;
  const slow = (_params, context) => {
    ({ signal } = context);
    return new Promise(() => undefined);
  };
  const answer = await runTool({ slow }, { callId: 'a', toolName: 'slow' }, (e) => failures.push(e), 20);
  exactly(t, answer, {
    type: 'client_tool.result',
    callId: 'a',
    isError: true,
    result: /not answered within/,
  });
  t.equal(signal.aborted, true);
  t.strictSame(
    failures.map(({ code }) => code),
    ['tool_timeout'],
  );
});
