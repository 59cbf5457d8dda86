/**
 * Raw sockets on protocol B's stream-input, as the vendor's Python SDK drives them (docs/contract/protocol-b.md 3), with
 * the default engines: the JavaScript SDK has no client of its own for this socket.
 */
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { WebSocket } from 'ws';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { wordErrors } from '../../dist/test/fixtures/engines/listening.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';
import { wavHeader } from '../../dist/codecs/wav.js';
import { heardBy } from './streams.mjs';

const gateway = await sharedGateway(t, 'speech');

const BASE = `${gateway.base}/compat/elevenlabs`;
const BYTES_PER_MS = 32;

/** Phrases as that SDK cuts them: each ends with a blank. */
function* phrasesOf(words) {
  let buffer = '';
  for (const word of words) {
    buffer += word;
    if (!/[.,?!;:—\-()[\]} ]$/.test(buffer)) continue;
    yield buffer.endsWith(' ') ? buffer : `${buffer} `;
    buffer = '';
  }
  if (buffer !== '') yield `${buffer} `;
}

/** Sends the text as it is produced, and gives every frame until the server closes. */
function convertRealtime(
  words,
  { voice = 'default', query = {}, headers = { 'xi-api-key': TEST_KEY } } = {},
) {
  const asked = new URLSearchParams({
    model_id: 'eleven_turbo_v2_5',
    output_format: 'mp3_44100_128',
    ...query,
  });
  const url = `${BASE.replace('http', 'ws')}/v1/text-to-speech/${voice}/stream-input?${asked}`;
  const socket = new WebSocket(url, { headers, maxPayload: 2 ** 20 });
  const frames = [];
  socket.on('open', () => {
    const send = (frame) => socket.send(JSON.stringify(frame));
    const generation_config = { chunk_length_schedule: [50] };
    send({ text: ' ', try_trigger_generation: true, voice_settings: null, generation_config });
    for (const text of phrasesOf(words)) send({ text, try_trigger_generation: true });
    send({ text: '' });
  });
  socket.on('message', (data) => frames.push(JSON.parse(data.toString())));
  return new Promise((resolve, reject) => {
    socket.on('close', (code, reason) => resolve({ frames, code, reason: reason.toString() }));
    socket.on('error', reject);
  });
}

const audioOf = (frames) => Buffer.concat(frames.map(({ audio }) => Buffer.from(audio ?? '', 'base64')));
const hear = (audio) => heardBy(gateway, audio);
const tokens = (text) => text.split(/(?<= )/);

const COUNT = shortOrLong(4, 10);
const SENTENCES = [
  'Thank you very much for your patience.',
  'I hope that you have a wonderful day.',
  'The weather was cold, but the sun was shining.',
  'Please leave the books on the table.',
  'We are going to the station in the morning.',
  'She asked me a question, and I had no answer.',
  'The train leaves at seven in the evening.',
  'My brother lives in a small house near the river.',
  'Could you please open the window?',
  'This is the last sentence of them all.',
];

t.test('text that a language model streams is spoken, in one MP3', async (t) => {
  const text = SENTENCES.slice(0, 3).join(' ');
  const { frames, code } = await convertRealtime(tokens(text));
  t.equal(code, 1000);
  t.strictSame(frames.at(-1), { audio: null, isFinal: true, alignment: null, normalizedAlignment: null });
  const heard = await hear(audioOf(frames));
  t.ok(wordErrors(text, heard) <= 2, heard);
});

/** Where the words begin, in seconds, by their characters. */
function wordStarts(frames) {
  const characters = frames.flatMap(({ alignment }) =>
    (alignment?.chars ?? []).map((char, index) => ({
      char,
      start: alignment.charStartTimesMs[index] / 1000,
    })),
  );
  return characters
    .filter(({ char }, index) => char !== ' ' && (characters[index - 1]?.char ?? ' ') === ' ')
    .map(({ start }) => start);
}

async function transcribedStarts(audio) {
  const body = new FormData();
  body.set('model_id', 'scribe_v1');
  body.set('file', new Blob([Buffer.concat([wavHeader(16_000), audio])]));
  const response = await fetch(`${BASE}/v1/speech-to-text`, {
    method: 'POST',
    headers: { 'xi-api-key': TEST_KEY },
    body,
  });
  const { words } = await response.json();
  return words.filter(({ type }) => type === 'word').map(({ start }) => start);
}

t.test(
  'sentences: alignment covers all, never goes back, ends with the audio, fits what is heard',
  async (t) => {
    const differences = [];
    for (const text of SENTENCES.slice(0, COUNT)) {
      const query = { output_format: 'pcm_16000', sync_alignment: 'true' };
      const { frames } = await convertRealtime(tokens(text), { query });
      const alignments = frames.flatMap(({ alignment }) => alignment ?? []);
      t.equal(
        alignments
          .flatMap(({ chars }) => chars)
          .join('')
          .trim(),
        text,
      );
      const starts = alignments.flatMap(({ charStartTimesMs }) => charStartTimesMs);
      t.strictSame(
        starts,
        starts.toSorted((a, b) => a - b),
      );
      const last = alignments.findLast(({ chars }) => chars.length > 0);
      const end = last.charStartTimesMs.at(-1) + last.charDurationsMs.at(-1);
      const audio = audioOf(frames);
      t.ok(Math.abs(end - audio.length / BYTES_PER_MS) < 100, `${end} of ${audio.length / BYTES_PER_MS} ms`);
      const [told, heard] = [wordStarts(frames), await transcribedStarts(audio)];
      if (told.length === heard.length)
        told.forEach((start, at) => differences.push(Math.abs(start - heard[at])));
    }
    differences.sort((a, b) => a - b);
    const median = differences[differences.length >> 1];
    t.ok(differences.length > 3 * COUNT, `${differences.length} words compared`);
    t.ok(median < 0.2, `median ${Math.round(median * 1000)} ms`);
  },
);

t.test('errors are frames with a message, and the close code that they name', async (t) => {
  const cases = [
    [{ voice: 'Rachel' }, 'Hello. ', 1008, 'voice_not_found'],
    [{ headers: { 'xi-api-key': 'wrong' } }, 'Hello. ', 1008, 'invalid_api_key'],
    [{ query: { output_format: 'ulaw_8000' } }, 'Hello. ', 1008, 'unsupported_output_format'],
    [{}, 'a'.repeat(2 ** 20 + 1), 1009, 'buffer_overflow'],
  ];
  for (const [options, text, code, error] of cases) {
    const ended = await convertRealtime([text], options);
    t.equal(ended.code, code);
    exactly(t, ended.frames.at(-1), { message: String, error, code });
    t.ok(ended.reason.length > 0 && ended.frames.at(-1).message.startsWith(ended.reason));
  }
});
