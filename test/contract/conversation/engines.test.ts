/**
 * Voices and recognisers that fail in a call (docs/voice-agents.md "When an engine or a model fails"), with real services that refuse,
 * break, hang, say nothing or stop in the middle: with another engine of the list, and without one. The second engine
 * knows English only, so that agents who speak German have but the first.
 */
import t from '../../fixtures/tap.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { speakAll } from '../../fixtures/engine-conformance.js';
import { Resampling } from '../../../engines/resampling.js';
import { CALLER_RATE, letGo } from '../../fixtures/calls/caller.js';
import {
  type Meeting,
  messagesOf as allMessagesOf,
  type Record,
  shownBy,
  Talks,
} from '../../fixtures/conversation/conversation.js';
import { joined, quickFirst } from '../../fixtures/engines/listening.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Fault, FAULTS, FAULTY_RATE, FaultySpeech } from '../../fixtures/engines/faulty-speech.js';
import { shortOrLong } from '../../fixtures/long.js';
import { said } from '../../fixtures/chat/model.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
/** Calls at a time: most of their time is waiting. */
t.jobs = 6;

const [FIRST, SECOND] = ['openai-compatible', 'native-compatible'] as const;
/** The short form has the one that takes longest to find out; others are in the tests of three in a row. */
const VOICE_FAULTS = shortOrLong(['hangs'], Object.keys(FAULTS)) as readonly Fault[];
const HEARING_FAULTS = shortOrLong(['hangs'], Object.keys(FAULTS)) as readonly Fault[];
/** Faults after which the beginning of a sentence has been heard. */
const IN_THE_MIDDLE: ReadonlySet<Fault> = new Set(['stops', 'stalls']);

const [first, second] = await Promise.all([FaultySpeech.start(t), FaultySpeech.start(t)]);
const talks = await Talks.start(t, {
  TTS_ENGINES: `${FIRST},${SECOND}`,
  STT_ENGINES: `${FIRST},${SECOND}`,
  REMOTE_OPENAI_URL: `${first.url}/v1`,
  REMOTE_OPENAI_RATE: `${FAULTY_RATE}`,
  REMOTE_NATIVE_URL: second.url,
  REMOTE_NATIVE_RATE: `${FAULTY_RATE}`,
  REMOTE_NATIVE_LANGUAGES: 'en',
});
/** Agents for whom two engines speak and hear, one does, and none does. */
const TWO = { voice: { speaking_language: 'en' } };
const ALONE = { voice: { speaking_language: 'de' } };
const MUTE = { voice: { speaking_language: 'fr' } };

/** Answers name the fault of their voice. */
const inEnglish = (fault: string): string => `The answer that ${fault} is this one.`;
const inGerman = (fault: string): string => `Die Antwort ${fault} ist hier und nicht dort.`;
const IN_FRENCH = /Désolé|désolé|Excusez|Un instant|demi-minute|Veuillez|Au revoir|Bonjour|Non merci/;
const FAULTY = /^(?:The answer that|Die Antwort) (\w+)/;
function faultIn(text: string): Fault | undefined {
  const [, fault = ''] = FAULTY.exec(text) ?? [];
  if (fault === 'both' || IN_FRENCH.test(text)) return 'breaks';
  return Object.hasOwn(FAULTS, fault) ? (fault as Fault) : undefined;
}
first.speaks = faultIn;
second.speaks = (text) => (faultIn(text) && text.includes('both') ? 'breaks' : undefined);

const ANSWERS: Readonly<globalThis.Record<string, (fault: string) => string>> = {
  say: inEnglish,
  sage: inGerman,
  dis: () => 'Non merci beaucoup.',
};
talks.model.answer((messages) => {
  // Lines that were not answered come before the last one.
  const [, verb = '', fault = ''] = /(say|sage|dis) (\w+)$/.exec(said(messages)) ?? [];
  return ANSWERS[verb]?.(fault) ?? (/Gut\?$/.test(said(messages)) ? 'Ja, das ist gut.' : 'Fine.');
});

const type = ({ caller }: Meeting, text: string): void => void caller.send({ type: 'user.message', text });
const untilShown = ({ caller }: Meeting, from: 'agent' | 'user', text: RegExp) =>
  until(`"${text.source}" is shown`, () => shownBy(caller, from).findLast((each) => text.test(each)));
