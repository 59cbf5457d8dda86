/** Who ends the user's turns of an agent's realtime socket, and who interrupts: what `turn_detection` changes (docs/contract/agent-realtime.md). */
import t from '../../fixtures/tap.js';
import { MOST_FADE_MS } from '../../../actors/agent/turns/endpointing.js';
import { messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import { said } from '../../fixtures/chat/model.js';
import { connectAgent } from '../../fixtures/protocol-a/agent-client.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const { talks } = await Talks.shared(t);
const { model, gateway } = talks;

const detecting = (detection: object | null) => ({
  type: 'realtime',
  audio: { input: { turn_detection: detection } },
});

/** How long the agent waited behind a statement, in ms, and what it said of its detection. */
async function waited(test: Parameters<typeof connectAgent>[0], detections: readonly object[]) {
  model.answer((messages) => `You said: ${said(messages)}`);
  const client = await connectAgent(
    test,
    talks,
    await talks.agent({ conversation: { eagerness: 'balanced' } }),
  );
  for (const detection of detections) client.update(detecting(detection));
  await until('it is set', () => client.of('session.updated').length === detections.length);
  client.listen().speak(await talks.speech('I would like a table for four.'));
  await client.untilHeard(/^You said: I would/);
  client.socket.close(1000);
  const record = await talks.ended({ session_id: client.sessionId });
  const [turn] = record.turns as unknown as readonly { end_of_turn: { delay_ms: number } }[];
  return turn?.end_of_turn.delay_ms ?? Number.NaN;
}

t.test('eagerness, and the silence of a vendor’s detector, decide how long the agent waits', async (t) => {
  const [eager, short, own, usual, back, relaxed, long] = await Promise.all(
    [
      [{ type: 'semantic_vad', eagerness: 'high' }],
      [{ type: 'server_vad', silence_duration_ms: 200, threshold: 0.5, prefix_padding_ms: 300 }],
      [{ type: 'semantic_vad', eagerness: 'auto' }],
      [{ type: 'server_vad', silence_duration_ms: 500 }],
      [
        { type: 'semantic_vad', eagerness: 'low' },
        { type: 'semantic_vad', eagerness: 'auto' },
      ],
      [{ type: 'semantic_vad', eagerness: 'low' }],
      [{ type: 'server_vad', silence_duration_ms: 1200 }],
    ].map((detections) => waited(t, detections)),
  );
  t.ok(eager! < own! && own! < relaxed!, `${eager} < ${own} < ${relaxed} ms`);
  for (const [name, ms, as] of [
    ['short', short, eager],
    ['usual', usual, own],
    ['changed back', back, own],
    ['long', long, relaxed],
  ] as const)
    t.ok(
      Math.abs(ms! - as!) <= MOST_FADE_MS,
      `${name}: ${ms} like ${as} ms, but for how long the voice faded`,
    );
});

t.test('an agent that is not to be interrupted finishes, and then answers', async (t) => {
  const numbers = Array.from({ length: 40 }, (_, index) => String(index + 100)).join(' ');
  model.answer((messages) => (said(messages).includes('Count') ? numbers : 'I have heard you.'));
  const client = await connectAgent(t, talks, await talks.agent());
  client.update(detecting({ type: 'server_vad', interrupt_response: false }));
  exactly(t, await client.next('session.updated'), {
    session: { audio: { input: { turn_detection: { interrupt_response: false } } } },
  });
  client.listen().say('Count.').respond();
  await until('it is heard', () => client.audioBytes > 48_000);
  client.speak(await talks.speech('Stop it now, please.'));
  await client.untilHeard('I have heard you.');
  exactly(
    t,
    client.of('response.done').map(({ response }) => response),
    [{ status: 'completed' }, { status: 'completed' }],
  );
  client.update(detecting({ type: 'server_vad', interrupt_response: true }));
  await until('it is set', () => client.of('session.updated').length === 2);
  client.say('Count again.').respond();
  await until('it is heard', () => client.of('response.created').length === 3 && client.audioBytes > 300_000);
  client.speak(await talks.speech('Stop it now, please.'));
  const third = await until('it is cut off', () => client.of('response.done')[2]);
  exactly(t, third, { response: { status: 'cancelled', status_details: { reason: 'turn_detected' } } });
  client.socket.close(1000);
  const record = await talks.ended({ session_id: client.sessionId });
  t.equal(messagesOf(record)[1], `assistant: ${numbers}`);
});

t.test('what detection cannot be asked for is refused, or said in the log', async (t) => {
  model.answer((messages) => `You said: ${said(messages)}`);
  const client = await connectAgent(t, talks, await talks.agent());
  const REFUSED = [
    [
      { type: 'server_vad', create_response: false },
      { code: 'unsupported_option', param: /create_response$/ },
    ],
    [{ type: 'server_vad', silence_duration_ms: 'long' }, { param: /silence_duration_ms$/ }],
    [{ type: 'semantic_vad', eagerness: 'very' }, { param: /eagerness$/ }],
  ] as const;
  for (const [detection, error] of REFUSED) {
    client.update(detecting(detection));
    exactly(t, await client.error(), error);
  }
  client.update(
    detecting({ type: 'server_vad', threshold: 0.9, idle_timeout_ms: 6000, create_response: true }),
  );
  await client.next('session.updated');
  const line = await until('the log says it', () =>
    gateway
      .stderr()
      .split('\n')
      .find((each) => each.includes(client.sessionId) && each.includes('"kept"')),
  );
  const names = ['threshold', 'idle_timeout_ms'].map((name) => `audio.input.turn_detection.${name}`);
  exactly(t, JSON.parse(line), { kept: names });
  client.say('Hello.').send({
    ...{ type: 'response.create' },
    response: { tool_choice: 'none', audio: { output: { voice: 'marin' } } },
  });
  const later = await until('the log says what a response asked for', () =>
    gateway
      .stderr()
      .split('\n')
      .find((each) => each.includes(client.sessionId) && each.includes('response.audio')),
  );
  exactly(t, JSON.parse(later), { kept: ['response.tool_choice', 'response.audio'] });
  client.socket.close(1000);
});
