/**
 * Frames of protocol B's speech sockets: the times of characters, with sync_alignment and without, and how long audio
 * is held for them.
 */
import t from '../../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import type { SpokenPiece, TimedAudio } from '../../../../../../contracts/ports/speech/speech.js';
import { AudioFrames } from '../../../../../../gateway/dialects/protocol-b/sockets/audio-frames.js';
import { frameStream } from '../../../../../../gateway/dialects/protocol-b/sockets/frame-stream.js';
import { ContextFrames } from '../../../../../../gateway/dialects/protocol-b/sockets/server-frames.js';
import { SimulatedClock } from '../../../../../fixtures/clock.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import type { Alignment, SpeechFrame } from '../../../../../fixtures/protocol-b/speech-socket.js';

/** A piece: its length, and its state after `duration` seconds of its audio; a word lasts `WORD` seconds, the rest is silence. */
function pieceOf(text: string, at: number, index: number, offset: number, named = true) {
  const names = [...text.matchAll(/\S+/gu)].map(([name]) => name);
  const WORD = 0.25;
  const words = names.map((name, place) => ({ text: name, start: place * WORD, end: (place + 1) * WORD }));
  const length = names.length * WORD + 0.2;
  const made = (duration: number, complete = duration >= length): SpokenPiece => ({
    index,
    text,
    at,
    offset,
    duration: Math.min(duration, length),
    complete,
    words: named ? words : words.filter(({ start }) => start < duration),
  });
  return { length, made };
}

const CHUNK = 0.1;

interface Telling {
  readonly sync: boolean;
  /** Whether the engine reports all words before it has made their audio. */
  readonly named: boolean;
  /** Seconds by which the made audio is ahead of the sent audio. */
  readonly ahead: number;
}

/** The frames of a text, from pieces as the pipeline yields them. */
function told(pieces: readonly string[], { sync, named, ahead }: Telling): SpeechFrame[] {
  const frames = new AudioFrames(new ContextFrames(undefined), sync);
  const out: string[] = [];
  let at = 0;
  let offset = 0;
  pieces.forEach((spoken, index) => {
    frames.add(spoken);
    const text = spoken.trim();
    const piece = pieceOf(text, at + spoken.indexOf(text), index, offset, named);
    for (let heard = 0; heard < piece.length; heard += CHUNK) {
      const end = Math.min(piece.length, heard + CHUNK);
      const chunk = { audio: new Uint8Array(10), piece: piece.made(end + ahead), end: offset + end };
      out.push(...frames.push(chunk));
    }
    out.push(...frames.push({ audio: new Uint8Array(0), piece: piece.made(99), end: offset + piece.length }));
    at += spoken.length;
    offset += piece.length;
  });
  out.push(...frames.finish());
  return out.map((frame) => JSON.parse(frame) as SpeechFrame);
}

const alignmentsOf = (frames: readonly SpeechFrame[]): Alignment[] =>
  frames.flatMap(({ alignment }) => alignment ?? []);

const PIECES = ['Hello there, ', 'dear 🙂 world.  ', 'no no no ', 'Fin.'];
const TELLINGS: Telling[] = [true, false].flatMap((sync) =>
  [true, false].flatMap((named) => [0, 0.35, 9].map((ahead) => ({ sync, named, ahead }))),
);

t.test('each character is told once, in the order of the text, with times that never go back', async (t) => {
  for (const telling of TELLINGS) {
    const alignments = alignmentsOf(told(PIECES, telling));
    const label = JSON.stringify(telling);
    t.equal(alignments.flatMap(({ chars }) => chars).join(''), PIECES.join(''), label);
    let base = 0;
    let last = 0;
    for (const { chars, charStartTimesMs: starts, charDurationsMs: durations } of alignments) {
      t.equal(starts.length, chars.length);
      t.equal(durations.length, chars.length);
      chars.forEach((_, index) => {
        const start = base + (starts[index] ?? NaN);
        if (!(Number.isInteger(start) && start >= last)) t.fail(`${label}: ${start} after ${last}`);
        last = start + (durations[index] ?? NaN);
      });
      if (!telling.sync) base = last;
    }
    const whole = PIECES.reduce((sum, piece) => sum + pieceOf(piece, 0, 0, 0).length, 0);
    t.ok(
      Math.abs(last - whole * 1000) <= 2,
      `${label}: laid end to end they last as long as the audio: ${last}`,
    );
  }
});

t.test(
  'without sync_alignment the first frame of each generation tells all of it, the others nothing',
  async (t) => {
    const frames = told(PIECES, { sync: false, named: false, ahead: 0 });
    const telling = frames.filter(({ alignment }) => alignment);
    t.strictSame(
      telling.map(({ alignment }) => alignment?.chars.join('')),
      PIECES,
    );
    t.ok(telling.every(({ alignment }) => alignment?.charStartTimesMs[0] === 0));
    t.strictSame(frames[0], telling[0], 'the first frame is one of them');
    t.ok(frames.every(({ audio }) => audio !== ''));
    t.strictSame(frames[0]?.normalizedAlignment, frames[0]?.alignment);
  },
);

t.test('with sync_alignment every frame tells the characters that begin in it, absolutely', async (t) => {
  const frames = told(PIECES, { sync: true, named: true, ahead: 9 });
  let end = 0;
  for (const { alignment } of frames) {
    t.ok(alignment);
    end += CHUNK * 1000;
    for (const start of alignment?.charStartTimesMs ?? []) {
      if (start > end + 150 || start < end - 450) t.fail(`${start} is not in the frame that ends at ${end}`);
    }
  }
});

