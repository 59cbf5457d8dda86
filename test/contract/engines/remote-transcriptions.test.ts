/** Remote engines over real HTTP: transcriptions by a server whose answers the test sets. */
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SpeechContext } from '../../../contracts/ports/speech/stt.js';
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import { createNativeTranscriber } from '../../../engines/backends/native-compatible/index.js';
import { createOpenaiTranscriber } from '../../../engines/backends/openai-compatible/index.js';
import { wavFile } from '../../../engines/backends/remote/audio.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { segmentsOf, streamed, wordsHeard } from '../../fixtures/engines/listening.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { badField, remoteService } from '../../fixtures/engines/remote-service.js';

const remote = await remoteService(t);
const settings: RemoteSettings = {
  urls: [remote.url],
  key: 'operators-own',
  ttsModel: 'm-tts',
  sttModel: 'm-stt',
  voices: ['nova', 'onyx'],
  languages: LANGUAGES,
  format: 'pcm',
  rate: RECOGNITION_RATE,
};
const neverAborted = new AbortController().signal;

t.test('transcriptions: a WAV of the audio, words of the answer', async (t) => {
  remote.answers((response) => {
    response.end(
      JSON.stringify({
        text: 'Hello you.',
        words: [
          { word: 'Hello', start: 0.1, end: 0.4 },
          { word: 'you.', start: 0.4, end: 0.9 },
        ],
      }),
    );
  });
  const audio = new Int16Array(16_000).fill(1000);
  const heard = [];
  for await (const segment of createOpenaiTranscriber(settings).transcribe(
    streamed(audio),
    { language: 'de', words: true },
    neverAborted,
  ))
    heard.push(segment);
  t.same(
    heard[0]?.words?.map(({ text }) => text),
    ['Hello', 'you.'],
  );
  const asked = remote.asked.at(-1)!;
  t.equal(asked.url, '/audio/transcriptions');
  const form = await new Response(new Uint8Array(asked.body), {
    headers: { 'content-type': asked.headers['content-type']! },
  }).formData();
  t.equal(form.get('model'), 'm-stt');
  t.equal(form.get('language'), 'de');
  t.equal(form.get('response_format'), 'verbose_json');
  const file = Buffer.from(await (form.get('file') as File).arrayBuffer());
  t.ok(file.equals(wavFile(audio)), 'sample for sample');

  remote.answers((response) => void response.writeHead(429).end());
  await rejectsExactly(t, segmentsOf(createOpenaiTranscriber(settings), audio), {
    code: 'provider_failed',
    status: 429,
  });
  remote.answers(async (response) => {
    await new Promise((sent) => response.write('{"text": "Hel', sent));
    response.destroy();
  });
  await rejectsExactly(t, segmentsOf(createNativeTranscriber(settings), audio), {
    code: 'provider_failed',
    status: 502,
  });
});

/** The `prompt` of a form. */
const promptIn = (body: Buffer) => /name="prompt"\r\n\r\n(.*)\r\n/.exec(body.toString())?.[1];

t.test('it is told what is expected, and what was asked before, as a prompt', async (t) => {
  remote.answers((response) => void response.end('{"text":"Kathryn Schmitt."}'));
  const audio = new Int16Array(16_000).fill(1000);
  const promptOf = async (context: SpeechContext, more: Partial<RemoteSettings> = {}) => {
    await wordsHeard(createOpenaiTranscriber({ ...settings, ...more }), audio, { context });
    return promptIn(remote.asked.at(-1)!.body);
  };
  const terms = [
    'Kathryn Schmitt',
    'OpenClaw',
    'OpenClaw',
    '<b>',
    'x'.repeat(61),
    'one two three four five six',
  ];
  t.equal(await promptOf({ terms, before: 'Your name?' }), 'Kathryn Schmitt, OpenClaw. Your name?');
  t.equal(await promptOf({ terms: [], before: 'Your name?' }), 'Your name?');
  t.equal(await promptOf({ terms: ['Kathryn Schmitt'] }), 'Kathryn Schmitt.');
  const { prompt, beforeCharacters } = LIMITS.remote.expected;
  const many = await promptOf({
    terms: Array.from({ length: 1000 }, (_, at) => `term ${at}`),
    before: 'a'.repeat(1000),
  });
  t.equal(many?.split(', ').length, prompt.terms);
  t.ok(many?.endsWith(`. ${'a'.repeat(beforeCharacters)}`));
  t.equal(await promptOf({ terms: ['?'] }), undefined, 'nothing that is no word');
  t.equal(await promptOf({ terms }, { context: 'off' }), undefined, 'nothing where it is turned off');
  await wordsHeard(createNativeTranscriber(settings), audio, { context: { terms } });
  t.notOk(remote.asked.at(-1)!.body.includes('Kathryn'), 'an engine without such a field gets none');
});

t.test('a service that refuses a prompt is asked again without it, and not told any more', async (t) => {
  const asked: (string | undefined)[] = [];
  let refusal = "Unknown field 'prompt'";
  remote.answers((response, body) => {
    asked.push(promptIn(body));
    const isRefused = asked.at(-1) !== undefined;
    response.writeHead(isRefused ? 400 : 200);
    response.end(JSON.stringify(isRefused ? { error: { message: refusal } } : { text: 'Hello you.' }));
  });
  const audio = new Int16Array(16_000).fill(1000);
  const options = { context: { terms: ['Kathryn'] } };
  const transcriber = createOpenaiTranscriber(settings);
  for (let round = 0; round < 2; round++) await wordsHeard(transcriber, audio, options);
  t.strictSame(asked, ['Kathryn.', undefined, undefined]);
  refusal = 'Audio is too short';
  await rejectsExactly(t, wordsHeard(createOpenaiTranscriber(settings), audio, options), {
    message: refusal,
  });
  t.equal(asked.length, 4, 'any other refusal is final');
});

t.test('a service whose model tells no times is asked for the text alone', async (t) => {
  const audio = new Int16Array(16_000).fill(1000);
  const formatOf = (body: Buffer) => /name="response_format"\r\n\r\n(\w+)/.exec(body.toString('latin1'))?.[1];
  const refusals = [
    { error: { message: "response_format 'verbose_json' is not compatible with this model. Use 'json'." } },
    { object: 'error', message: 'Currently only support response_format `text` or `json`' },
    badField('response_format', "Input should be 'json'"),
  ];
  for (const refusal of refusals) {
    const asked: (string | undefined)[] = [];
    remote.answers((response, body) => {
      asked.push(formatOf(body));
      const told = asked.at(-1) === 'json' && !body.includes('timestamp_granularities');
      response.writeHead(told ? 200 : 400).end(JSON.stringify(told ? { text: 'Hello you.' } : refusal));
    });
    const transcriber = createOpenaiTranscriber(settings);
    for (let round = 0; round < 2; round++)
      exactly(t, await segmentsOf(transcriber, audio), [{ text: 'Hello you.' }]);
    t.strictSame(asked, ['verbose_json', 'json', 'json'], 'it is remembered');
  }
  const before = remote.asked.length;
  remote.answers(
    (response) => void response.writeHead(400).end('{"error":{"message":"Audio is too short"}}'),
  );
  await rejectsExactly(t, segmentsOf(createOpenaiTranscriber(settings), audio), {
    message: 'Audio is too short',
  });
  t.equal(remote.asked.length, before + 1, 'any other refusal is final');
});
