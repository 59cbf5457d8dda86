/**
 * Phone calls from the provider's question to the end, at doubles of the providers (docs/phone.md): greeting, talk, tools,
 * keys, interruption, the end from every side; and what is refused.
 */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { type Body } from '../fixtures/agents.js';
import { messagesOf, type Record, Talks } from '../fixtures/conversation.js';
import { keysIn } from '../fixtures/dtmf.js';
import { said, toolSaid } from '../fixtures/model.js';
import { type CallDetails, PhoneLine, type ProviderDialect } from '../fixtures/phone-line.js';
import { plivoDouble } from '../fixtures/phone-plivo.js';
import { telnyxDouble } from '../fixtures/phone-telnyx.js';
import { twilioDouble } from '../fixtures/phone-twilio.js';
import { vonageDouble } from '../fixtures/phone-vonage.js';
import { startReceiver } from '../fixtures/receiver.js';
import { until } from '../fixtures/until.js';

const talks = await Talks.start(t, { OUTBOUND_ALLOW: '127.0.0.1' });
const { model, call: ask, gateway } = talks;

const CALLER = '+14155550123';
const SECRET = 'provider-secret-0123456789';
/** 25 seconds of tones. */
const LONG = Array.from({ length: 200 }, (_, index) => String(index + 100)).join(' ');

interface Provider {
  readonly name: string;
  readonly dialect: ProviderDialect;
  readonly credential: string;
  readonly signsTime?: true;
}

const PROVIDERS: readonly Provider[] = [
  { name: 'twilio', dialect: twilioDouble, credential: 'auth_token' },
  { name: 'telnyx', dialect: telnyxDouble, credential: 'public_key', signsTime: true },
  { name: 'plivo', dialect: plivoDouble, credential: 'auth_token' },
  { name: 'vonage', dialect: vonageDouble, credential: 'signature_secret', signsTime: true },
];

let numbers = 0;
const newNumber = (): string => `+4930${String((numbers += 1)).padStart(7, '0')}`;
const newCall = (to: string, from = CALLER): CallDetails => ({
  callId: `CA${randomBytes(16).toString('hex')}`,
  from,
  to,
});

const answerUrl = ({ name }: Provider): string => `${gateway.base}/v1/phone/${name}/answer`;

/** A number that an agent answers. */
async function numberOf(provider: Provider, agentId: string | null, more: Body = {}): Promise<string> {
  const number = newNumber();
  const credentials = { [provider.credential]: provider.dialect.credentialOf(SECRET) };
  const body = { provider: provider.name, phone_number: number, agent_id: agentId, credentials, ...more };
  const { status, body: made } = await ask('phone-numbers', { body });
  if (status !== 201) throw new Error(`phone number: ${status} ${JSON.stringify(made)}`);
  return number;
}

/** The provider asks who answers. */
async function ring(provider: Provider, call: CallDetails, secret = SECRET, at?: number) {
  const url = answerUrl(provider);
  const response = await fetch(url, provider.dialect.ask(url, call, secret, at));
  return { status: response.status, document: await response.text() };
}

interface Answered {
  readonly line: PhoneLine;
  readonly number: string;
  record(): Promise<Record & Body>;
  ended(): Promise<Record & Body>;
}

const untilHeard = (line: PhoneLine, frames = 1) => until('the agent is heard', () => line.audible >= frames);

/** The newest session of a number; it is found by its agent, which has no other. */
async function sessionOf(agentId: string): Promise<string> {
  const { body } = await ask(`sessions?agent_id=${agentId}&status=pending,active,completed,failed`);
  const [session] = body['sessions'] as Body[];
  return String(session?.['session_id']);
}

async function dial(provider: Provider, config: Body = {}): Promise<Answered> {
  const agentId = await talks.agent(config);
  const number = await numberOf(provider, agentId);
  const call = newCall(number);
  const { document } = await ring(provider, call);
  const line = await PhoneLine.answered(provider.dialect, call, document);
  t.teardown(() => line.drop());
  const session_id = await sessionOf(agentId);
  const record = async () => (await ask(`sessions/${session_id}`)).body as unknown as Record & Body;
  const ended = async () => (await talks.ended({ session_id } as never)) as Record & Body;
  return { line, number, record, ended };
}

