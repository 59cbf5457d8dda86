/**
 * Calls over several services of the same kind, one behind the other: what callers say is heard while they speak, and each service that fails
 * is followed by the next.
 */
import t from '../../fixtures/tap.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { Resampling } from '../../../engines/resampling.js';
import { CALLER_RATE, letGo } from '../../fixtures/calls/caller.js';
import {
  type Meeting,
  messagesOf,
  type Record,
  shownBy,
  Talks,
} from '../../fixtures/conversation/conversation.js';
import { DEEPGRAM_KEY, deepgramService } from '../../fixtures/engines/deepgram-service.js';
import { ELEVENLABS_KEY, elevenlabsService } from '../../fixtures/engines/elevenlabs-service.js';
import { exactly } from '../../fixtures/exactly.js';
import { joined, quickFirst, spoken } from '../../fixtures/engines/listening.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const [ears, otherEars] = await Promise.all([deepgramService(t), deepgramService(t)]);
const [voice, otherVoice] = await Promise.all([elevenlabsService(t), elevenlabsService(t)]);

const MAIN = 'elevenlabs-compatible/main';
/** The first voice bills characters, the other one minutes; recognisers bill minutes. */
const PRICES = {
  currency: 'EUR',
  engines: {
    [MAIN]: { characters: 1000 },
    'elevenlabs-compatible': { models: { eleven_flash_v2_5: { speech_minute: 60 } } },
    'deepgram-compatible': { models: { 'nova-3': { recognition_minute: 60 } } },
  },
};
const talks = await Talks.start(t, {
  TTS_ENGINES: `${MAIN},elevenlabs-compatible/spare`,
  STT_ENGINES: 'deepgram-compatible',
  PRICES: JSON.stringify(PRICES),
  REMOTE_1_KIND: 'elevenlabs-compatible',
  REMOTE_1_NAME: 'main',
  REMOTE_1_URL: voice.url,
  REMOTE_1_KEY: ELEVENLABS_KEY,
  REMOTE_1_RATE: '16000',
  REMOTE_2_KIND: 'elevenlabs-compatible',
  REMOTE_2_NAME: 'spare',
  REMOTE_2_URL: otherVoice.url,
  REMOTE_2_KEY: ELEVENLABS_KEY,
  REMOTE_2_RATE: '16000',
  REMOTE_3_KIND: 'deepgram-compatible',
  REMOTE_3_URL: ears.url,
  REMOTE_3_KEY: DEEPGRAM_KEY,
  REMOTE_4_KIND: 'deepgram-compatible',
  REMOTE_4_URL: otherEars.url,
  REMOTE_4_KEY: DEEPGRAM_KEY,
});
talks.model.answer(() => 'That is fine.');

/** Speech, whatever it says: the services hear what the test lets them. */
async function speech(): Promise<Int16Array> {
  const flite = quickFirst(await createFlite());
  const samples = await spoken(flite, 'Hello there, can you hear what I say to you?');
  const resampling = new Resampling(flite.capabilities.sampleRate, CALLER_RATE);
  return joined(resampling.push(samples), resampling.finish());
}
const SPEECH = await speech();
const WORDS = 'A long sentence goes on until it has been said.';
ears.faults.hears = WORDS;
otherEars.faults.hears = WORDS;

const untilAnswered = ({ caller }: Meeting, times: number) =>
  until('it is answered', () => shownBy(caller, 'agent').filter((text) => /fine/.test(text)).length >= times);
const paths = (service: { readonly asked: readonly { method: string; path: string }[] }): string[] =>
  service.asked.map(({ method, path }) => `${method} ${path}`);
interface Work {
  readonly engine: string;
  readonly characters: number;
  readonly speech_seconds: number;
  readonly recognised_seconds: number;
}
const enginesIn = ({ usage }: Record): readonly Work[] => usage['engines'] as readonly Work[];
const hasLogged = (part: object): boolean =>
  talks.gateway
    .stderr()
    .split('\n')
    .some((line) => Object.entries(part).every(([name, value]) => line.includes(`"${name}":"${value}"`)));

