/**
 * Conversations with real audio: scenarios of test/unit/actors/agent/agent.test.ts, by the same names, over WebRTC with the embedded
 * engines. The user's speech comes from the embedded voices. The tests check the order of events and the record; nothing is
 * timed. The short form has each rule at the sensitivity at which it is hardest to keep, and leaves out what differs from another
 * one only in its words, or needs no voice to be tried (conversation.test.ts).
 */
import t from '../../fixtures/tap.js';
import { fliteDescription } from '../../../engines/backends/flite/description.js';
import { voiceId } from '../../../engines/voices.js';
import { CALLER_RATE, letGo } from '../../fixtures/calls/caller.js';
import { type Meeting, messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { joined } from '../../fixtures/engines/listening.js';
import { exactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { type ModelMessage, said } from '../../fixtures/chat/model.js';
import { seeded } from '../../fixtures/random.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
/** Calls at a time. */
t.jobs = 2;
const { talks } = await Talks.shared(t, 'speech');
const { model } = talks;

/** A story of half a minute: an interruption is understood before its end, even by a slow recogniser. */
const STORY =
  'The old lamp stood in the window of the shop for many years. ' +
  'Every evening the owner lit it, and the ships in the harbour could see it from far away. ' +
  'One winter a storm came, and the sailors found their way home by its light. ' +
  'In spring they brought the owner a barrel of oil, and a picture of the lamp above the waves. ' +
  'The picture hung beside the door until the shop was sold, and the lamp was carried to the town hall. ' +
  'There it stands to this day, and once a year somebody fills it and lights it for an evening.';
/** Two minutes: a busy machine understands an interruption before its end, too. Who is interrupted at once makes no more of it. */
const SAGA = [STORY, STORY, STORY, STORY].join(' ');
const TALE = 'The old lamp stood in the window of the shop for many years.';
/** A story of a quarter of a minute: a backchannel at its beginning is understood before its end. */
const LONG_TALE = STORY.slice(0, STORY.indexOf(' In spring'));

/** What the user types to hear one of them. */
const BEGINNINGS = new Map([
  ['Tell the story', STORY],
  ['Tell the saga', SAGA],
  ['Tell the tale', TALE],
  ['Tell the long tale', LONG_TALE],
]);
const beginningOf = (tale: string): string =>
  [...BEGINNINGS].find(([, told]) => told === tale)?.[0] ?? 'Tell nothing';

const STILL_THERE = 'Are you still there?';
/** The prompt of an agent that speaks up. */
const WAITS = 'You wait for the user.';
const waits = (messages: readonly ModelMessage[]): boolean =>
  messages.some(({ role, content }) => role === 'system' && content?.includes(WAITS));

model.answer((messages) => (waits(messages) ? STILL_THERE : (BEGINNINGS.get(said(messages)) ?? 'Yes?')));

const quiet = (ms: number): Int16Array => new Int16Array((ms * CALLER_RATE) / 1000);
const msOf = (samples: Int16Array): number => (samples.length * 1000) / CALLER_RATE;

/** A decaying burst of noise, as long and as loud as a cough. */
function cough(): Int16Array {
  const random = seeded(7);
  const ms = 280;
  return quiet(ms).map(
    (_, at) => (random() * 2 - 1) * 16_000 * Math.exp((-5 * at) / ((ms * CALLER_RATE) / 1000)),
  );
}

/** The agent's voice, which takes a tenth of the work of the others: nobody transcribes it. */
const QUICK = { voice_id: voiceId(fliteDescription.name, 'kal16') };

const DEFAULT_VOICE = { voice_id: 'default' };

const begin = async (tale: string, conversation: object, voice: object = QUICK): Promise<Meeting> => {
  const meeting = await talks.meet({ voice, conversation: { eagerness: 'balanced', ...conversation } });
  meeting.caller.send({ type: 'user.message', text: beginningOf(tale) });
  await until('the tale is heard', () => meeting.caller.audible().length > 40);
  return meeting;
};

const say = async ({ caller }: Meeting, text: string): Promise<void> => void (await talks.say(caller, text));
const untilShown = ({ caller }: Meeting, text: string) =>
  until(`"${text}" is shown`, () => shownBy(caller, 'agent').some((shown) => shown.trim() === text));

/** Waits until the agent has answered what `tell` said, perhaps twice. */
const untilAnswered = ({ caller }: Meeting) =>
  until('the agent has the last word', () => {
    const last = caller.shown.findLast(({ final }) => final);
    return last?.from === 'agent' && last.text.trim() === 'Yes?';
  });

/** Whether the agent answered a message like `heard`; a repetition of speech that was understood late may follow. */
const answers = (messages: readonly string[], heard: RegExp): boolean =>
  messages.some(
    (message, at) =>
      message.startsWith('user:') && heard.test(message) && messages[at + 1] === 'assistant: Yes?',
  );

/** Hangs up; resolves with the messages of the complete record. */
const hangUp = async ({ caller, invite }: Meeting): Promise<string[]> => {
  caller.hangUp();
  return messagesOf(await talks.ended(invite));
};

/** The part of the tale in the record. */
const keptOf = (message = ''): string => message.replace('assistant: ', '');
const isPart = (kept: string, tale: string): boolean =>
  kept !== '' && tale.startsWith(kept) && kept.length < tale.length;

/** Nobody can tell to whom words are addressed: those to somebody else are an interruption too (actors/agent/turns/interruption.ts). */
const TO_THE_AGENT = ['No, please stop that right now.', /stop/i] as const;
const TO_OTHERS = ['Could you open the window please?', /window/i] as const;

for (const [interruption_sensitivity, [words, heard]] of shortOrLong(
  [['low', TO_THE_AGENT]] as const,
  [
    ['low', TO_THE_AGENT],
    ['balanced', TO_THE_AGENT],
    ['high', TO_THE_AGENT],
    ['balanced', TO_OTHERS],
  ] as const,
))
  t.test(
    `a user who speaks over the agent interrupts it (${interruption_sensitivity}: ${words})`,
    async (t) => {
      const meeting = await begin(SAGA, { interruption_sensitivity });
      await talks.tell(meeting, words, { heard });
      await untilAnswered(meeting);
      const [first, tale, ...more] = await hangUp(meeting);
      t.equal(first, 'user: Tell the saga');
      t.ok(isPart(keptOf(tale), SAGA), `the agent yields; the record keeps what was heard: ${tale}`);
      t.ok(answers(more, heard), `and answers: ${more.join(' | ')}`);
    },
  );

for (const interruption_sensitivity of shortOrLong(['balanced'], ['low', 'balanced']))
  t.test(
    `a user who agrees while the agent speaks does not interrupt it (${interruption_sensitivity})`,
    async (t) => {
      const meeting = await begin(LONG_TALE, { interruption_sensitivity });
      await talks.tell(meeting, 'Yes, I see.', { heard: /yes|see/i });
      await untilShown(meeting, LONG_TALE);
      const [first, tale, ...agreement] = await hangUp(meeting);
      t.same([first, tale], ['user: Tell the long tale', `assistant: ${LONG_TALE}`], 'all is heard');
      t.match(agreement.join(' '), /^user: .*(yes|see)/i, 'the agreement is kept');
      t.notMatch(agreement.join(' '), /assistant/, 'and not answered');
    },
  );

for (const interruption_sensitivity of shortOrLong(['high'], ['balanced', 'high']))
  t.test(`a cough does not interrupt the agent (${interruption_sensitivity})`, async (t) => {
    const meeting = await begin(TALE, { interruption_sensitivity });
    await meeting.caller.say(cough());
    await untilShown(meeting, TALE);
    t.same(await hangUp(meeting), ['user: Tell the tale', `assistant: ${TALE}`], 'all of it is heard');
  });

t.test('an agent that may not be interrupted finishes, and answers after that', async (t) => {
  const meeting = await begin(TALE, { interruptible: false });
  await say(meeting, 'Please stop that now.');
  await untilShown(meeting, TALE);
  await untilShown(meeting, 'Yes?');
  const messages = await hangUp(meeting);
  t.ok(messages.includes(`assistant: ${TALE}`));
  t.match(messages.at(-1), 'assistant: Yes?');
});

t.test('when both begin to speak at once, the user goes first', async (t) => {
  const meeting = await talks.meet({
    voice: QUICK,
    prompt: { first_message_mode: 'fixed', first_message: STORY },
    conversation: { eagerness: 'balanced', interruption_sensitivity: 'balanced' },
  });
  await talks.tell(meeting, 'Hello, I want to change my booking.', { heard: /booking/i });
  await untilAnswered(meeting);
  const messages = await hangUp(meeting);
  t.notOk(messages.includes(`assistant: ${STORY}`));
  t.ok(answers(messages, /booking/i), `answered: ${messages.join(' | ')}`);
});

t.test('a long pause in the middle of a sentence does not end the turn', async (t) => {
  const meeting = await talks.meet({ conversation: { eagerness: 'relaxed' } });
  const [before, behind] = [
    await talks.speech('I would like a table for'),
    await talks.speech('four people tonight.'),
  ];
  await meeting.caller.say(joined(before, quiet(900), behind));
  await untilShown(meeting, 'Yes?');
  const [message, ...more] = await hangUp(meeting);
  // The last word is not checked: on an overloaded machine it is misheard now and then.
  t.match(message, /^user: .*table for.*(four|4|for) people/i);
  t.same(more, ['assistant: Yes?'], 'one turn, one answer');
});

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const inWords = (digits: string): string => [...digits].map((digit) => DIGITS[Number(digit)]).join(' ');
/** The digits of a text, whether they are written as numbers or as words. */
const digitsOf = (text: string): string =>
  (text.toLowerCase().match(/\d|[a-z]+/g) ?? [])
    .map((word) => (/\d/.test(word) ? word : Math.max(-1, DIGITS.indexOf(word))))
    .filter((digit) => digit !== -1)
    .join('');

t.test('a number that is said in groups is one number in one message', async (t) => {
  const meeting = await talks.meet({ conversation: { eagerness: 'relaxed' } });
  const groups: Int16Array[] = [];
  for (const digits of ['417', '902', '3356']) groups.push(await talks.speech(inWords(digits)), quiet(600));
  await meeting.caller.say(joined(...groups));
  await untilShown(meeting, 'Yes?');
  const [message = '', ...more] = await hangUp(meeting);
  t.equal(digitsOf(message), '4179023356', message);
  t.same(more, ['assistant: Yes?']);
});

/** In the short form, a pause of twice the length and a muted microphone with tones (conversation.test.ts) say the same. */
if (shortOrLong(false, true)) {
  t.test('a user who corrects a word gets one answer, to the whole turn', async (t) => {
    const meeting = await talks.meet({ conversation: { eagerness: 'relaxed' } });
    const [before, behind] = [
      await talks.speech('A table on Tuesday, no,'),
      await talks.speech('on Wednesday please.'),
    ];
    await meeting.caller.say(joined(before, quiet(400), behind));
    await untilShown(meeting, 'Yes?');
    const [message, ...more] = await hangUp(meeting);
    t.match(message, /^user: .*tuesday.*wednesday/i);
    t.same(more, ['assistant: Yes?']);
  });

  t.test('a microphone muted in mid-sentence counts as silence, which ends the turn', async (t) => {
    const meeting = await talks.meet({ conversation: { eagerness: 'balanced' } });
    await say(meeting, 'I need some help with my');
    meeting.caller.mute(true);
    await untilShown(meeting, 'Yes?');
    const messages = await hangUp(meeting);
    exactly(t, messages, [/^user: .*help with my/i, 'assistant: Yes?']);
  });
}

t.test('drop and resume: the conversation continues', async (t) => {
  const meeting = await talks.meet({ conversation: { eagerness: 'balanced' } });
  const { caller } = meeting;
  await until('a token to return with', () => caller.rejoinToken !== '');
  const speech = await talks.speech('I would like to book a table for four people tonight.');
  const half = speech.length >> 1;
  await caller.say(speech.subarray(0, half));
  const rest = caller.say(speech.subarray(half));
  await caller.resume();
  await rest;
  await untilShown(meeting, 'Yes?');
  const messages = await hangUp(meeting);
  // A word said during the reconnect may be misheard.
  exactly(t, messages, [/^user: .*book a table\W+\w+ \w+/i, 'assistant: Yes?'], 'in mid-speech: one turn');
  t.equal(messages.length, 2);
});

t.test('when the user hangs up in mid-word, nothing follows', async (t) => {
  const meeting = await begin(STORY, {}, DEFAULT_VOICE);
  await until('some of it is heard', () => meeting.caller.audible().length > 100);
  const [, tale, ...more] = await hangUp(meeting);
  t.ok(isPart(keptOf(tale), STORY), `kept: ${tale}`);
  t.same(more, []);
  const heard = meeting.caller.heard.length * 20;
  const spoken = msOf(await talks.speech(keptOf(tale)));
  t.ok(spoken < heard + 1000, `the record keeps only what was played: ${spoken} ms of ${heard}`);
});

t.test('silence: the agent speaks up if it may', async (t) => {
  const meeting = await talks.meet({
    prompt: { system_prompt: WAITS },
    conversation: { reengage_enabled: true },
  });
  await untilShown(meeting, STILL_THERE);
  // Of all requests: the last one may be the analysis of an earlier call.
  const told = model.asked.filter(waits).flatMap((messages) => messages.map(({ content }) => content ?? ''));
  t.ok(told.some((content) => /The user has been silent/.test(content)));
  t.same(await hangUp(meeting), [`assistant: ${STILL_THERE}`]);
});

t.test('nothing is left at the workers', { buffered: false }, async () => {
  await talks.untilNoCalls();
});