/** Says it until it is understood: on a machine that stutters, speech comes in pieces. */
async function tell({ line, record }: Answered, text: string): Promise<void> {
  const understood = async () => messagesOf(await record()).includes(`user: ${text}`);
  for (let times = 1; times < 4; times += 1) {
    await line.say(await talks.speech(text));
    if (await until('it is understood', understood, 8000).catch(() => false)) return;
  }
  throw new Error(`"${text}" was not understood`);
}

/** The agent has said it to its end. */
const untilSaid = ({ record }: Answered, text: string) =>
  until(`"${text}" is said`, async () => messagesOf(await record()).includes(`assistant: ${text}`));

/** Both sides are kept, for as long as the call took. */
async function recorded(sessionId: string, t: Test): Promise<void> {
  const recording = await until('the recording is whole', async () => {
    const { body } = await ask(`sessions/${sessionId}/recording`);
    return body['status'] === 'complete' ? (body as { tracks?: Body[] }) : undefined;
  });
  const tracks = recording.tracks ?? [];
  t.same(tracks.map(({ role }) => role).sort(), ['agent', 'user']);
  for (const { duration_ms: ms, url } of tracks) {
    t.ok(Number(ms) > 2000, `${String(ms)} ms`);
    const audio = await (await fetch(String(url))).arrayBuffer();
    t.equal(Buffer.from(audio).subarray(0, 4).toString(), 'OggS');
  }
}

