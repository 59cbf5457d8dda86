/**
 * Conversations over the embedded transport, with tones and a model that answers as the test says: joining, talking,
 * interrupting, typing, hanging up, and the record of all of it (docs/contract/platform.md 6.7, 6.9; docs/contract/transport.md).
 */
import t from '../../fixtures/tap.js';
import { Caller, letGo } from '../../fixtures/calls/caller.js';
import { type Meeting, messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { heldByCalls, talkAndEnd } from '../../fixtures/processes/endurance.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Answered, said } from '../../fixtures/chat/model.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
/** Calls at a time. */
t.jobs = 4;
const ALONE = { buffered: false };
const { talks } = await Talks.shared(t);
const { model, call } = talks;

/** 25 seconds of tones. */
const LONG = Array.from({ length: 200 }, (_, index) => String(index + 100)).join(' ');

/** What the agent answers to a user who has said that; it repeats everything else. */
const ANSWERS: Readonly<Record<string, Answered>> = {
  Hi: 'Fine.',
  Count: LONG,
  'Please wait now.': 'Yes?',
  'Silently, please': 'Written words.',
  'Well?': 500,
  'Why?': 500,
  'Put me through to the shop': 'Fine.',
  Bye: { calls: { hang_up_call: {} } },
  'A lamp for my desk.': 'I heard you.',
};
const lookedUp = (text: string): string | undefined =>
  text.startsWith('(Passages') ? 'I have looked it up.' : undefined;
model.answer(
  (messages) => ANSWERS[said(messages)] ?? lookedUp(said(messages)) ?? `You said: ${said(messages)}`,
);

const EXCUSE = 'Sorry, I could not answer that. Please try again.';

const eventsOf = ({ caller }: Meeting, type: string) =>
  caller.events.filter((event) => event['type'] === type);
const untilEvent = (meeting: Meeting, type: string) => until(type, () => eventsOf(meeting, type)[0]);
const untilShown = ({ caller }: Meeting, text: string) =>
  until(`"${text}" is shown`, () => caller.shown.some((shown) => shown.final && shown.text.trim() === text));
/** Waits by count, not for the newest state: states arrive by signalling, in no fixed order with text and sound. */
const untilListening = ({ caller }: Meeting, times: number) =>
  until('the agent listens', () => caller.states.filter((state) => state === 'listening').length >= times);
/** Hangs up and waits for the end, since only then the record is complete. */
const hangUp = ({ caller, invite }: Meeting) => {
  caller.hangUp();
  return talks.ended(invite);
};

t.test('a spoken conversation, and its record', async (t) => {
  const prompt = { first_message_mode: 'fixed', first_message: 'Welcome.' };
  const meeting = await talks.meet({ prompt });
  const { caller } = meeting;
  exactly(t, meeting.invite, { transport: 'media', media_url: /^ws:/ });
  await untilShown(meeting, 'Welcome.');
  await talks.tell(meeting, 'Two lamps, please.');
  await untilShown(meeting, 'You said: Two lamps, please.');
  await untilListening(meeting, 2);
  // An answer that begins at once leaves no time to tell that it is thought about.
  const told = caller.states.filter((state) => state !== 'thinking');
  t.same(told, ['speaking', 'listening', 'speaking', 'listening']);
  t.same(shownBy(caller, 'user'), ['Two lamps, please.']);
  t.equal(shownBy(caller, 'agent').length, 2, 'one stream a reply');
  t.equal((await meeting.record()).status, 'active');
  const record = await hangUp(meeting);
  exactly(t, record, { status: 'completed', ended_reason: 'hangup' });
  t.same(messagesOf(record), [
    'assistant: Welcome.',
    'user: Two lamps, please.',
    'assistant: You said: Two lamps, please.',
  ]);
  t.same(
    record.items.map((item) => item.turn_id),
    [0, 1, 1],
  );
});

/** The newest request of a conversation in which the user said that last; analyses of earlier calls use the same model. */
const askedAbout = (text: string) => model.asked.findLast((messages) => said(messages) === text) ?? [];

t.test('the model gets prompt, time and the conversation so far', async (t) => {
  const meeting = await talks.meet(
    { prompt: { system_prompt: 'We sell {{what}}.' } },
    { dynamic_variables: { what: 'lamps' }, timezone: 'Asia/Tokyo' },
  );
  meeting.caller.send({ type: 'user.message', text: 'Hi' });
  await untilShown(meeting, 'Fine.');
  const told = askedAbout('Hi');
  exactly(t, told[0], { role: 'system', content: /^We sell lamps\.\n\n/ });
  t.ok(told.some(({ content }) => content?.includes('Asia/Tokyo')));
  exactly(t, told.at(-1), { role: 'user', content: 'Hi' });
  meeting.caller.hangUp();
});

t.test('an interruption silences the agent, and the record keeps what was heard', async (t) => {
  const meeting = await talks.meet();
  const { caller } = meeting;
  caller.send({ type: 'user.message', text: 'Count' });
  await until('much of it is heard', () => caller.audible().length > 50);
  await talks.tell(meeting, 'Please wait now.');
  await untilShown(meeting, 'Yes?');
  const counted = caller.audible().length;
  const [count, first, second, third] = messagesOf(await hangUp(meeting));
  t.same([count, second, third], ['user: Count', 'user: Please wait now.', 'assistant: Yes?']);
  const kept = (first ?? '').replace('assistant: ', '');
  t.ok(kept.length > 0 && LONG.startsWith(kept) && kept.length < LONG.length, kept);
  // A character is two tones of 20 ms: the caller hears at least as many frames as the record keeps.
  t.ok(kept.length * 2 <= counted + 10, `kept ${kept.length * 2} of ${counted} frames`);
  t.equal(
    shownBy(caller, 'agent')[0]?.trim(),
    kept,
    'the transcript shows the same, and has been closed as final',
  );
});

t.test('user.interrupt silences the agent at once; nothing follows', async (t) => {
  const meeting = await talks.meet();
  const { caller } = meeting;
  caller.send({ type: 'user.message', text: 'Count' });
  await until('it is heard', () => caller.audible().length > 20);
  caller.send({ type: 'user.interrupt' });
  await until('what was heard is shown', () => shownBy(caller, 'agent').length > 0);
  const [count, reply = '', ...more] = messagesOf(await hangUp(meeting));
  t.same([count, more], ['user: Count', []]);
  t.ok(reply.length < LONG.length && reply.startsWith('assistant: 10'), reply);
});

t.test('a typed message with a reply that is only read', async (t) => {
  const meeting = await talks.meet();
  meeting.caller.send({ type: 'user.message', text: 'Silently, please', audio: false });
  await untilShown(meeting, 'Written words.');
  t.same(messagesOf(await hangUp(meeting)), ['user: Silently, please', 'assistant: Written words.']);
  t.equal(meeting.caller.audible().length, 0);
  t.same(shownBy(meeting.caller, 'user'), [], 'who has typed it sees it already');
});

t.test('messages that are none are left out', async (t) => {
  const meeting = await talks.meet();
  for (const bad of ['{', '[]', '"text"', '{"type":"user.message"}', '{"type":"nothing"}', 'null'])
    meeting.caller.send(bad);
  meeting.caller.send({ type: 'user.message', text: ' ' });
  meeting.caller.send({ type: 'client_tool.result', callId: 'call_9', result: 1 });
  meeting.caller.send(`\ufeff${JSON.stringify({ type: 'user.message', text: 'Hello' })}`);
  await untilShown(meeting, 'You said: Hello');
  t.same(
    messagesOf(await hangUp(meeting)),
    ['user: Hello', 'assistant: You said: Hello'],
    'a byte order mark is none of them',
  );
});

t.test(
  'a model that fails: the client gets an error, the agent says so, and what was not answered is asked once more',
  async (t) => {
    const meeting = await talks.meet();
    meeting.caller.send({ type: 'user.message', text: 'Well?' });
    await untilEvent(meeting, 'error');
    exactly(t, eventsOf(meeting, 'error'), [{ code: 'provider_error' }]);
    await untilShown(meeting, EXCUSE);
    t.equal(model.asked.filter((messages) => said(messages) === 'Well?').length, 2);
    meeting.caller.send({ type: 'user.message', text: 'And now?' });
    await untilShown(meeting, 'You said: And now?');
    meeting.caller.hangUp();
  },
);

t.test('a turn that the model failed is recorded with its error (decision 11)', async (t) => {
  const meeting = await talks.meet();
  meeting.caller.send({ type: 'user.message', text: 'Why?' });
  await untilShown(meeting, EXCUSE);
  meeting.caller.send({ type: 'user.message', text: 'And now?' });
  await untilShown(meeting, 'You said: And now?');
  const { items } = await hangUp(meeting);
  t.same(
    items.map(({ role, content, error }) => [role, content, error]),
    [
      ['user', 'Why?', undefined],
      ['assistant', EXCUSE, 'provider_failed'],
      ['user', 'And now?', undefined],
      ['assistant', 'You said: And now?', undefined],
    ],
  );
  const record = await talks.record(meeting.invite);
  t.equal(record['failed_answers'], 1);
  const { body } = await call(`sessions?agent_id=${String(record['agent_id'])}`);
  exactly(t, body, { sessions: [{ status: 'completed', failed_answers: 1 }] }, 'its row in lists is marked');
});

t.test('the log names the model that failed, its setting, the session and the agent', async (t) => {
  const meeting = await talks.meet();
  meeting.caller.send({ type: 'user.message', text: 'Why?' });
  await untilShown(meeting, EXCUSE);
  await hangUp(meeting);
  const { session_id: sessionId } = meeting.invite;
  const agentId = (await talks.record(meeting.invite))['agent_id'];
  const { origin } = new URL(model.url);
  const line = await until('the log names it', () =>
    talks.gateway
      .stderr()
      .split('\n')
      .find(
        (each) =>
          each.includes(sessionId) && each.includes(`The language model (main) at ${origin} failed (500)`),
      ),
  );
  exactly(t, JSON.parse(line), {
    ...{ part: 'model', name: 'main', address: origin, setting: 'LLM_BASE_URL', outcome: 'failed' },
    ...{ status: 500, sessionId, agentId, workspaceId: /./ },
  });
});

t.test('an agent with transfer destinations is told that it has no telephone (decision 20)', async (t) => {
  const wish = 'Put me through to the shop';
  const told = async (transfers: object[]) => {
    const meeting = await talks.meet({ conversation: { transfer_destinations: transfers } });
    meeting.caller.send({ type: 'user.message', text: wish });
    await untilShown(meeting, 'Fine.');
    meeting.caller.hangUp();
    const system = askedAbout(wish).filter(({ role }) => role === 'system');
    t.ok(system.length > 0);
    return system.map(({ content }) => content).join('\n');
  };
  const line = /cannot transfer this call .*Say so plainly/;
  t.match(await told([{ phone_number: '+4930123456', label: 'Shop' }]), line);
  t.notMatch(await told([]), line, 'one without hears nothing of it');
});

t.test(
  'an agent knows small sources by heart: they are in its instructions, at every turn (D15)',
  async (t) => {
    const form = new FormData();
    form.set('source', new File(['We open at seven. Dogs may come in.'], 'hours.md'));
    const { base, authorization: headers } = talks.gateway;
    const made = await fetch(`${base}/v1/agent/knowledge-sources`, { method: 'POST', headers, body: form });
    const { knowledge_source_id: id } = (await made.json()) as { knowledge_source_id: string };
    const meeting = await talks.meet({
      prompt: { system_prompt: 'You sell bread.' },
      knowledge_base: { enabled: true, knowledge_source_ids: [id] },
    });
    for (const wish of ['Is my poodle welcome?', 'Und am Sonntag?']) {
      meeting.caller.send({ type: 'user.message', text: wish });
      await untilShown(meeting, `You said: ${wish}`);
      const asked = askedAbout(wish);
      t.match(
        asked[0]?.content,
        /^You sell bread\.\n\nWhat you know, [^]*\n\n\[hours\.md\]\nWe open at seven\. Dogs may come in\.\n\nYou speak/,
      );
      t.equal(asked.filter(({ content }) => content?.includes('Dogs may')).length, 1, 'once');
    }
    meeting.caller.hangUp();
  },
);

t.test('knowledge that is searched is told with its source, and the turn says what was told', async (t) => {
  const form = new FormData();
  const text = `# Hours\n\nWe open at seven.\n\n# Dough\n\n${'Flour and water. '.repeat(600)}`;
  form.set('source', new File([text], 'hours.md'));
  const { base, authorization: headers } = talks.gateway;
  const made = await fetch(`${base}/v1/agent/knowledge-sources`, { method: 'POST', headers, body: form });
  const { knowledge_source_id: id } = (await made.json()) as { knowledge_source_id: string };
  const meeting = await talks.meet({ knowledge_base: { enabled: true, knowledge_source_ids: [id] } });
  const wish = 'When do you open?';
  meeting.caller.send({ type: 'user.message', text: wish });
  await untilShown(meeting, 'I have looked it up.');
  const told = model.asked.map(said).find((content) => content.endsWith(wish));
  t.match(told, /hours\.md[^]*We open at seven/);
  meeting.caller.hangUp();
  const { turns } = await talks.ended(meeting.invite);
  const turn = turns.find(({ words }) => words === wish);
  exactly(t, turn, { passages: [{ knowledge_source_id: id, name: 'hours.md', found_by: 'words' }] });
});

t.test('ends of a conversation by either side, and the reason that the other side gets', async (t) => {
  const ends: [string, (meeting: Meeting) => unknown, object, string | undefined][] = [
    [
      'the user by a message',
      ({ caller }) => caller.send({ type: 'user.hangup' }),
      { status: 'completed', ended_reason: 'hangup' },
      'user_hangup',
    ],
    [
      'the agent by its tool',
      ({ caller }) => caller.send({ type: 'user.message', text: 'Bye' }),
      { status: 'completed', ended_reason: 'hangup' },
      'agent_hangup',
    ],
    [
      'the owner by the API',
      ({ invite }) => call(`sessions/${invite.session_id}/end`, { method: 'POST' }),
      { status: 'completed', ended_reason: 'ended_by_api' },
      'agent_hangup',
    ],
  ];
  await Promise.all(
    ends.map(async ([who, end, expected, reason]) => {
      const meeting = await talks.meet({ tools: { system_tools: { hang_up_call: true } } });
      await until('it has begun', async () => (await meeting.record()).status === 'active');
      await end(meeting);
      exactly(t, await talks.ended(meeting.invite), expected, who);
      exactly(t, await untilEvent(meeting, 'session.ended'), { reason }, `${who}: the event`);
      await until('the connection is closed', () => meeting.caller.ended);
      t.ok(meeting.caller.leave, `${who}: the signalling says so`);
      meeting.caller.drop();
    }),
  );
});

t.test('a muted microphone is silence: the turn ends', async (t) => {
  const meeting = await talks.meet();
  await talks.tell(meeting, 'A lamp for my desk.', { thenMute: true });
  await untilShown(meeting, 'I heard you.');
  t.same(shownBy(meeting.caller, 'user'), ['A lamp for my desk.']);
  meeting.caller.hangUp();
});

t.test('a client that would resume, or joins anew, finds its conversation', async (t) => {
  const meeting = await talks.meet();
  const { caller, invite } = meeting;
  await until('a token to return with', () => caller.rejoinToken !== '');
  const { sid } = caller;
  await caller.resume();
  await talks.tell(meeting, 'One lamp.');
  await untilShown(meeting, 'You said: One lamp.');
  const second = caller.sid;
  t.not(second, sid, 'told to join anew: another participant');
  await caller.rejoin();
  t.not(caller.sid, second, 'and another');
  await talks.tell(meeting, 'Two lamps.');
  await untilShown(meeting, 'You said: Two lamps.');
  t.same(messagesOf(await hangUp(meeting)), [
    'user: One lamp.',
    'assistant: You said: One lamp.',
    'user: Two lamps.',
    'assistant: You said: Two lamps.',
  ]);
  const late = { media_url: invite.media_url, token: caller.rejoinToken };
  await t.rejects(Caller.join(late), /401/, 'not after the end');
});

t.test('conversations in a row leave no thread, no socket and no file behind', ALONE, async (t) => {
  await talks.untilNoCalls();
  await talkAndEnd(talks);
  await talks.untilNoCalls();
  const before = heldByCalls(talks.gateway.pid);
  for (let session = 0; session < 8; session += 1) await talkAndEnd(talks);
  await talks.untilNoCalls();
  const more = () => {
    const now = heldByCalls(talks.gateway.pid);
    return now.threads > before.threads || now.files > before.files;
  };
  // Now and then a file is open for a moment.
  t.ok(await until('no more is held than before', () => !more()));
});
