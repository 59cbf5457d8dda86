/**
 * Voices and recognisers that fail in a call (docs/voice-agents.md "When an engine or a model fails"), with real services that refuse,
 * break, hang, say nothing or stop in the middle: with another engine of the list, and without one.
 */
import t from 'tap';
import { bytesOf } from '../../contracts/audio.js';
import { createFlite } from '../../engines/backends/flite/index.js';
import { speakAll } from '../../engines/conformance.js';
import { Resampling } from '../../engines/resampling.js';
import { CALLER_RATE, letGo } from '../fixtures/caller.js';
import {
  type Meeting,
  messagesOf as allMessagesOf,
  type Record,
  shownBy,
  Talks,
} from '../fixtures/conversation.js';
import { quickFirst, joined } from '../fixtures/engines-listening.js';
import { type Fault, FAULTS, FAULTY_RATE, FaultySpeech } from '../fixtures/faulty-speech.js';
import { shortOrLong } from '../fixtures/long.js';
import { said } from '../fixtures/model.js';
import { until } from '../fixtures/until.js';

t.teardown(letGo);
/** Calls at a time: most of their time is waiting. */
t.jobs = 6;

const [FIRST, SECOND] = ['openai-compatible', 'native-compatible'];
/** The short form has those of which each is found out in another way. */
const VOICE_FAULTS = shortOrLong(['hangs', 'stops'], Object.keys(FAULTS)) as readonly Fault[];
const HEARING_FAULTS = shortOrLong(['hangs'], Object.keys(FAULTS)) as readonly Fault[];
/** Faults after which the beginning of a sentence has been heard. */
const IN_THE_MIDDLE: ReadonlySet<Fault> = new Set(['stops', 'stalls']);

const [first, second, only] = await Promise.all([1, 2, 3].map(() => FaultySpeech.start(t)));
const settingsOf = (service: FaultySpeech) => ({
  REMOTE_OPENAI_URL: `${service.url}/v1`,
  REMOTE_OPENAI_RATE: `${FAULTY_RATE}`,
});
const enginesOf = (names: string) => ({ TTS_ENGINES: names, STT_ENGINES: names });
const [two, alone] = await Promise.all([
  Talks.start(t, {
    ...enginesOf(`${FIRST},${SECOND}`),
    ...settingsOf(first!),
    REMOTE_NATIVE_URL: second!.url,
    REMOTE_NATIVE_RATE: `${FAULTY_RATE}`,
  }),
  Talks.start(t, { ...enginesOf(FIRST!), ...settingsOf(only!) }),
]);

/** Answers whose voice fails name their fault. */
const answerWith = (fault: string): string => `The ${fault} answer is this one.`;
const FAULTY_ANSWER = /^The (\w+) (?:answer|again)/;
const faultOf = (text: string): Fault | undefined => FAULTY_ANSWER.exec(text)?.[1] as Fault | undefined;
const isFault = (text: string): Fault | undefined => {
  const fault = faultOf(text);
  return fault !== undefined && Object.hasOwn(FAULTS, fault) ? fault : undefined;
};
/** A call in this language has no voice at all: its lines and answers are refused. */
const MUTE = 'de';
const IN_GERMAN = /Entschuldigung|Moment|tut mir leid|Guten Tag|Gespräch|Nein/;
first!.speaks = (text) => isFault(text) ?? (text.startsWith('The both') ? 'breaks' : undefined);
second!.speaks = (text) => (text.startsWith('The both') ? 'breaks' : undefined);
only!.speaks = (text) => (IN_GERMAN.test(text) ? 'breaks' : isFault(text));

for (const { model } of [two, alone])
  model.answer((messages) => {
    // Lines that were not answered come before the last one.
    const [, fault] = /say (\w+)$/.exec(said(messages)) ?? [];
    if (fault === undefined) return 'Fine.';
    return fault === MUTE ? 'Nein.' : answerWith(fault);
  });

const type = ({ caller }: Meeting, text: string): void => void caller.send({ type: 'user.message', text });
const untilShown = ({ caller }: Meeting, from: 'agent' | 'user', text: RegExp) =>
  until(`"${text.source}" is shown`, () => shownBy(caller, from).findLast((each) => text.test(each)));