for (const provider of PROVIDERS) {
  t.test(`${provider.name}: a whole call, and its record`, async (t) => {
    const receiver = await startReceiver(t, (_, response) => response.end('{"price": "two euros"}'));
    const { body: tool } = await ask('tools', {
      body: {
        name: 'price',
        description: 'The price',
        tool_type: 'webhook',
        method: 'GET',
        url: receiver.url,
      },
    });
    model.answer((messages) => {
      const result = toolSaid(messages);
      if (result !== undefined) return 'It is two euros.';
      return said(messages).startsWith('How much') ? { calls: { price: {} } } : `You said: ${said(messages)}`;
    });
    model.asked.length = 0;
    const answered = await dial(provider, {
      prompt: {
        first_message_mode: 'fixed',
        first_message: 'Welcome.',
        system_prompt: 'The caller is {{caller_number}}, who has dialled {{dialed_number}}.',
      },
      tools: { enabled: true, tool_ids: [tool['tool_id']] },
      conversation: { record_audio: true },
    });
    const { line, number } = answered;
    // Eight characters of two tones each.
    await untilHeard(line, 16);
    await tell(answered, 'Two lamps, please.');
    await untilSaid(answered, 'You said: Two lamps, please.');
    await tell(answered, 'How much is it?');
    await untilSaid(answered, 'It is two euros.');
    line.press('1', '2', '3', '#');
    await untilSaid(answered, 'You said: [keypad: 123]');
    const prompt = `The caller is ${CALLER}, who has dialled ${number}.`;
    t.ok(
      model.asked.some(([first]) => first?.content?.includes(prompt)),
      'the prompt knows who calls whom',
    );
    line.hangUp();
    const record = await answered.ended();
    t.match(record, {
      ...{ status: 'completed', ended_reason: 'hangup', source: 'phone', direction: 'inbound' },
      ...{ caller_number: CALLER, dialed_number: number },
    });
    t.same(messagesOf(record).slice(0, 3), [
      'assistant: Welcome.',
      'user: Two lamps, please.',
      'assistant: You said: Two lamps, please.',
    ]);
    t.match(
      record.items.filter(({ type }) => type === 'tool_result'),
      [{ tool_name: 'price', status: 'completed' }],
    );
    await recorded(String((record as Body)['session_id']), t);
    await talks.untilNoCalls();
  });

  t.test(
    `${provider.name}: an interruption clears what was sent, and the record keeps what was heard`,
    async (t) => {
      model.answer((messages) => (said(messages).includes('wait') ? 'Yes?' : LONG));
      const answered = await dial(provider);
      const { line } = answered;
      line.press('1', '#');
      await untilHeard(line, 50);
      await tell(answered, 'Please wait now.');
      t.ok(
        line.said.some(({ type }) => type === 'clear'),
        'the provider is told to drop it',
      );
      t.ok(
        line.said.some(({ type }) => type === 'mark'),
        'and to tell what was heard',
      );
      await untilSaid(answered, 'Yes?');
      const heard = line.audible;
      line.hangUp();
      const [keys, first = '', ...more] = messagesOf(await answered.ended());
      t.same([keys, ...more], ['user: [keypad: 1]', 'user: Please wait now.', 'assistant: Yes?']);
      const kept = first.replace('assistant: ', '');
      t.ok(kept.length > 0 && LONG.startsWith(kept) && kept.length < LONG.length, kept);
      // A character takes two tones of 20 ms.
      t.ok(kept.length * 2 <= heard + 10, `kept ${kept.length * 2} of ${heard} frames`);
    },
  );

  t.test(`${provider.name}: the agent presses keys, which the line hears`, async (t) => {
    model.answer((messages) =>
      toolSaid(messages) === undefined ? { calls: { send_digits: { digits: '1w40#' } } } : 'Done.',
    );
    const answered = await dial(provider, { tools: { system_tools: { send_digits: true } } });
    const { line } = answered;
    line.press('2', '#');
    await untilSaid(answered, 'Done.');
    t.equal(keysIn(line.heard, provider.dialect.format.rate), '140#');
    line.hangUp();
    t.match(
      (await answered.ended()).items.filter(({ type }) => type === 'tool_result'),
      [{ tool_name: 'send_digits', tool_source: 'builtin', status: 'completed' }],
    );
  });

  t.test(`${provider.name}: the end of a call, from every side`, async (t) => {
    model.answer(() => ({ calls: { hang_up_call: {} } }));
    const hangsUp = await dial(provider, { tools: { enabled: true, system_tools: { hang_up_call: true } } });
    hangsUp.line.press('1', '#');
    t.match(await hangsUp.line.untilClosed(), { code: 1000 }, 'the agent hangs up');
    t.match(await hangsUp.ended(), { status: 'completed', ended_reason: 'hangup' });

    const ended = await dial(provider);
    const { session_id: id } = (await ended.record()) as Body;
    await until('it goes on', async () => (await ended.record()).status === 'active');
    t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
    t.match(await ended.line.untilClosed(), { code: 1000 }, 'it is ended by the API');
    t.match(await ended.ended(), { ended_reason: 'ended_by_api' });

    const dropped = await dial(provider);
    await until('it goes on', async () => (await dropped.record()).status === 'active');
    dropped.line.drop();
    t.match(await dropped.ended(), { status: 'failed', ended_reason: 'error' }, 'the stream is cut off');
    await talks.untilNoCalls();
  });

  t.test(`${provider.name}: a webhook that is forged, or replayed, begins nothing`, async (t) => {
    const number = await numberOf(provider, await talks.agent());
    t.match(await ring(provider, newCall(number), 'another secret'), { status: 403 });
    t.match(await ring(provider, newCall(newNumber())), { status: 403 }, 'an unknown number is the same');
    const call = newCall(number);
    t.match(await ring(provider, call), { status: 200 });
    t.match(await ring(provider, call), { status: 409 });
    const url = answerUrl(provider);
    t.equal((await fetch(url, { method: 'POST' })).status, 400, 'a webhook about nothing');
    t.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(65 * 1024) })).status, 413);
    t.equal((await fetch(`${gateway.base}/v1/phone/nobody/answer`, { method: 'POST' })).status, 404);
  });

  t.test(`${provider.name}: a call that nobody can answer is rejected`, async (t) => {
    const agentId = await talks.agent();
    const archived = await numberOf(provider, agentId);
    await ask(`agents/${agentId}`, { method: 'PATCH', body: { status: 'archived' } });
    const closed = [
      archived,
      await numberOf(provider, null),
      await numberOf(provider, await talks.agent(), { enabled: false }),
    ];
    for (const number of closed) {
      const { status, document } = await ring(provider, newCall(number));
      t.equal(status, 200);
      t.equal(provider.dialect.streamOf(document), undefined, document);
    }
  });

  t.test(`${provider.name}: a number that is withheld, or none, is no caller's number`, async (t) => {
    const agentId = await talks.agent();
    const number = await numberOf(provider, agentId);
    for (const from of ['anonymous', '', '266696687x', 'x'.repeat(2000)]) {
      t.match(await ring(provider, newCall(number, from)), { status: 200 });
      const { body } = await ask(`sessions/${await sessionOf(agentId)}`);
      t.match(body, { caller_number: null, dialed_number: number });
    }
  });
}