t.test('callers are heard while they speak, and answered with the first audio by socket', async (t) => {
  const meeting = await talks.meet();
  const before = voice.asked.length;
  await meeting.caller.say(SPEECH);
  await untilAnswered(meeting, 1);
  t.ok(paths(ears).includes('GET /v1/listen'));
  t.notOk(paths(ears).includes('POST /v1/listen'), 'nothing was sent a second time');
  t.same(otherEars.asked, [], 'nor to another service');
  t.ok(
    paths(voice)
      .slice(before)
      .every((path) => path.endsWith('/stream-input')),
  );
  t.ok(
    meeting.caller.shown.some(({ from, final }) => from === 'user' && !final),
    'partial transcripts are shown',
  );
  meeting.caller.hangUp();
  const record = await talks.ended(meeting.invite);
  const [said] = messagesOf(record);
  t.equal(said, `user: ${WORDS}`);
  const [heard, spoke] = enginesIn(record);
  exactly(t, heard, { engine: 'deepgram-compatible/3', model: 'nova-3', recognised_seconds: Number });
  exactly(t, spoke, { engine: MAIN, model: 'eleven_flash_v2_5', characters: 'That is fine.'.length });
  exactly(t, record.cost, { characters: spoke!.characters, speech_minute: 0 });
  t.equal(record.cost!['recognition_minute'], heard!.recognised_seconds);
  await until('nobody is listened to any more', () => ears.sockets.size === 0);
  t.ok(voice.sockets.size <= 1, 'one is open for the next sentence');
});

t.test('what was said before is said again, though no service is asked, and costs nothing', async (t) => {
  const meeting = await talks.meet();
  await meeting.caller.say(SPEECH);
  await untilAnswered(meeting, 1);
  const before = voice.asked.length;
  await meeting.caller.say(SPEECH);
  await untilAnswered(meeting, 2);
  t.equal(voice.asked.length, before, 'the third time');
  meeting.caller.hangUp();
  const record = await talks.ended(meeting.invite);
  const [, spoke, kept] = enginesIn(record);
  exactly(t, spoke, { engine: MAIN, characters: 'That is fine.'.length });
  exactly(t, kept, { engine: 'kept', model: null, characters: 'That is fine.'.length });
  t.equal(record.usage['characters'], 2 * 'That is fine.'.length);
  exactly(t, record.cost, { characters: spoke!.characters });
});

t.test('each service that fails is followed by the next of its list', async (t) => {
  // Not what was said before: no voice would be asked for it.
  talks.model.answer(() => 'This is fine.');
  const meeting = await talks.meet();
  ears.faults.status = 500;
  voice.faults.name = 'system_error';
  await meeting.caller.say(SPEECH);
  await untilAnswered(meeting, 1);
  t.ok(otherEars.asked.length > 0, 'the second has heard it');
  t.ok(
    paths(otherVoice).some((path) => path.endsWith('/stream-input')),
    'and said the answer',
  );
  const named = { engine: 'deepgram-compatible/3', next: 'deepgram-compatible/4' };
  t.ok(hasLogged({ part: 'recogniser', ...named }), 'the log names both');
  t.ok(hasLogged({ part: 'voice', engine: MAIN, next: 'elevenlabs-compatible/spare' }));
  const health = (await (
    await fetch(`${talks.gateway.base}/health`, { headers: talks.gateway.authorization })
  ).json()) as object;
  t.match(JSON.stringify(health), /deepgram-compatible\/3/, 'and /health');
  meeting.caller.hangUp();
  const record = await talks.ended(meeting.invite);
  const [heard, spoke, ...others] = enginesIn(record);
  exactly(t, heard, { engine: named.next, model: 'nova-3' });
  exactly(t, spoke, { engine: 'elevenlabs-compatible/spare', characters: 'This is fine.'.length });
  t.same(others, [], 'who failed has done nothing');
  exactly(t, record.cost, { characters: 0, speech_minute: spoke!.speech_seconds });
  t.ok(spoke!.speech_seconds > 0);
  t.same(messagesOf(record), [`user: ${WORDS}`, 'assistant: This is fine.']);
  await talks.untilNoCalls();
});
