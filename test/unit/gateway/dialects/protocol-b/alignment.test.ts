/** Protocol B's times of characters, without a server: of one piece, of a whole text, and their form on the wire. */
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import type { SpokenPiece, TimedAudio } from '../../../../../contracts/ports/speech/speech.js';
import { characterTimes } from '../../../../../gateway/dialects/protocol-b/alignment.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { timedDocument, timedLines } from '../../../../../gateway/dialects/protocol-b/timed-speech.js';
import { exactly, rejectsExactly } from '../../../../fixtures/exactly.js';
import { pick, seeded } from '../../../../fixtures/random.js';

const piece = (
  text: string,
  words: [string, number, number][] | undefined,
  over: Partial<SpokenPiece> = {},
) => ({
  index: 0,
  text,
  at: 0,
  offset: 0,
  duration: 2,
  complete: true,
  words: words?.map(([word, start, end]) => ({ text: word, start, end })),
  ...over,
});

t.test(
  'alignment: a word’s characters share its time, the gaps theirs, the last one ends with the audio',
  async (t) => {
    const times = characterTimes(
      piece('Hi, you', [
        ['Hi,', 0.2, 0.8],
        ['you', 1, 1.6],
      ]),
    );
    t.strictSame(times?.chars, ['H', 'i', ',', ' ', 'y', 'o', 'u']);
    const rounded = (values: readonly number[] = []) => values.map((value) => Number(value.toFixed(3)));
    t.strictSame(rounded(times?.starts), [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4]);
    t.strictSame(rounded(times?.ends), [0.4, 0.6, 0.8, 1, 1.2, 1.4, 2]);
    t.equal(characterTimes(piece('Hi', undefined)), undefined, 'no timing, no times');
  },
);

t.test('alignment: tags, words that are not in the text, and characters of two units', async (t) => {
  const tagged = characterTimes(
    piece('Go (laugh)! 😀 on', [
      ['Go!', 0, 0.5],
      ['never', 0.6, 0.7],
      ['on', 1, 1.5],
    ]),
  );
  t.equal(tagged?.chars.join(''), 'Go (laugh)! 😀 on');
  t.ok(tagged?.chars.includes('😀'));
  t.equal(tagged?.starts[0], 0);
  t.equal(tagged?.starts[tagged.chars.length - 2], 1, 'what follows is not shifted');
  const silent = characterTimes(piece('…', [], { duration: 0 }));
  t.strictSame(silent, { chars: ['…'], starts: [0], ends: [0] });
});

t.test(
  'alignment: what is told of an incomplete piece is the beginning of what is told at the end',
  async (t) => {
    const words: [string, number, number][] = [
      ['One', 0.1, 0.4],
      ['two', 0.5, 0.9],
      ['three.', 1, 1.8],
    ];
    const whole = characterTimes(piece('One two three.', words));
    let told = 0;
    for (const [known, duration] of [
      [1, 0.3],
      [2, 0.6],
      [3, 1.1],
      [3, 2],
    ] as const) {
      const times = characterTimes(
        piece('One two three.', words.slice(0, known), { complete: false, duration }),
      );
      const count = times?.chars.length ?? 0;
      t.ok(count >= told);
      told = count;
      t.strictSame(times?.chars, whole?.chars.slice(0, count));
      t.strictSame(times?.ends, whole?.ends.slice(0, count));
    }
    t.equal(told, 'One two '.length, 'all but the last word');
  },
);

/** Whether the times make sense: they never decrease, and no character ends before it starts. */
function isSound({ starts, ends }: { starts: readonly number[]; ends: readonly number[] }): boolean {
  return starts.every((start, at) => start <= ends[at]! && start >= (ends[at - 1] ?? 0));
}

t.test('alignment: any words over any text cover it and never go back', async (t) => {
  const random = seeded(5);
  const TOKENS: [string, ...string[]] = [
    'a',
    'to',
    'word',
    'don’t',
    '1984',
    '(laugh)',
    '...',
    '—',
    '😀',
    '日本',
    '  ',
    '\n',
    '"Yes!"',
  ];
  for (let round = 0; round < 2000; round++) {
    const tokens = Array.from({ length: Math.floor(random() * 12) }, () => pick(random, TOKENS));
    const text = tokens.join(pick(random, [' ', '', ', ']));
    const words = tokens
      .filter(() => random() < 0.8)
      .map((token): [string, number, number] => [random() < 0.9 ? token : 'else', random() * 3, random() * 3])
      .sort(([, a], [, b]) => a - b);
    const times = characterTimes(piece(text, words));
    const whole = times?.chars.join('') === text;
    const sound = !times?.chars.length || (isSound(times) && times.ends.at(-1) === 2);
    if (!whole || !sound) t.fail(JSON.stringify({ text, words, times }));
  }
});