for (const provider of PROVIDERS.filter(({ signsTime }) => signsTime))
  t.test(`${provider.name}: a webhook counts for five minutes, and once`, async (t) => {
    const call = newCall(await numberOf(provider, await talks.agent()));
    const now = Math.floor(Date.now() / 1000);
    const ringAt = async (secondsAgo: number) =>
      (await ring(provider, call, SECRET, now - secondsAgo)).status;
    t.same(
      [await ringAt(3600), await ringAt(-3600), await ringAt(60), await ringAt(0)],
      [403, 403, 200, 409],
    );
  });

/** A stream whose call was answered, and that has said nothing yet. `forged`: the token that it has instead of its own. */
async function opened(provider: Provider, forged?: string) {
  const agentId = await talks.agent();
  const call = newCall(await numberOf(provider, agentId));
  const { document } = await ring(provider, call);
  const stream = provider.dialect.streamOf(document);
  if (!stream) throw new Error(document);
  const token = forged ?? stream.token;
  const url = stream.url.replace(stream.token, token);
  const line = await PhoneLine.open(provider.dialect, call, url);
  t.teardown(() => line.drop());
  const begin = (format?: object): void => {
    for (const message of provider.dialect.begin(call, token, format)) line.send(message);
  };
  return { line, begin, call, url, token };
}

for (const provider of PROVIDERS) {
  const { name, dialect } = provider;

  t.test(`${name}: a stream without its session is refused`, async (t) => {
    const other = await opened(provider);
    for (const token of ['', 'nonsense', `sess_0123456789abcdef01234567.${'A'.repeat(43)}`, other.token]) {
      const { line, begin } = await opened(provider, token);
      begin();
      t.match(await line.untilClosed(), { code: 1008, reason: 'no session waits for this stream' }, token);
    }
  });

  t.test(`${name}: a second stream for one call is refused, and the first goes on`, async (t) => {
    const { line, begin, call, url, token } = await opened(provider);
    begin();
    line.listen();
    const second = await PhoneLine.open(dialect, call, url);
    await until('the first has its session', async () => (await talks.callsAtWorkers()) > 0);
    for (const message of dialect.begin(call, token)) second.send(message);
    t.match(await second.untilClosed(), { code: 1008 });
    t.equal(line.closed, undefined);
    line.hangUp();
  });

  t.test(`${name}: a stream that claims another format is refused`, async (t) => {
    for (const wrong of dialect.wrongFormats) {
      const { line, begin } = await opened(provider);
      begin(wrong);
      t.match(await line.untilClosed(), { code: 1003 }, JSON.stringify(wrong));
    }
  });

  t.test(`${name}: nothing may come before the start of a stream, and it starts once`, async (t) => {
    const early = await opened(provider);
    early.line.send(dialect.media(new Uint8Array(160), 1));
    t.match(await early.line.untilClosed(), { code: 1008, reason: 'the stream has not started' });
    const twice = await opened(provider);
    twice.begin();
    twice.begin();
    t.match(await twice.line.untilClosed(), { code: 1008, reason: 'the stream has started already' });
  });

  t.test(`${name}: what is no message ends the stream`, async (t) => {
    for (const [message, code] of dialect.faults) {
      const { line, begin } = await opened(provider);
      begin();
      line.send(message);
      t.match(await line.untilClosed(), { code }, JSON.stringify(message).slice(0, 40));
    }
  });

  t.test(`${name}: what nobody has to understand is passed over`, async (t) => {
    const { line, begin } = await opened(provider);
    begin();
    for (const message of dialect.passed) line.send(message);
    line.listen();
    await until('the call goes on', async () => (await talks.callsAtWorkers()) > 0);
    t.equal(line.closed, undefined);
    line.hangUp();
  });

  t.test(`${name}: a flood of marks ends the stream`, async (t) => {
    const { line, begin } = await opened(provider);
    begin();
    for (let mark = 0; mark < 5000; mark += 1) line.send(dialect.marked(String(mark)));
    t.match(await line.untilClosed(), { code: 1008, reason: 'too many messages' });
    await talks.untilNoCalls();
  });
}