const shownTimes = ({ caller }: Meeting, text: RegExp): number =>
  shownBy(caller, 'agent').filter((each) => text.test(each)).length;
const errorsAt = ({ caller }: Meeting) => caller.events.filter((event) => event['type'] === 'error');
async function hangUp(meeting: Meeting) {
  meeting.caller.hangUp();
  return talks.ended(meeting.invite);
}

type Failure = { readonly [name: string]: unknown };
/** Whether the log has such a failure of that call; on a busy machine it has others as well. */
const hasFailed = ({ invite }: Meeting, failure: Failure): boolean =>
  talks.gateway
    .stderr()
    .split('\n')
    .filter((line) => line.includes(invite.session_id) && line.includes('"part"'))
    .map((line) => JSON.parse(line) as Failure)
    .some((each) => Object.entries(failure).every(([name, value]) => each[name] === value));

const FILLERS = new Set(['assistant: One moment, please.', 'assistant: Einen Moment, bitte.']);
/** Without fillers, which come where an engine takes long. */
const messagesOf = (record: Record): string[] => allMessagesOf(record).filter((line) => !FILLERS.has(line));

const EXCUSE = /could not answer that|konnte ich nicht beantworten/;
const APOLOGY = /rufen Sie bitte später|bitte später noch einmal|später noch einmal an/;
const UNHEARD = /habe ich nicht verstanden/;

for (const fault of VOICE_FAULTS) {
  t.test(
    `a voice that ${fault}: another engine says the answer, the first is asked at the next turn`,
    async (t) => {
      const meeting = await talks.meet(TWO);
      type(meeting, `say ${fault}`);
      await untilShown(meeting, 'agent', /The answer that \w+ is this one\.\s*$/);
      t.ok(second.spoken.includes(inEnglish(fault)), 'said by the second');
      t.ok(hasFailed(meeting, { part: 'voice', engine: FIRST, next: SECOND }), 'the log names it');
      const before = first.spoken.length;
      type(meeting, 'And now?');
      await untilShown(meeting, 'agent', /Fine\.\s*$/);
      t.ok(first.spoken.slice(before).includes('Fine.'), 'the first is asked again');
      t.strictSame(messagesOf(await hangUp(meeting)), [
        `user: say ${fault}`,
        `assistant: ${inEnglish(fault)}`,
        'user: And now?',
        'assistant: Fine.',
      ]);
      t.same(errorsAt(meeting), []);
    },
  );

  t.test(`the only voice ${fault}: an excuse, an error, and it is asked at the next turn`, async (t) => {
    const meeting = await talks.meet(ALONE);
    type(meeting, `sage ${fault}`);
    await untilShown(meeting, 'agent', EXCUSE);
    exactly(t, errorsAt(meeting), [{ code: 'provider_error' }]);
    t.ok(hasFailed(meeting, { part: 'speech' }), 'the log names it');
    type(meeting, 'Gut?');
    await untilShown(meeting, 'agent', /gut\.\s*$/);
    const record = await hangUp(meeting);
    const [asked, ...others] = messagesOf(record);
    t.equal(asked, `user: sage ${fault}`);
    if (IN_THE_MIDDLE.has(fault) && !EXCUSE.test(others[0] ?? '')) {
      const heard = others.shift()?.replace('assistant: ', '') ?? '';
      t.ok(inGerman(fault).startsWith(heard), `the record has what was heard: ${heard}`);
      t.ok(heard.length < inGerman(fault).length, 'and no more than that');
    }
    exactly(t, others, [EXCUSE, 'user: Gut?', 'assistant: Ja, das ist gut.']);
    exactly(t, record.turns[0], { error: /./ });
  });
}

t.test('where every voice of the list fails, there is an excuse', async (t) => {
  const meeting = await talks.meet(TWO);
  type(meeting, 'say both');
  await untilShown(meeting, 'agent', EXCUSE);
  for (const failure of [{ engine: FIRST, next: SECOND }, { engine: SECOND }, { part: 'speech' }])
    t.ok(hasFailed(meeting, failure), `the log has ${JSON.stringify(failure)}`);
  await hangUp(meeting);
});

