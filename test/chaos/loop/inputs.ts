/** The worst inputs of one kind of body: by size, nesting, number of nodes, and alphabet. */
import { encode } from '@msgpack/msgpack';

const MiB = 1024 * 1024;

/** A request's body, and its query with its `?`. */
export interface Input {
  readonly name: string;
  readonly query?: string;
  readonly type: string;
  readonly body: () => Buffer;
}

/** What a text is made of, again and again. */
export const ALPHABETS: Readonly<Record<string, string>> = {
  letters: 'a',
  words: 'Hello there, world. ',
  cyrillic: 'привет ',
  'one cyrillic word': 'п',
  han: '語',
  emoji: '😀',
  'combining marks': 'e\u0301',
  blanks: ' ',
  'line ends': '\n',
  digits: '7',
  stops: '.',
  quotes: '"',
  'open tags': '<',
  brackets: '[happy',
};

/** A text of so many bytes in UTF-8, less one repetition at most; its first letter is another. */
function textOf(alphabet: string, bytes: number): string {
  const piece = ALPHABETS[alphabet] ?? alphabet;
  return `п${piece.repeat(Math.floor((bytes - 2) / Buffer.byteLength(piece)))}`;
}

const filled = (before: string, piece: string, bytes: number, after: string): Buffer => {
  const count = Math.max(0, Math.floor((bytes - before.length - after.length) / Buffer.byteLength(piece)));
  const whole = Buffer.alloc(
    Buffer.byteLength(before) + count * Buffer.byteLength(piece) + after.length,
    piece,
  );
  // `alloc` fills from the start: the head is put over whole repetitions.
  whole.fill(piece, before.length, whole.length - after.length);
  whole.write(before);
  whole.write(after, whole.length - after.length);
  return whole;
};

/** JSON whose structure is the worst: nodes, depth, blanks, numbers, escapes, short strings. */
export const structures = (bytes: number): readonly Input[] =>
  (
    [
      ['empty lists', () => filled('[', '[],', Math.min(bytes, 400_000), '0]')],
      ['depth', () => Buffer.from('['.repeat(64) + ']'.repeat(64))],
      ['too deep', () => filled('', '[', bytes, '')],
      ['blanks', () => filled('[', ' ', bytes, ']')],
      ['one number', () => filled('[', '7', bytes, ']')],
      ['escaped quotes', () => filled('["', '\\"', bytes, '"]')],
      ['backslashes', () => filled('["', '\\\\', bytes, '"]')],
      [
        'short strings',
        () => filled('[', `"${'a'.repeat(Math.max(1, Math.ceil(bytes / 90_000)))}",`, bytes, '0]'),
      ],
      ['strings of 60 KiB', () => filled('[', `"${'a'.repeat(60 * 1024)}",`, bytes, '0]')],
      ['one string', () => filled('["', 'a', bytes, '"]')],
    ] as const
  ).map(([name, body]) => ({ name, type: 'application/json', body }));

/** JSON with one long text in `field` beside the other members; `alphabets`: all by default. */
export const texts = (
  field: string,
  members: object,
  bytes: number,
  alphabets: readonly string[] = Object.keys(ALPHABETS),
): readonly Input[] =>
  alphabets.map((alphabet) => ({
    name: `text of ${alphabet}`,
    type: 'application/json',
    body: () =>
      Buffer.from(
        JSON.stringify({
          ...members,
          [field]: textOf(
            alphabet,
            bytes / (alphabet === 'quotes' ? 2 : alphabet === 'line ends' ? 2 : 1) - 1000,
          ),
        }),
      ),
  }));

export const msgpackTexts = (members: object, bytes: number): readonly Input[] =>
  ['letters', 'han', 'cyrillic'].map((alphabet) => ({
    name: `MessagePack, text of ${alphabet}`,
    type: 'application/msgpack',
    body: () => Buffer.from(encode({ ...members, text: textOf(alphabet, bytes - 1000) })),
  }));

export const msgpackStructures = (bytes: number): readonly Input[] => [
  {
    name: 'MessagePack, short strings',
    type: 'application/msgpack',
    body: () =>
      Buffer.from(encode(Array.from({ length: 90_000 }, () => 'a'.repeat(Math.floor(bytes / 90_000) - 10)))),
  },
  {
    name: 'MessagePack, empty lists',
    type: 'application/msgpack',
    body: () => Buffer.from(encode(Array.from({ length: 99_000 }, () => []))),
  },
];

const PART = (name: string): string => `--b\r\nContent-Disposition: form-data; name="${name}"`;

/** Forms: a long file, a long field, many fields. */
export const forms = (bytes: number): readonly Input[] =>
  (
    [
      ['a long file', () => filled(`${PART('file')}; filename="a.wav"\r\n\r\n`, 'a', bytes, '\r\n--b--\r\n')],
      [
        'line ends in a file',
        () => filled(`${PART('file')}; filename="a.wav"\r\n\r\n`, '\r\n', bytes, '\r\n--b--\r\n'),
      ],
      [
        'half boundaries in a file',
        () => filled(`${PART('file')}; filename="a.wav"\r\n\r\n`, '\r\n--', bytes, '\r\n--b--\r\n'),
      ],
      ['headers of a part', () => Buffer.from(`--b\r\n${'x: y\r\n'.repeat(bytes / 8)}\r\n\r\n--b--\r\n`)],
      [
        'one long header',
        () => filled('--b\r\nContent-Disposition: form-data; name="', 'a', bytes, '"\r\n\r\n--b--\r\n'),
      ],
      ['boundaries', () => filled('--b\r\n', '\r\n--b\r\n', bytes, '--b--\r\n')],
      ['thousands of fields', () => filled('', `${PART('f')}\r\n\r\na\r\n`, bytes, '--b--\r\n')],
      [
        'fields',
        () =>
          Buffer.from(
            Array.from({ length: 60 }, (_, at) => `${PART(`f${at}`)}\r\n\r\n${'п'.repeat(500_000)}\r\n`).join(
              '',
            ) + '--b--\r\n',
          ),
      ],
    ] as const
  ).map(([name, body]) => ({ name: `form, ${name}`, type: 'multipart/form-data; boundary=b', body }));

/** Most bytes of a query: the rest of a head's 64 KiB is for its headers, and some stacks take less. */
const QUERY_BYTES = 12_000;

/** Queries: many fields, long ones, escapes, numbers. */
export const queries = (): readonly Input[] =>
  (
    [
      ['fields', 'a&'],
      ['escapes', '%D0%BF'],
      ['page_size=', '9'],
      ['cursor=', 'A'],
      ['search=', '%'],
    ] as const
  ).map(([head, piece]) => ({
    name: `query of ${head}${piece}`,
    type: 'text/plain',
    query: `?${head === 'fields' || head === 'escapes' ? '' : head}${piece.repeat(QUERY_BYTES / piece.length)}`,
    body: () => Buffer.alloc(0),
  }));

export const SMALL = 64 * 1024;
export const megabytes = (count: number): number => count * MiB - 2000;
