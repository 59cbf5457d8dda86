/** Multipart forms, however their bytes arrive, and those that are refused. */
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import { readMultipart } from '../../../../../gateway/server/bodies/multipart.js';

const code = (expected: string) => (error: unknown) =>
  error instanceof ServiceError && error.code === expected;

async function failsWith(t: Test, work: Promise<unknown>, expected: string, name: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  t.ok(code(expected)(error), `${name}: ${expected}, got ${String(error)}`);
}

async function* pieces(body: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

const incoming = (contentType: string | undefined, body: string | Uint8Array, size = 7) => ({
  headers: new Map(contentType === undefined ? [] : [['content-type', contentType]]),
  body: () => pieces(Buffer.from(body), size),
  share: () => UNBOUNDED_SHARE,
});

void t.test('multipart', async (t) => {
  const type = 'multipart/form-data; boundary=BB';
  const field = (name: string, value: string): string =>
    `--BB\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = (name: string, value: string): string =>
    `--BB\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.wav"\r\nContent-Type: audio/wav\r\n\r\n${value}\r\n`;
  const limits = { bodyBytes: 10_000_000, fileBytes: 1000 };
  const read = (body: string, contentType = type, size = 7) =>
    readMultipart(incoming(contentType, body, size), limits);

  for (const size of [1, 7, 64 * 1024]) {
    const orders = {
      'file last': field('a', '1') + field('b', 'x y') + file('f', 'DATA\r\n--B'),
      'file first': file('f', 'DATA\r\n--B') + field('a', '1') + field('b', 'x y'),
    };
    for (const [name, body] of Object.entries(orders)) {
      const form = await read(`${body}--BB--\r\n`, type, size);
      t.strictSame(
        [...form.fields],
        [
          ['a', ['1']],
          ['b', ['x y']],
        ],
        `${name} in pieces of ${size}`,
      );
      const { bytes, ...about } = form.files.get('f') ?? { bytes: new Uint8Array() };
      t.strictSame(about, { filename: 'f.wav', contentType: 'audio/wav' });
      t.equal(Buffer.from(bytes).toString(), 'DATA\r\n--B');
    }
  }
  for (const [mime, isFile] of [
    ['audio/x-wav', true],
    ['Video/mp4', true],
    ['application/octet-stream', true],
    ['text/plain', false],
  ] as const) {
    // oxfmt-ignore
    const part = field('f', 'DATA').replace('"f"\r\n', `"f"\r\nContent-Type: ${mime}\r\n`);
    const { files, fields } = await read(`${part}--BB--`);
    t.equal(files.has('f'), isFile, `${mime} without a filename`);
    t.equal(fields.has('f'), !isFile);
  }
  const repeated = await read(`${field('a', '1')}${field('a', 'ü')}--BB--`);
  t.strictSame(repeated.fields.get('a'), ['1', 'ü'], 'all values of a repeated field');
  t.equal(
    (await read(`${file('f', 'x'.repeat(1000))}--BB--`)).files.get('f')?.bytes.length,
    1000,
    'a file of the limit',
  );

  const many = Array.from({ length: 65 }, (_, index) => field(`f${index}`, '1')).join('');
  const hostile: readonly [string, () => Promise<unknown>, string][] = [
    ['no boundary', () => read(`${field('a', '1')}--BB--`, 'multipart/form-data'), 'malformed_body'],
    ['another type', () => read('a=1', 'application/x-www-form-urlencoded'), 'unsupported_media_type'],
    ['truncated in a file', () => read(file('f', 'DATA').slice(0, -4)), 'malformed_body'],
    ['truncated in a field', () => read(field('a', '1234567')), 'malformed_body'],
    ['truncated in a head', () => read('--BB\r\nContent-Dispo'), 'malformed_body'],
    ['nothing', () => read(''), 'malformed_body'],
    ['no part at all', () => read('hello'), 'malformed_body'],
    ['too many fields', () => read(`${many}--BB--`), 'malformed_body'],
    [
      'too many files',
      () => read(`${['1', '2', '3', '4', '5'].map((n) => file(n, n)).join('')}--BB--`),
      'malformed_body',
    ],
    ['a file beyond the limit', () => read(`${file('f', 'x'.repeat(1001))}--BB--`), 'audio_too_large'],
    [
      'a field beyond the limit',
      () => read(`${field('a', 'x'.repeat(1_048_577))}--BB--`, type, 65_536),
      'payload_too_large',
    ],
    [
      'a field without a name',
      () => read('--BB\r\nContent-Disposition: form-data\r\n\r\n1\r\n--BB--'),
      'malformed_body',
    ],
  ];
  for (const [name, work, expected] of hostile) await failsWith(t, work(), expected, name);
});