const errorsAt = ({ caller }: Meeting) => caller.events.filter((event) => event['type'] === 'error');
const hangUp = async (talks: Talks, meeting: Meeting) => {
  meeting.caller.hangUp();
  return talks.ended(meeting.invite);
};
type Failure = { readonly [name: string]: unknown };
/** The lines of the log about that call, by what failed. */
const failuresOf = ({ gateway }: Talks, { invite }: Meeting): Failure[] =>
  gateway
    .stderr()
    .split('\n')
    .filter((line) => line.includes(invite.session_id) && line.includes('"part"'))
    .map((line) => JSON.parse(line) as Failure);
/** Whether the log has such a failure; on a busy machine it has others as well. */
const hasFailed = (talks: Talks, meeting: Meeting, failure: Failure): boolean =>
  failuresOf(talks, meeting).some((each) =>
    Object.entries(failure).every(([name, value]) => each[name] === value),
  );

const FILLER = 'assistant: One moment, please.';
/** Without fillers, which come where an engine takes long. */
const messagesOf = (record: Record): string[] => allMessagesOf(record).filter((line) => line !== FILLER);

const EXCUSE = /could not answer that/;
const APOLOGY = /Please call again later/;
const UNHEARD = /did not get that/;

for (const fault of VOICE_FAULTS) {
  t.test(
    `a voice that ${fault}: another engine says the answer, the first is asked at the next turn`,
    async (t) => {
      const meeting = await two.meet();
      type(meeting, `say ${fault}`);
      await untilShown(meeting, 'agent', /The \w+ answer is this one\.\s*$/);
      t.ok(second!.spoken.includes(answerWith(fault)), 'said by the second');
      t.ok(hasFailed(two, meeting, { part: 'voice', engine: FIRST, next: SECOND }), 'the log names it');
      const before = first!.spoken.length;
      type(meeting, `Fine after ${fault}?`);
      await untilShown(meeting, 'agent', /Fine\.\s*$/);
      t.ok(first!.spoken.slice(before).includes('Fine.'), 'the first is asked again');
      const record = await hangUp(two, meeting);
      t.strictSame(messagesOf(record), [
        `user: say ${fault}`,
        `assistant: ${answerWith(fault)}`,
        `user: Fine after ${fault}?`,
        'assistant: Fine.',
      ]);
      t.same(errorsAt(meeting), []);
    },
  );

  t.test(`the only voice ${fault}: an excuse, an error, and the next answer is asked of it`, async (t) => {
    const meeting = await alone.meet();
    type(meeting, `say ${fault}`);
    await untilShown(meeting, 'agent', EXCUSE);
    t.match(errorsAt(meeting), [{ code: 'provider_error' }]);
    type(meeting, `Fine after ${fault}?`);
    await untilShown(meeting, 'agent', /Fine\.\s*$/);
    const record = await hangUp(alone, meeting);
    const [asked, ...others] = messagesOf(record);
    t.equal(asked, `user: say ${fault}`);
    if (IN_THE_MIDDLE.has(fault) && !EXCUSE.test(others[0] ?? '')) {
      const heard = others.shift()?.replace('assistant: ', '') ?? '';
      t.ok(answerWith(fault).startsWith(heard), `the record has what was heard: ${heard}`);
      t.ok(heard.length < answerWith(fault).length, 'and no more than that');
    }
    t.match(others, [EXCUSE, `user: Fine after ${fault}?`, 'assistant: Fine.']);
    t.match(record.turns[0], { error: /./ });
    t.ok(hasFailed(alone, meeting, { part: 'speech' }), 'the log names it');
  });
}

t.test('where every voice of the list fails, there is an excuse', async (t) => {
  const meeting = await two.meet();
  type(meeting, 'say both');
  await untilShown(meeting, 'agent', EXCUSE);
  for (const failure of [{ engine: FIRST, next: SECOND }, { engine: SECOND }, { part: 'speech' }])
    t.ok(hasFailed(two, meeting, failure), `the log has ${JSON.stringify(failure)}`);
  await hangUp(two, meeting);
});

