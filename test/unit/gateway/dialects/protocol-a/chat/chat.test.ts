/** Chat answers without a server: blocks of base64, pieces of transcript, segments in the order of the audio, failures. */
import t from '../../../../../fixtures/tap.js';
import { UNBOUNDED_SHARE } from '../../../../../../contracts/ports/accounts/memory.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import type {
  SpokenPiece,
  TimedAudio,
  Transcript,
  TranscriptSegment,
} from '../../../../../../contracts/ports/speech/speech.js';
import { defaultVocabulary } from '../../../../../../contracts/vocabulary.js';
import { answerOf } from '../../../../../../gateway/dialects/protocol-a/chat/answer.js';
import { Base64Blocks } from '../../../../../../gateway/dialects/protocol-a/chat/base64-blocks.js';
import { speechCompletion } from '../../../../../../gateway/dialects/protocol-a/chat/completion.js';
import {
  type AnswerEvent,
  transcriptionEvents,
  speechEvents,
} from '../../../../../../gateway/dialects/protocol-a/chat/events.js';
import { chatStream } from '../../../../../../gateway/dialects/protocol-a/chat/stream.js';
import { streamErrorBody } from '../../../../../../gateway/dialects/protocol-a/errors.js';
import {
  audioOf,
  type Chunk,
  type Completion,
  eventsIn,
  transcriptOf,
} from '../../../../../fixtures/protocol-a/chat.js';
import { SimulatedClock } from '../../../../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../../../../fixtures/exactly.js';
import { seeded } from '../../../../../fixtures/random.js';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function* sequence<T>(...items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function* failing<T>(error: Error, ...items: readonly T[]): AsyncGenerator<T> {
  yield* items;
  throw error;
}

const ANSWER = answerOf('gen-1', 'svc/s1', new SimulatedClock());
const NEVER = new AbortController().signal;

t.test('blocks: whatever the chunks, all but the last are whole groups of six bytes', async (t) => {
  const random = seeded(7);
  for (let round = 0; round < 50; round += 1) {
    const blocks = new Base64Blocks();
    const chunks = Array.from({ length: Math.floor(random() * 20) }, () =>
      Buffer.alloc(Math.floor(random() ** 4 * 120_000), 'seven more'),
    );
    const texts = [...chunks.flatMap((chunk) => [...blocks.push(chunk)]), blocks.end()];
    for (const text of texts.slice(0, -1)) {
      if (text.length % 8 !== 0 || text.length === 0 || text.length > 65_536 || text.includes('='))
        t.fail(`a block of ${text.length} characters`);
    }
    t.ok(Buffer.from(texts.join(''), 'base64').equals(Buffer.concat(chunks)));
  }
});

const piece = (index: number, text: string, at: number): SpokenPiece => ({
  ...{ index, text, at },
  ...{ offset: index, duration: 1, complete: true, words: undefined },
});
const heardAt = (audio: string, end: number, piece: SpokenPiece): TimedAudio => ({
  ...{ audio: Buffer.from(audio), end, piece },
});

t.test('the transcript is the text, blanks and what cannot be spoken included', async (t) => {
  const text = 'One.  Two…  \n😀 ';
  const speech = sequence(
    heardAt('abcdefgh', 1, piece(0, 'One.', 0)),
    heardAt('', 1, piece(0, 'One.', 0)),
    heardAt('ij', 1.5, piece(1, 'Two…', 6)),
  );
  const events = await all(speechEvents(speech, text));
  t.strictSame(
    events.map(({ kind }) => kind),
    ['transcript', 'audio', 'transcript', 'transcript', 'audio', 'usage'],
  );
  t.equal(events.map((event) => (event.kind === 'transcript' ? event.text : '')).join(''), text);
  const { usage } = events.at(-1) as { usage: { completion_tokens: number } };
  t.equal(usage.completion_tokens, 30, 'a second and a half');
});

t.test('speech without any audio is a whole answer', async (t) => {
  const form = { speaks: true, includeUsage: true, failure: () => ({}) };
  const text = (await all(chatStream(speechEvents(sequence(), '…'), ANSWER, form, NEVER))).join('');
  const chunks = eventsIn(text)
    .slice(0, -1)
    .map((event) => JSON.parse(event) as Chunk);
  t.equal(transcriptOf(chunks), '…');
  t.equal(audioOf(chunks).length, 0);
  t.ok(chunks.some(({ choices }) => choices[0]?.delta.audio?.data === ''));
  const whole = (await all(speechCompletion(speechEvents(sequence(), '…'), ANSWER))).join('');
  const { choices } = JSON.parse(whole) as Completion;
  exactly(t, choices[0]?.message.audio, { data: '', transcript: '…', id: 'audio_gen-1', expires_at: 3600 });
});

const segment = (text: string): TranscriptSegment => ({ text, start: 0, end: 1 });
const transcript = (text: string): Transcript => ({ text, duration: 2, segments: [] });
const contentOf = (events: readonly AnswerEvent[]): string[] =>
  events.flatMap((event) => (event.kind === 'content' ? [event.text] : []));

t.test('segments are told as soon as they are heard, and add up to the transcript', async (t) => {
  let hear: (segment: TranscriptSegment) => void = () => undefined;
  let end: (transcript: Transcript) => void = () => undefined;
  const events = transcriptionEvents((heard) => {
    hear = heard;
    return new Promise((resolve) => (end = resolve));
  });
  const first = events.next();
  hear(segment('One.'));
  t.strictSame((await first).value, { kind: 'content', text: 'One.' }, 'while the rest is still to come');
  hear(segment(''));
  hear(segment('Two.'));
  hear(segment('Three.'));
  t.strictSame((await events.next()).value, { kind: 'content', text: ' Two.' });
  end(transcript('One. Two. Three.'));
  const rest = await all(events);
  t.strictSame(contentOf(rest), [' Three.']);
  exactly(t, rest.at(-1), { kind: 'usage', usage: { prompt_tokens: 20, completion_tokens: 4 } });
});

t.test('a transcription that tells nothing before its end, or says more in the end', async (t) => {
  t.strictSame(contentOf(await all(transcriptionEvents(async () => transcript('One. Two.')))), ['One. Two.']);
  t.strictSame(contentOf(await all(transcriptionEvents(async () => transcript('')))), []);
  const partly = transcriptionEvents(async (heard) => {
    heard(segment('One.'));
    return transcript('One. Two.');
  });
  t.strictSame(contentOf(await all(partly)), ['One.', ' Two.']);
});

t.test('a transcription that fails: thrown before anything was heard, told afterwards', async (t) => {
  const failure = new ServiceError('engine_failed');
  await rejectsExactly(t, all(transcriptionEvents(() => Promise.reject(failure))), failure);
  const partly = transcriptionEvents(async (heard) => {
    heard(segment('One.'));
    throw failure;
  });
  exactly(t, await partly.next(), { value: { text: 'One.' } });
  await rejectsExactly(t, partly.next(), failure);
});

t.test(
  'a stream that fails: before its first event as an error, later in a chunk, and not to nobody',
  async (t) => {
    const told: ServiceError[] = [];
    const form = {
      speaks: true,
      includeUsage: false,
      failure(error: ServiceError) {
        told.push(error);
        return streamErrorBody(error, defaultVocabulary);
      },
    };
    const event: AnswerEvent = { kind: 'audio', base64: 'AAAAAAAA' };
    const failure = new ServiceError('engine_lost');
    await rejectsExactly(t, all(chatStream(failing(failure), ANSWER, form, NEVER)), failure);
    t.equal(told.length, 0);
    const texts = await all(chatStream(failing(new Error('secret'), event), ANSWER, form, NEVER));
    const last = texts.at(-1) ?? '';
    t.match(last, /"finish_reason":"error"/);
    t.notMatch(last, /secret|\[DONE\]/);
    t.equal(told.length, 1);
    const gone = AbortSignal.abort();
    await rejectsExactly(t, all(chatStream(failing(failure, event), ANSWER, form, gone)), failure);
    t.equal(told.length, 1);
  },
);

t.test('the type of an error in a stream', async (t) => {
  const types: [ServiceError, string | undefined][] = [
    [new ServiceError('engine_lost'), 'provider_unavailable'],
    [new ServiceError('engine_lost', { status: 503 }), 'provider_overloaded'],
    [new ServiceError('engine_busy'), 'provider_overloaded'],
    [new ServiceError('internal'), 'server'],
    [new ServiceError('provider_failed', { status: 504 }), 'timeout'],
    [new ServiceError('provider_failed', { status: 422 }), 'invalid_request'],
    [new ServiceError('overloaded'), undefined],
  ];
  for (const [error, type] of types) {
    const { metadata } = streamErrorBody(error, defaultVocabulary) as { metadata?: { error_type: string } };
    t.equal(metadata?.error_type, type, 'without metadata there is none');
  }
});

t.test('a completion is held whole up to its bound, and sent as it is made beyond it', async (t) => {
  let made = 0;
  async function* endless(): AsyncGenerator<AnswerEvent> {
    for (;;) yield { kind: 'audio', base64: `${(made += 1)}`.padStart(8, 'A') };
  }
  const completion = speechCompletion(endless(), ANSWER, UNBOUNDED_SHARE, 80);
  await completion.next();
  t.equal(made, 11, 'ten blocks are held');
  const held = Array.from({ length: 11 }, () => completion.next());
  t.equal((await Promise.all(held)).length, 11);
  t.equal(made, 11);
  await completion.next();
  t.equal(made, 12, 'one for one from then on');
  await completion.return(undefined);
  const failed = speechCompletion(failing(new ServiceError('engine_lost')), ANSWER, UNBOUNDED_SHARE, 80);
  await rejectsExactly(t, failed.next(), { code: 'engine_lost' }, 'before anything was sent');
});
