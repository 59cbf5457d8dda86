/**
 * Audio files of every kind, made of one spoken text, and what is heard of them over the real routes: protocols A, B and the native one
 * in turn. The long form has all files, the short one a few of each kind.
 */
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { samplesOf } from '../../../contracts/audio.js';
import { wordErrors, wordsOf } from '../../fixtures/engines/listening.js';
import { skipReason } from '../../fixtures/external.js';
import { folderOf } from '../../fixtures/folders.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import { ODD_FILES } from '../../fixtures/odd-audio/index.js';
import { type OddFile, SPEECH_RATE, Workshop } from '../../fixtures/odd-audio/workshop.js';

// Comes first, since it may throw: nothing has to be cleaned up yet.
const skip = skipReason('ffmpeg');

const TEXT = 'Hello, thank you for calling. How can I help you today?';
/** Codecs of telephones cost a word. */
const MOST_WRONG = 2;
/** Seconds by which padding of codecs may change a duration. */
const PADDING = 0.25;

const FORMATS = /could not be decoded: send WAV, MP3,.* CAF/;

/** Seconds, where the dialect tells them. */
interface Transcript {
  readonly text: string;
  readonly duration?: number;
  readonly firstWord?: number;
}

interface Dialect {
  readonly path: string;
  /** The form's field of the audio. */
  readonly field: string;
  readonly fields: Readonly<Record<string, string>>;
  read(body: never): Transcript;
  /** The error's message, and its field. */
  refusal(body: never): readonly [message: string, param: string | undefined];
}

const DIALECTS: Record<string, Dialect> = {
  A: {
    path: '/v1/audio/transcriptions',
    field: 'file',
    fields: { model: 'whisper-1', response_format: 'verbose_json', 'timestamp_granularities[]': 'word' },
    read: ({ text, duration, words }: { text: string; duration: number; words: { start: number }[] }) => ({
      text,
      duration,
      ...(words[0] && { firstWord: words[0].start }),
    }),
    refusal: ({ error }: { error: { message: string; param?: string } }) => [error.message, error.param],
  },
  B: {
    path: '/compat/elevenlabs/v1/speech-to-text',
    field: 'file',
    fields: { model_id: 'scribe_v1', tag_audio_events: 'false' },
    read: ({ text, words }: { text: string; words: { start: number }[] }) => ({
      text,
      ...(words[0] && { firstWord: words[0].start }),
    }),
    refusal: ({ detail }: { detail: { message: string; param?: string } }) => [detail.message, detail.param],
  },
  native: {
    path: '/v1/asr',
    field: 'audio',
    fields: { ignore_timestamps: 'false' },
    read: ({ text, duration }: { text: string; duration: number }) => ({ text, duration }),
    refusal: ({ message }: { message: string }) => [message, 'audio'],
  },
};

const gateway = await sharedGateway(t, 'speech');
const folder = folderOf(t);

async function spoken(): Promise<Int16Array> {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: TEXT, format: 'pcm', sample_rate: SPEECH_RATE }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return samplesOf(new Uint8Array(await response.arrayBuffer()));
}

async function send(dialect: Dialect, bytes: Uint8Array, { sentAs }: OddFile): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(dialect.fields)) form.append(name, value);
  const { name, type } = sentAs ?? { name: 'recording', type: 'application/octet-stream' };
  form.append(dialect.field, new Blob([Buffer.from(bytes)], { type }), name);
  return fetch(`${gateway.base}${dialect.path}`, {
    method: 'POST',
    headers: gateway.authorization,
    body: form,
  });
}

/** All words, or as many as there are, of which the last may be half a word. */
function hearsWords(t: Test, { heard = 'all' }: OddFile, text: string): void {
  const words = wordsOf(text);
  const wanted = wordsOf(TEXT);
  if (heard === 'all') return void t.ok(wordErrors(TEXT, text) <= MOST_WRONG, text);
  const whole = words.slice(0, -1);
  const begun = wanted.slice(0, whole.length);
  t.ok(
    whole.length >= wanted.length * 0.3 && wordErrors(begun.join(' '), whole.join(' ')) <= MOST_WRONG,
    text,
  );
}

function keepsTime(t: Test, file: OddFile, { duration, firstWord }: Transcript, seconds: number): void {
  const { heard = 'all', silence = 0, beginsAt = 0 } = file;
  if (duration !== undefined && heard === 'all')
    t.ok(
      Math.abs(duration - seconds - silence) < PADDING,
      `${duration} s; the speech has ${seconds}, and ${silence} of silence`,
    );
  if (firstWord !== undefined)
    t.ok(firstWord >= beginsAt - 0.1 && firstWord < beginsAt + 1, `from ${firstWord} s`);
}

async function refuses(t: Test, dialect: Dialect, response: Response): Promise<void> {
  t.equal(response.status, 400);
  const [message, param] = dialect.refusal((await response.json()) as never);
  t.match(message, FORMATS);
  t.equal(param, dialect.field);
}

async function answers(t: Test, file: OddFile, shop: Workshop, dialect: Dialect): Promise<void> {
  const response = await send(dialect, file.make(shop), file);
  if (file.heard === 'refused') return refuses(t, dialect, response);
  if (response.status !== 200) return void t.fail(await response.text());
  const transcript = dialect.read((await response.json()) as never);
  hearsWords(t, file, transcript.text);
  keepsTime(t, file, transcript, file.seconds ?? shop.seconds);
}

/** A few of each kind. */
const SHORT: ReadonlySet<string> = new Set([
  'WAV of µ-law with half its length',
  'AIFF from a pipe, without lengths',
  'Opus in WebM',
  'AMR',
  'WebM whose audio begins at 3 s',
  'MP4 whose first track is silent',
  'cut short: MPEG transport stream',
  'refused: a WavPack',
]);

t.test('what is in a file is heard, whatever it is wrapped in', { skip }, async (t) => {
  const shop = new Workshop(await spoken(), folder);
  const files = ODD_FILES.filter(({ name }) => shortOrLong(SHORT.has(name), true));
  t.ok(files.length >= shortOrLong(SHORT.size, 80), `${files.length} files`);
  const dialects = Object.keys(DIALECTS);
  for (const [index, file] of files.entries()) {
    const dialect = dialects[index % dialects.length]!;
    await t.test(`${file.name}, by ${dialect}`, (t) => answers(t, file, shop, DIALECTS[dialect]!));
  }
});