interface Line {
  readonly audio_base64: string;
  readonly alignment: { readonly characters: string[] } & Record<string, number[]>;
}

async function* heard(
  pieces: readonly (SpokenPiece & { readonly bytes: number })[],
): AsyncGenerator<TimedAudio> {
  for (const { bytes, ...spoken } of pieces) {
    yield { audio: Buffer.alloc(bytes, 7), piece: spoken, end: spoken.offset + spoken.duration };
  }
}

async function written(texts: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const text of texts) all += text;
  return all;
}

const failure = ({ code }: ServiceError) => ({ detail: { code } });
const streamed = (text: string, audio: AsyncIterable<TimedAudio>, signal = new AbortController().signal) =>
  timedLines(text, audio, failure, signal);

const BLANKS = ' '.repeat(10_000);
const TEXT = `\n ${BLANKS}One.${BLANKS}Two. `;
const PIECES = [
  { ...piece('One.', [['One.', 0.5, 1]], { at: 10_002, complete: false, duration: 1 }), bytes: 100_001 },
  { ...piece('One.', [['One.', 0.5, 1]], { at: 10_002 }), bytes: 1 },
  { ...piece('Two.', [['Two.', 0.5, 1]], { at: 20_006, index: 1, offset: 2 }), bytes: 0 },
];

t.test('NDJSON: lines end in newlines, hold 32 KiB of audio at most and all text together', async (t) => {
  const stream = await written(streamed(TEXT, heard(PIECES)));
  t.ok(stream.endsWith('\n'));
  const lines = stream.slice(0, -1).split('\n');
  for (const line of lines) t.ok(line.length < 96 * 1024, `${line.length} characters`);
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  const audio = parsed.map(({ audio_base64: base64 }) => Buffer.from(base64, 'base64'));
  t.ok(audio.every(({ length }) => length <= 32 * 1024));
  t.equal(Buffer.concat(audio).length, 100_002);
  const aligned = parsed.flatMap(({ alignment }) => alignment ?? []);
  t.equal(aligned.flatMap(({ characters }) => characters).join(''), TEXT);
  const starts = aligned.flatMap((times) => times['character_start_times_seconds']!);
  const ends = aligned.flatMap((times) => times['character_end_times_seconds']!);
  t.ok(isSound({ starts, ends }));
  t.equal(ends.at(-1), 4);
});

t.test('one document: the same audio and the same alignment, in one object', async (t) => {
  const document = JSON.parse(await written(timedDocument(TEXT, heard(PIECES)))) as Line & {
    normalized_alignment: unknown;
  };
  t.strictSame(Buffer.from(document.audio_base64, 'base64'), Buffer.alloc(100_002, 7));
  t.equal(document.alignment.characters.join(''), TEXT);
  t.equal(document.alignment['character_end_times_seconds']?.at(-1), 4);
  t.strictSame(document.normalized_alignment, document.alignment);
  const untimed = [{ ...piece('One.', undefined), bytes: 4 }];
  const plain = await written(timedDocument('One.', heard(untimed)));
  t.strictSame(JSON.parse(plain), { audio_base64: 'BwcHBw==', alignment: null, normalized_alignment: null });
  const nothing = await written(
    timedDocument('…', heard([{ ...piece('…', [], { duration: 0 }), bytes: 0 }])),
  );
  exactly(t, JSON.parse(nothing), { audio_base64: '', alignment: { characters: ['…'] } });
});

t.test('nothing is written before the first audio, and a failure is thrown', async (t) => {
  const failing: AsyncIterable<TimedAudio> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new ServiceError('voice_not_found')) }),
  };
  for (const write of [streamed, timedDocument])
    await rejectsExactly(t, write('a', failing).next(), { code: 'voice_not_found' });
});

async function* breaking(): AsyncGenerator<TimedAudio> {
  yield* heard(PIECES);
  throw new ServiceError('engine_lost');
}

t.test('a failure in the middle is the last line; an object is not begun before it is whole', async (t) => {
  const stream = await written(streamed(TEXT, breaking()));
  const last = stream.trimEnd().split('\n').at(-1);
  t.same(JSON.parse(last ?? 'null'), { detail: { code: 'engine_lost' } });
  t.ok(stream.endsWith('\n'));
  await rejectsExactly(
    t,
    written(streamed(TEXT, breaking(), AbortSignal.abort())),
    { code: 'engine_lost' },
    'who has left',
  );
  await rejectsExactly(t, timedDocument(TEXT, breaking()).next(), { code: 'engine_lost' });
  await rejectsExactly(t, timedDocument(TEXT, heard(PIECES), UNBOUNDED_SHARE, 1000).next(), {
    code: 'payload_too_large',
    status: 413,
  });
});