t.test('an engine without timing has no alignment, and its audio is not held', async (t) => {
  for (const sync of [true, false]) {
    const frames = new AudioFrames(new ContextFrames('c'), sync);
    frames.add('Hello there. ');
    const piece = { index: 0, text: 'Hello there.', at: 0, offset: 0, duration: 0.1, complete: false };
    const chunk = { audio: new Uint8Array(9), piece: { ...piece, words: undefined }, end: 0.1 };
    const [frame] = [...frames.push(chunk)].map((text) => JSON.parse(text) as SpeechFrame);
    exactly(t, frame, { audio: String, alignment: null, normalizedAlignment: null, contextId: 'c' });
    t.strictSame([...frames.finish()], []);
  }
});

t.test('audio frames hold at most 64 KiB of base64, and no sample is cut', async (t) => {
  for (const sync of [true, false]) {
    const frames = new AudioFrames(new ContextFrames(undefined), sync);
    const audio = Uint8Array.from({ length: 500_001 }, (_, index) => index % 251);
    const piece = pieceOf('Hello there.', 0, 0, 0).made(99);
    frames.add('Hello there.');
    const sent = [...frames.push({ audio, piece, end: 0.7 }), ...frames.finish()];
    const chunks = sent.map((frame) => (JSON.parse(frame) as SpeechFrame).audio ?? '');
    t.ok(chunks.length > 10 && chunks.every((chunk) => chunk.length <= LIMITS.streamInput.audioFrameBytes));
    t.ok(chunks.every((chunk) => !chunk.slice(0, -4).includes('=')));
    t.same(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk, 'base64'))), Buffer.from(audio));
    const characters = sent.flatMap((frame) => (JSON.parse(frame) as SpeechFrame).alignment?.chars ?? []);
    t.equal(characters.join(''), 'Hello there.');
  }
});

/** Audio that arrives when the test says so. */
function paced() {
  const queue: TimedAudio[] = [];
  let wake = (): void => undefined;
  let left = false;
  async function* chunks(): AsyncGenerator<TimedAudio> {
    try {
      for (;;) {
        const next = queue.shift();
        if (next) yield next;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      left = true;
    }
  }
  const give = (chunk: TimedAudio): void => {
    queue.push(chunk);
    wake();
  };
  return { chunks: chunks(), give, isLeft: () => left };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

t.test('audio is held until its characters are known, and no longer than it keeps coming', async (t) => {
  const cases = [
    { named: true, patience: 30, text: 'Hello there.' },
    { named: false, patience: 250, text: '' },
  ];
  for (const { named, patience, text } of cases) {
    const clock = new SimulatedClock();
    const frames = new AudioFrames(new ContextFrames(undefined), false);
    frames.add('Hello there.');
    const { chunks, give } = paced();
    const piece = pieceOf('Hello there.', 0, 0, 0, named);
    const out: SpeechFrame[] = [];
    const stream = frameStream(chunks, frames, clock);
    void (async () => {
      for await (const frame of stream) out.push(JSON.parse(frame) as SpeechFrame);
    })();
    give({ audio: new Uint8Array(9), piece: piece.made(0.1), end: 0.1 });
    await turns();
    clock.advance(patience - 1);
    await turns();
    t.equal(out.length, 0, 'held');
    clock.advance(1);
    await turns();
    t.equal(out.length, 1, 'let go');
    t.equal(out[0]?.alignment?.chars.join('') ?? '', text, 'with what is known');
    t.equal(clock.pending, 0);
    give({ audio: new Uint8Array(9), piece: piece.made(99), end: 0.2 });
    await turns();
    t.equal(out.length, 2, 'a piece that was let go is not held again');
    t.equal(
      alignmentsOf(out)
        .flatMap(({ chars }) => chars)
        .join(''),
      'Hello there.',
    );
  }
});

t.test('with sync_alignment a chunk waits for the next one, not for its piece', async (t) => {
  const frames = new AudioFrames(new ContextFrames(undefined), true);
  frames.add('Hello there.');
  const piece = pieceOf('Hello there.', 0, 0, 0, false);
  const sent = [1, 2, 3, 4].map((chunk) => {
    const end = chunk * CHUNK;
    return [...frames.push({ audio: Uint8Array.of(chunk), piece: piece.made(end), end })].length;
  });
  t.strictSame(sent, [0, 1, 1, 1]);
});

t.test('held audio is let go when it outgrows its budget', async (t) => {
  const frames = new AudioFrames(new ContextFrames(undefined), false);
  const piece = pieceOf('Hello there.', 0, 0, 0, false);
  let sent = 0;
  for (let chunk = 0; chunk < 20 && sent === 0; chunk++) {
    sent += [...frames.push({ audio: new Uint8Array(100_000), piece: piece.made(0.1), end: chunk })].length;
    t.ok(chunk < 11, 'let go after about 1 MiB');
  }
});

t.test('a reader that leaves ends the audio that it read', async (t) => {
  const clock = new SimulatedClock();
  const frames = new AudioFrames(new ContextFrames(undefined), false);
  const { chunks, give, isLeft } = paced();
  const stream = frameStream(chunks, frames, clock);
  give({ audio: new Uint8Array(9), piece: pieceOf('Hello there.', 0, 0, 0).made(99), end: 0.1 });
  await stream.next();
  await stream.return(undefined);
  await turns();
  t.ok(isLeft());
});
