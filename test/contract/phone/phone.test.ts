/**
 * Phone calls from the provider's webhook, or its stream, to the end, with doubles of the providers (docs/phone.md): greeting,
 * talk, tools, keys, interruption, the end from every side. Refusals are in hostile.test.ts.
 */
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { messagesOf } from '../../fixtures/conversation/conversation.js';
import { keysIn } from '../../fixtures/media/dtmf.js';
import { exactly } from '../../fixtures/exactly.js';
import {
  CALLER,
  IncomingCalls,
  PROVIDERS,
  untilHeard,
  untilSaid,
} from '../../fixtures/phone/incoming-calls.js';
import { type Answered, said, toolSaid } from '../../fixtures/chat/model.js';
import { startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

/** Calls at a time. */
t.jobs = 4;
const calls = await IncomingCalls.start(t);
const { talks } = calls;
const { model, call: ask } = talks;

/** 25 seconds of tones. */
const LONG = Array.from({ length: 200 }, (_, index) => String(index + 100)).join(' ');

/** What the agent does for a user who has said, or pressed, that; it repeats everything else. */
const ANSWERS: readonly (readonly [said: RegExp, answer: Answered])[] = [
  [/^\[keypad: 123\]/, { calls: { price: {} } }],
  [/wait/, 'Yes?'],
  [/^\[keypad: 1\]/, LONG],
  [/^\[keypad: 2\]/, { calls: { send_digits: { digits: '1w40#' } } }],
  [/^\[keypad: 3\]/, { calls: { hang_up_call: {} } }],
];

model.answer((messages) => {
  const result = toolSaid(messages);
  if (result !== undefined) return result.includes('euros') ? 'It is two euros.' : 'Done.';
  const text = said(messages);
  return ANSWERS.find(([pattern]) => pattern.test(text))?.[1] ?? `You said: ${text}`;
});

/** What a line returns of the agent's voice, in decibels. */
const ECHO_DB = -15;

/** Checks that both sides were recorded, for the duration of the call. */
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
    const answered = await calls.dial(provider, {
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
    await calls.tell(answered, 'Two lamps.');
    await untilSaid(answered, 'You said: Two lamps.');
    line.press('1', '2', '3', '#');
    await untilSaid(answered, 'It is two euros.');
    const prompt = `The caller is ${CALLER}, who has dialled ${number}.`;
    t.ok(
      model.asked.some(([first]) => first?.content?.includes(prompt)),
      'the prompt knows who calls whom',
    );
    line.hangUp();
    const record = await answered.ended();
    exactly(t, record, {
      ...{ status: 'completed', ended_reason: 'hangup', source: 'phone', direction: 'inbound' },
      ...{ caller_number: CALLER, dialed_number: number },
    });
    t.same(messagesOf(record).slice(0, 4), [
      'assistant: Welcome.',
      'user: Two lamps.',
      'assistant: You said: Two lamps.',
      'user: [keypad: 123]',
    ]);
    exactly(
      t,
      record.items.filter(({ type }) => type === 'tool_result'),
      [{ tool_name: 'price', status: 'completed' }],
    );
    await recorded(String((record as Body)['session_id']), t);
  });

  t.test(
    `${provider.name}: an interruption clears what was sent, and the record keeps what was heard; the API ends the call`,
    async (t) => {
      const answered = await calls.dial(provider);
      const { line } = answered;
      line.press('1', '#');
      await untilHeard(line, 50);
      await calls.tell(answered, 'Please wait now.');
      t.ok(
        line.said.some(({ type }) => type === 'clear'),
        'the provider is told to drop it',
      );
      // Genesys has no marks.
      const marks = line.said.some(({ type }) => type === 'mark');
      t.equal(marks, provider.name !== 'genesys', 'and to tell what was heard');
      await untilSaid(answered, 'Yes?');
      const heard = line.audible;
      const { session_id: id } = await answered.record();
      t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
      exactly(t, await line.untilClosed(), { code: 1000 });
      const record = await answered.ended();
      t.equal(record.ended_reason, 'ended_by_api');
      const [keys, first = '', ...more] = messagesOf(record);
      t.same([keys, ...more], ['user: [keypad: 1]', 'user: Please wait now.', 'assistant: Yes?']);
      const kept = first.replace('assistant: ', '');
      t.ok(kept.length > 0 && LONG.startsWith(kept) && kept.length < LONG.length, kept);
      // A character is two tones of 20 ms; some providers send sound in pieces of 200 ms.
      t.ok(kept.length * 2 <= heard + 20, `kept ${kept.length * 2} of ${heard} frames`);
    },
  );

  t.test(`${provider.name}: the agent presses keys, which the line hears, and hangs up`, async (t) => {
    const system_tools = { send_digits: true, hang_up_call: true };
    const answered = await calls.dial(provider, { tools: { enabled: true, system_tools } });
    const { line } = answered;
    line.press('2', '#');
    await untilSaid(answered, 'Done.');
    t.equal(keysIn(line.heard, provider.dialect.format.rate), '140#');
    line.press('3', '#');
    exactly(t, await line.untilClosed(), { code: 1000 });
    const record = await answered.ended();
    exactly(t, record, { status: 'completed', ended_reason: 'hangup' });
    exactly(
      t,
      record.items.filter(({ type, tool_name }) => type === 'tool_result' && tool_name === 'send_digits'),
      [{ tool_source: 'builtin', status: 'completed' }],
    );
  });

  t.test(`${provider.name}: a stream that is cut off`, async (t) => {
    const dropped = await calls.dial(provider);
    await until('it goes on', async () => (await dropped.record()).status === 'active');
    dropped.line.drop();
    exactly(t, await dropped.ended(), { status: 'failed', ended_reason: 'transport_lost' });
  });
}

t.test('a line that returns the agent’s voice does not interrupt it, and the caller does', async (t) => {
  const answered = await calls.dial(PROVIDERS[0]!);
  const { line } = answered;
  line.returns(ECHO_DB, 200);
  line.press('1', '#');
  await untilHeard(line, 150);
  t.notOk(
    line.said.some(({ type }) => type === 'clear'),
    'three seconds of its own voice',
  );
  t.same(messagesOf(await answered.record()), ['user: [keypad: 1]']);
  await calls.tell(answered, 'Please wait now.');
  await untilSaid(answered, 'Yes?');
  line.returns(-Infinity, 200);
  const [, first = ''] = messagesOf(await answered.record());
  t.ok(LONG.startsWith(first.replace('assistant: ', '')), 'nothing of it was heard as the caller’s');
  // The same words as soft while the agent is silent, so that they cannot be an echo.
  await calls.tell(answered, LONG.slice(0, 15), ECHO_DB);
  line.hangUp();
});

t.test('nothing is left at the workers', { buffered: false }, async () => {
  await talks.untilNoCalls();
});