t.test('three answers in a row that no voice says end the call with an apology', async (t) => {
  const meeting = await talks.meet(ALONE);
  for (const [failed, fault] of ['breaks', 'empty'].entries()) {
    type(meeting, `sage ${fault}`);
    await until('the excuse is heard', () => shownTimes(meeting, EXCUSE) > failed);
  }
  type(meeting, 'sage refuses');
  const record = await talks.ended(meeting.invite);
  exactly(t, record, { status: 'failed', ended_reason: 'speech_failure' });
  t.match(messagesOf(record).at(-1), APOLOGY);
  t.ok(meeting.caller.audible().length > 0);
});

t.test('a call without any voice ends after its third answer, though nothing can be said', async (t) => {
  const meeting = await talks.meet(MUTE);
  for (let failed = 0; failed < 3; failed += 1) {
    type(meeting, 'dis rien');
    await until('it has failed', () => errorsAt(meeting).length > failed);
  }
  exactly(t, await talks.ended(meeting.invite), { status: 'failed', ended_reason: 'speech_failure' });
});

/** Speech, whatever it says: the services hear what the tests let them. */
async function speech(): Promise<Int16Array> {
  const flite = quickFirst(await createFlite());
  const text = 'Hello there, can you hear me?';
  const voice = flite.voices[0]?.name ?? '';
  const { samples } = await speakAll(flite, { text, voice, language: 'en', speed: 1 });
  const resampling = new Resampling(flite.capabilities.sampleRate, CALLER_RATE);
  return joined(resampling.push(samples), resampling.finish());
}
const SPEECH = await speech();
/** One after the other: what the services hear is set for all calls. */
const BY_ITSELF = { buffered: false };

t.test(
  'a recogniser that fails: another one gets the words, the first is asked at the next turn',
  BY_ITSELF,
  async (t) => {
    const meeting = await talks.meet(TWO);
    const heard = async (from: FaultySpeech, words: string): Promise<void> => {
      from.words = words;
      await meeting.caller.say(SPEECH);
      await untilShown(meeting, 'user', new RegExp(words));
    };
    for (const fault of HEARING_FAULTS) {
      first.hears = fault;
      await heard(second, `The second heard that it ${fault}.`);
      first.hears = undefined;
      await heard(first, `The first hears again after it ${fault}.`);
    }
    t.ok(hasFailed(meeting, { part: 'recogniser', engine: FIRST, next: SECOND }), 'the log names it');
    const words = messagesOf(await hangUp(meeting)).filter((line) => line.startsWith('user'));
    for (const fault of HEARING_FAULTS)
      t.match(words.join(' '), new RegExp(`second heard that it ${fault}.*again after it ${fault}`));
    t.same(errorsAt(meeting), []);
  },
);

t.test(
  'the only recogniser fails: the agent has not understood; three in a row end the call',
  BY_ITSELF,
  async (t) => {
    const meeting = await talks.meet(ALONE);
    for (const [failed, fault] of HEARING_FAULTS.entries()) {
      first.hears = fault;
      await meeting.caller.say(SPEECH);
      await until('"I did not get that" is said', () => shownTimes(meeting, UNHEARD) > failed);
      first.hears = undefined;
      first.words = `Ich bin wieder da, ${fault}.`;
      await meeting.caller.say(SPEECH);
      await untilShown(meeting, 'user', new RegExp(first.words));
      await until('it is answered', () => shownTimes(meeting, /Fine/) > failed);
    }
    t.ok(hasFailed(meeting, { part: 'recogniser', engine: FIRST }), 'the log names it');
    exactly(t, errorsAt(meeting)[0], { code: 'provider_error' });
    first.hears = 'breaks';
    for (let said = 0; !meeting.caller.ended;) {
      await meeting.caller.say(SPEECH);
      await until(
        'it is not understood',
        () => meeting.caller.ended || shownBy(meeting.caller, 'agent').length > said,
      );
      said = shownBy(meeting.caller, 'agent').length;
    }
    first.hears = undefined;
    const record = await talks.ended(meeting.invite);
    exactly(t, record, { status: 'failed', ended_reason: 'speech_failure' });
    t.match(messagesOf(record).at(-1), APOLOGY);
  },
);

t.test('nothing is left at the workers', BY_ITSELF, async () => {
  await talks.untilNoCalls();
});
