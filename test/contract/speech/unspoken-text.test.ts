/**
 * Flite and eSpeak NG in one gateway, at every endpoint. Text that each script's voice reads is spoken; text that no voice reads is
 * refused before the first byte, by an error frame on sockets; never silence.
 */
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { LiveClient } from '../../fixtures/native/live.js';
import { BASE, KEY } from '../../fixtures/protocol-b/rest.js';
import { said } from '../../fixtures/chat/model.js';
import { RealtimeClient } from '../../fixtures/protocol-a/realtime-client.js';
import { SpeechSocketClient } from '../../fixtures/protocol-b/speech-socket.js';
import { until } from '../../fixtures/until.js';

// A call costs little beside another one.
t.jobs = 4;
t.teardown(letGo);
const talks = await Talks.start(t, { TTS_ENGINES: 'flite,espeak' });
const { gateway, model } = talks;

const SILENT = '😀 …';
const REASON = /Language not supported: .* Cyrillic/;
const UNREAD: readonly [text: string, reason: RegExp][] = [
  ['Привет, мир', REASON],
  ['Hello there, Привет', REASON],
  ['Dzień dobry, dziękuję bardzo. Proszę czekać.', /Language not supported: .* speak "pl"/],
];

const post = (path: string, body: object, headers: Record<string, string> = gateway.authorization) =>
  fetch(`${gateway.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

type Ask = (text: string) => Promise<Response>;

const chat =
  (stream: boolean): Ask =>
  (text) =>
    post('/compat/v1/chat/completions', {
      model: 'svc/s2-pro',
      stream,
      modalities: ['text', 'audio'],
      audio: { voice: 'default', format: 'pcm16' },
      messages: [{ role: 'user', content: text }],
    });

const native =
  (path: string, more: object): Ask =>
  (text) =>
    post(path, { text, ...more });
const protocolB =
  (path: string): Ask =>
  (text) =>
    post(`${BASE}/v1/text-to-speech/default${path}`, { text }, KEY);

const WAYS: Readonly<Record<string, Ask>> = {
  'native mp3': native('/v1/tts', { format: 'mp3' }),
  'native wav': native('/v1/tts', { format: 'wav', latency: 'low' }),
  'native timestamps': native('/v1/tts/stream/with-timestamp', {}),
  'protocol A': (input) => post('/compat/v1/audio/speech', { model: 'tts-1', input, voice: '' }),
  chat: chat(false),
  'chat, streamed': chat(true),
  'protocol B': protocolB(''),
  'protocol B, streamed': protocolB('/stream'),
  'protocol B, timed': protocolB('/with-timestamps'),
  'protocol B, timed and streamed': protocolB('/stream/with-timestamps'),
};

for (const [way, ask] of Object.entries(WAYS)) {
  t.test(
    `${way}: 400 that says the script or language, a short silence for nothing but symbols`,
    async (t) => {
      for (const [text, reason] of UNREAD) {
        const response = await ask(text);
        t.equal(response.status, 400, text);
        // Quotes are escaped in JSON.
        t.match((await response.text()).replaceAll('\\"', '"'), reason, text);
      }
      const silent = await ask(SILENT);
      t.equal(silent.status, 200);
      t.ok((await silent.arrayBuffer()).byteLength > 0);
    },
  );
}

t.test('text that changes its language is spoken in one answer, over every way in', async (t) => {
  const mixed = 'This is said in English. これは日本語です。';
  for (const [way, ask] of Object.entries(WAYS)) {
    const response = await ask(mixed);
    t.equal(response.status, 200, way);
    t.ok((await response.arrayBuffer()).byteLength > 10_000, way);
  }
  const seconds = async (text: string) => {
    const response = await post('/v1/tts', { text, format: 'pcm', sample_rate: 16_000 });
    return (await response.arrayBuffer()).byteLength / 32_000;
  };
  const apart = (await seconds('This is said in English.')) + (await seconds('これは日本語です。'));
  t.ok(Math.abs((await seconds(mixed)) - apart) < 0.1, 'each by its own engine, at its own pace');
});

const MARKED: readonly [text: string, marked: string, language: string][] = [
  ['Esto es muy importante.', 'Esto es muy **importante**. 😀', 'es'],
  ['This is very important.', 'This is <b>very</b> [important](https://example.com/a?b=c). ✨', 'en'],
];

t.test('marks are not heard, and symbols alone last a fifth of a second', async (t) => {
  const bytes = async (text: string, more: object = {}) => {
    const response = await post('/v1/tts', { text, format: 'pcm', sample_rate: 16_000, ...more });
    return (await response.arrayBuffer()).byteLength;
  };
  for (const [text, marked, language] of MARKED)
    t.equal(await bytes(marked, { language }), await bytes(text, { language }), marked);
  t.equal(await bytes('Esto es muy **importante**.', { normalize: false }), await bytes(MARKED[0]![0]));
  for (const text of [SILENT, '—', '**', '<br>']) t.equal(await bytes(text), 6400, text);
});

t.test('the default voice covers every script', async (t) => {
  for (const text of ['Hello there.', '今日は天気がいいです。', '你好，世界。', '안녕하세요.']) {
    const response = await post('/v1/tts', { format: 'wav', text });
    t.equal(response.status, 200, text);
    t.ok((await response.arrayBuffer()).byteLength > 20_000, text);
  }
});

interface Snapshot {
  readonly segments: readonly { readonly end: number }[];
  readonly audio_duration: number;
}

t.test('every snapshot of the words lies within the audio that it describes', async (t) => {
  const text = '今日は天気がいいです。明日も晴れるでしょう。';
  const response = await post('/v1/tts/stream/with-timestamp', { text, format: 'pcm', sample_rate: 16_000 });
  const alignments = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
    ([, line = '']) => (JSON.parse(line) as { alignment: Snapshot | null }).alignment,
  );
  const told = alignments.filter((alignment) => alignment !== null);
  t.ok(told.length > 0 && told.some(({ segments }) => segments.length > 0));
  for (const { segments, audio_duration: seconds } of told)
    t.ok(
      segments.every(({ end }) => end <= seconds),
      `${segments.length} words in ${seconds} s`,
    );
});

t.test('a long text is refused for its last word', async (t) => {
  const text = `${'Words of English. '.repeat(10_000)}Привет.`;
  for (const way of ['native mp3', 'protocol A', 'protocol B'] as const)
    t.equal((await WAYS[way]!(text)).status, 400, way);
});

t.test('the native socket finishes with an error, after what it could speak', async (t) => {
  const client = await new LiveClient(gateway).opened();
  client.start({ latency: 'balanced' }).text('Hello there. How are you today? ', 'Привет, мир. ').stop();
  exactly(t, await client.finished(), { reason: 'error', message: REASON });
  t.ok(client.audio.length > 0);
  client.leave();
});

t.test('the native socket passes over symbols', async (t) => {
  const client = await new LiveClient(gateway).opened();
  client.start({ latency: 'balanced' }).text(SILENT).stop();
  exactly(t, await client.finished(), { reason: 'stop' });
  t.equal(client.audio.length, 0);
  client.leave();
});

t.test('stream-input sends an error frame and closes', async (t) => {
  const client = await new SpeechSocketClient(gateway).opened();
  client.send({ text: ' ' }, { text: 'Привет, мир. ', flush: true });
  await client.ended();
  t.match(client.errors()[0]?.message, REASON);
});

t.test(
  'a realtime response fails with an error event, and the next one speaks what came after it',
  async (t) => {
    const client = await new RealtimeClient(gateway, { query: '?model=svc/s2-pro' }).opened();
    await client.next('session.created');
    client.say('Привет, мир').respond();
    exactly(t, await client.error(), { message: REASON });
    exactly(t, await client.next('response.done'), { response: { status: 'failed' } });
    client.say('Hello.').respond();
    exactly(t, await client.next('response.done'), { response: { status: 'completed' } });
    exactly(t, client.of('response.output_audio_transcript.done').at(-1), { transcript: 'Hello.' });
    client.leave();
  },
);

const ANSWERS: Readonly<Record<string, string>> = {
  'Auf Russisch?': 'Да, конечно.',
  'In Russian?': 'Да, конечно.',
  'In both?': 'Yes, of course. По-русски тоже.',
  'And now?': 'Better.',
};
model.answer((messages) => ANSWERS[said(messages)] ?? 'What?');

t.test('an agent that cannot speak the answer says so in its own language', async (t) => {
  const meeting = await talks.meet({ voice: { voice_id: 'default', speaking_language: 'de' } });
  meeting.caller.send({ type: 'user.message', text: 'Auf Russisch?' });
  const excuse = /^Entschuldigung, das konnte ich nicht beantworten/;
  await until('it is excused', () =>
    meeting.caller.shown.some((shown) => shown.final && excuse.test(shown.text.trim())),
  );
  meeting.caller.hangUp();
  const { items } = await talks.ended(meeting.invite);
  exactly(
    t,
    items.find(({ error }) => error !== undefined),
    { content: excuse, error: 'language_unavailable' },
  );
});

const EXCUSE = 'Sorry, I could not answer that. Please try again.';

t.test('an answer that the voice cannot read is excused aloud, and recorded with its error', async (t) => {
  const meeting = await talks.meet();
  for (const text of ['In Russian?', 'In both?']) {
    const excused = () =>
      meeting.caller.shown.filter((shown) => shown.final && shown.text.trim() === EXCUSE).length;
    const before = excused();
    meeting.caller.send({ type: 'user.message', text });
    await until('it is excused', () => excused() > before);
  }
  meeting.caller.send({ type: 'user.message', text: 'And now?' });
  const { caller } = meeting;
  await until('it goes on', () =>
    caller.shown.some((shown) => shown.final && shown.text.trim() === 'Better.'),
  );
  caller.hangUp();
  const { items } = await talks.ended(meeting.invite);
  const errors = items.filter(({ error }) => error !== undefined);
  t.same(
    errors.map(({ content, error }) => [content, error]),
    [
      [EXCUSE, 'language_unavailable'],
      [EXCUSE, 'language_unavailable'],
    ],
  );
});