t.test('three answers in a row that no voice says end the call with an apology', async (t) => {
  const meeting = await alone.meet();
  for (const fault of ['breaks', 'empty']) {
    const before = errorsAt(meeting).length;
    type(meeting, `say ${fault}`);
    await until('it has failed', () => errorsAt(meeting).length > before);
    await until(
      'the excuse is heard',
      () => shownBy(meeting.caller, 'agent').filter((line) => EXCUSE.test(line)).length > before,
    );
  }
  type(meeting, 'say refuses');
  const record = await alone.ended(meeting.invite);
  t.match(record, { status: 'failed', ended_reason: 'speech_failure' });
  t.match(messagesOf(record).at(-1), APOLOGY);
  t.ok(meeting.caller.audible().length > 0);
});

t.test('a call without any voice ends after its third answer, though nothing can be said', async (t) => {
  const meeting = await alone.meet({ voice: { speaking_language: MUTE } });
  for (let failed = 0; failed < 3; failed += 1) {
    type(meeting, `say ${MUTE}`);
    await until('it has failed', () => errorsAt(meeting).length > failed);
  }
  t.match(await alone.ended(meeting.invite), { status: 'failed', ended_reason: 'speech_failure' });
});

const flite = quickFirst(await createFlite());
const { samples } = await speakAll(flite, {
  text: 'Hello there, can you hear me?',
  voice: flite.voices[0]!.name,
  language: 'en',
  speed: 1,
});
const resampling = new Resampling(flite.capabilities.sampleRate, CALLER_RATE);
/** Speech, whatever it says: the services hear what the tests let them. */
const SPEECH = joined(resampling.push(samples), resampling.finish());
t.ok(bytesOf(SPEECH).length > 0);
const speak = ({ caller }: Meeting) => caller.say(SPEECH);

t.test(
  'a recogniser that fails: another one gets the words, the first is asked at the next turn',
  async (t) => {
    const meeting = await two.meet();
    for (const fault of HEARING_FAULTS) {
      const known = failuresOf(two, meeting).length;
      first!.hears = fault;
      second!.words = `The second heard that it ${fault}.`;
      await speak(meeting);
      await untilShown(meeting, 'user', new RegExp(second!.words));
      await until('it is in the log', () => failuresOf(two, meeting).length > known);
      t.match(failuresOf(two, meeting).at(-1), { part: 'recogniser', engine: FIRST, next: SECOND }, fault);
      first!.hears = undefined;
      first!.words = `The first hears again after ${fault}.`;
      await speak(meeting);
      await untilShown(meeting, 'user', new RegExp(first!.words));
    }
    const record = await hangUp(two, meeting);
    const heard = messagesOf(record)
      .filter((line) => line.startsWith('user'))
      .join(' ');
    for (const fault of HEARING_FAULTS)
      t.match(heard, new RegExp(`second heard that it ${fault}.*again after ${fault}`));
    t.same(errorsAt(meeting), []);
  },
);

t.test('the only recogniser fails: the agent has not understood; three in a row end the call', async (t) => {
  const meeting = await alone.meet();
  const unheard = () => shownBy(meeting.caller, 'agent').filter((line) => UNHEARD.test(line)).length;
  for (const fault of HEARING_FAULTS) {
    const before = unheard();
    only!.hears = fault;
    await speak(meeting);
    await until(`"I did not get that" is said: ${fault}`, () => unheard() > before);
    only!.hears = undefined;
    only!.words = `I am heard again after ${fault}.`;
    await speak(meeting);
    await untilShown(meeting, 'user', new RegExp(only!.words));
  }
  t.match(errorsAt(meeting)[0], { code: 'provider_error' });
  only!.hears = 'breaks';
  while (!meeting.caller.ended) {
    const before = shownBy(meeting.caller, 'agent').length;
    await speak(meeting);
    await until(
      'it is not understood',
      () => meeting.caller.ended || shownBy(meeting.caller, 'agent').length > before,
    );
  }
  only!.hears = undefined;
  const record = await alone.ended(meeting.invite);
  t.match(record, { status: 'failed', ended_reason: 'speech_failure' });
  t.match(messagesOf(record).at(-1), APOLOGY);
});

t.test('nothing is left at the workers', { buffered: false }, async () => {
  await Promise.all([two, alone].map((talks) => talks.untilNoCalls()));
});
