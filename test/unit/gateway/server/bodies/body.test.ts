/** Bodies that are documents: content types, and bounds before they are parsed. */
import { encode } from '@msgpack/msgpack';
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import { mediaType, parseJson, parseMsgpack, readJson } from '../../../../../gateway/server/bodies/body.js';
import { throwsExactly } from '../../../../fixtures/exactly.js';

const code = (expected: string) => (error: unknown) =>
  error instanceof ServiceError && error.code === expected;

async function failsWith(t: Test, work: Promise<unknown>, expected: string, name: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  t.ok(code(expected)(error), `${name}: ${expected}, got ${String(error)}`);
}

const MiB = 2 ** 20;

void t.test('documents are bounded before they are parsed', async (t) => {
  const bytes = (text: string): Uint8Array => Buffer.from(text);
  t.strictSame(parseJson(bytes('{"a":"\\"[[[[\\\\","b":[1,{"c":null}]}')), {
    a: '"[[[[\\',
    b: [1, { c: null }],
  });
  const hostileJson = {
    'too deep': '['.repeat(100_000),
    'too many values': `[${'0,'.repeat(200_000)}0]`,
    'too many objects': `[${'{},'.repeat(200_000)}{}]`,
    'too many blanks': `${' '.repeat(5 * MiB)}{}`,
    'too long a number': `[${'1'.repeat(5 * MiB)}]`,
    'not JSON': '{a:1}',
    'no value': '',
    'an open string': '{"a',
  };
  for (const [name, text] of Object.entries(hostileJson)) {
    throwsExactly(t, () => parseJson(bytes(text)), { code: 'malformed_body' }, name);
  }
  throwsExactly(t, () => parseJson(Uint8Array.of(0x22, 0xff, 0x22)), { code: 'malformed_body' }, 'not UTF-8');
  const long = 'a'.repeat(5 * MiB);
  t.strictSame(parseJson(bytes(`${' '.repeat(3 * MiB)}["${long}"]`)), [long], 'strings are not counted');

  const value = {
    text: 'hi',
    n: [1, -1, 1.5, 300, 70_000, 2 ** 40],
    audio: new Uint8Array(70_000),
    deep: { a: [true, null] },
  };
  t.strictSame(parseMsgpack(encode(value)), value);
  const hostileMsgpack = {
    'a list of billions': Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff),
    'lists in lists': new Uint8Array(100_000).fill(0x91),
    'nested large lists': new Uint8Array(90_000).fill(0xdc),
    'a truncated string': Uint8Array.of(0xdb, 0, 0, 1, 0, 0x61),
    'a truncated head': Uint8Array.of(0xdd, 0),
    'an unused type': Uint8Array.of(0xc1),
    'bytes left over': Uint8Array.of(0x01, 0x02),
    nothing: new Uint8Array(0),
  };
  for (const [name, body] of Object.entries(hostileMsgpack)) {
    throwsExactly(t, () => parseMsgpack(body), { code: 'malformed_body' }, name);
  }
});

async function* pieces(body: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

const incoming = (contentType: string | undefined, body: string | Uint8Array, size = 7) => ({
  headers: new Map(contentType === undefined ? [] : [['content-type', contentType]]),
  body: () => pieces(Buffer.from(body), size),
  share: () => UNBOUNDED_SHARE,
});

void t.test('content types', async (t) => {
  t.equal(mediaType(new Map([['content-type', 'Application/JSON; charset=utf-8']])), 'application/json');
  for (const type of ['application/json', 'application/problem+json; a=b', undefined]) {
    t.strictSame(await readJson(incoming(type, '{"a":1}'), 100), { a: 1 }, String(type));
  }
  await failsWith(t, readJson(incoming('text/plain', '{}'), 100), 'unsupported_media_type', 'text/plain');
});
