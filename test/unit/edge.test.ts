/** The parts of the edge that need no socket. */
import { encode } from '@msgpack/msgpack';
import t, { type Test } from 'tap';
import { UNBOUNDED_SHARE } from '../../contracts/ports/accounts/memory.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Role } from '../../contracts/permissions.js';
import { authenticate, bearerToken } from '../../gateway/server/auth.js';
import { mediaType, parseJson, parseMsgpack, readJson } from '../../gateway/server/bodies/body.js';
import { Origins } from '../../gateway/server/client-address.js';
import { corsHeaders, preflightHeaders } from '../../gateway/server/cors.js';
import { readMultipart } from '../../gateway/server/bodies/multipart.js';
import { measureLoopDelay } from '../../gateway/server/load.js';
import { describeInterface } from '../../gateway/server/openapi/openapi.js';
import { parametersOf, Router } from '../../gateway/server/router.js';
import { formatEvent } from '../../gateway/server/sse.js';
import { dialect, get, json, post } from '../fixtures/edge.js';

const ok = async (): Promise<ReturnType<typeof json>> => json(200, {});
const fallback = dialect('fallback', [], []);

const code = (expected: string) => (error: unknown) =>
  error instanceof ServiceError && error.code === expected;

async function failsWith(t: Test, work: Promise<unknown>, expected: string, name: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  t.ok(code(expected)(error), `${name}: ${expected}, got ${String(error)}`);
}

function find(router: Router, method: string, path: string): { pattern: string; params: object } | undefined {
  const match = router.find(method, path);
  return (
    match.endpoint && { pattern: match.endpoint.pattern, params: parametersOf(match.endpoint, match.values) }
  );
}

/** Keeps the event loop for 30 ms a turn, for four turns. */
async function keepLoopBusy(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) {
    const until = performance.now() + 30;
    while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

void t.test('the delay of an event loop is measured once it is busy', async (t) => {
  const delay = measureLoopDelay();
  t.teardown(() => delay.stop());
  t.equal(delay.sample(), 0);
  await keepLoopBusy();
  delay.sample();
  await keepLoopBusy();
  t.ok(delay.sample() >= 15);
});

void t.test('routes', async (t) => {
  const router = new Router(
    [
      dialect(
        'a',
        ['/a'],
        [
          get('/a/{id}', ok),
          get('/a/fixed', ok),
          post('/a/fixed', ok),
          get('/a/{id}/tail', ok),
          get('/a/both/{x}', ok),
          post('/v/{voice?}/stream', ok),
          post('/v/{voice?}', ok),
          get('/slash/', ok),
        ],
      ),
      dialect('ab', ['/a/b', '/compat'], []),
    ],
    fallback,
  );

  const found: readonly [string, string, string | undefined, object?][] = [
    ['GET', '/a/fixed', '/a/fixed', {}],
    ['GET', '/a/x', '/a/{id}', { id: 'x' }],
    ['GET', '/a/x%2Fy', '/a/{id}', { id: 'x/y' }],
    ['GET', '/a/fixed/tail', '/a/{id}/tail', { id: 'fixed' }],
    ['GET', '/a/both/tail', '/a/both/{x}', { x: 'tail' }],
    ['GET', '/a/', undefined],
    ['GET', '/a', undefined],
    ['GET', '/a/x/', undefined],
    ['GET', '//a/x', undefined],
    ['POST', '/v//stream', '/v/{voice?}/stream', { voice: '' }],
    ['POST', '/v/1/stream', '/v/{voice?}/stream', { voice: '1' }],
    ['POST', '/v/stream', '/v/{voice?}', { voice: 'stream' }],
    ['POST', '/v/', '/v/{voice?}', { voice: '' }],
    ['POST', '/v', '/v/{voice?}', { voice: '' }],
    ['POST', '/v//', undefined],
    ['GET', '/slash/', '/slash/', {}],
    ['GET', '/slash', undefined],
    ['GET', `/${'/'.repeat(60_000)}`, undefined],
  ];
  for (const [method, path, pattern, params] of found) {
    const name = `${method} ${path.slice(0, 40)}`;
    t.strictSame(find(router, method, path), pattern && { pattern, params }, name);
  }

  t.test('a slash or a /v1 too many: no route, but the one that was meant, and its dialect', async (t) => {
    const versioned = new Router([dialect('a', ['/v1/a'], [get('/v1/a/{id}', ok)])], fallback);
    for (const path of ['/v1//a/x', '//v1/a/x', '/v1/v1/a/x', '/v1/v1//a///x', '/v1/v1/v1/a/x']) {
      const {
        endpoint,
        dialect: asked,
        meant,
      } = versioned.find('GET', path) as {
        endpoint?: object;
        dialect?: { name: string };
        meant?: string;
      };
      t.strictSame([endpoint, asked?.name, meant], [undefined, 'a', '/v1/a/{id}'], path);
    }
    for (const path of ['/v1/v1x/a/x', '/v1/v1/b', '//', `/${'/'.repeat(60_000)}`])
      t.notOk('meant' in versioned.find('GET', path), path.slice(0, 40));
  });
  t.test('a path that only another method answers says which', async (t) => {
    const match = router.find('DELETE', '/a/fixed');
    t.strictSame(match.endpoint ? [] : [...match.allowed].sort(), ['GET', 'POST']);
  });
  t.test('the longest prefix owns what matches nothing', async (t) => {
    t.equal(router.dialectOf('/a/zzz').name, 'a');
    t.equal(router.dialectOf('/a/b/c').name, 'ab');
    t.equal(router.dialectOf('/a/bc').name, 'a');
    t.equal(router.dialectOf('/elsewhere').name, 'fallback');
  });
  t.test('bad percent-encoding is the client’s error', async (t) => {
    t.throws(() => find(router, 'GET', '/a/%zz'), { code: 'invalid_request', param: 'id' });
  });
  t.test('two routes for the same request are refused at start', async (t) => {
    const twice = dialect('x', [], [get('/a/{x}', ok), get('/a/{y}', ok)]);
    t.throws(() => new Router([twice], fallback), /GET \/a\/\{y\}/);
  });
});

void t.test('client addresses', async (t) => {
  const headers = (xff?: string, extra: Record<string, string> = {}): Map<string, string> =>
    new Map(
      Object.entries({ host: 'own:1', ...(xff === undefined ? {} : { 'x-forwarded-for': xff }), ...extra }),
    );
  const trusting = new Origins(['10.0.0.0/8', '127.0.0.1', 'fd00::/8'], undefined, false);
  const cases: readonly [string, string | undefined, string][] = [
    ['203.0.113.7', '1.2.3.4', '203.0.113.7'],
    ['10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6, 1.2.3.4, 10.9.9.9', '1.2.3.4'],
    ['10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    ['10.0.0.1', 'nonsense, 10.0.0.3', '10.0.0.3'],
    ['10.0.0.1', '1.2.3.4:5678', '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6:1, [2001:db8::1]:443, 10.0.0.2:80', '2001:db8::1'],
    ['10.0.0.1', '[2001:db8::2]', '2001:db8::2'],
    ['10.0.0.1', '1.2.3.4:x', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['0000:0000:0000:0000:0000:ffff:7f00:0001', '2001:db8::1', '2001:db8::1'],
    ['fd00::1', '1.2.3.4', '1.2.3.4'],
    ['::ffff:203.0.113.7', undefined, '203.0.113.7'],
  ];
  for (const [peer, xff, expected] of cases) {
    t.equal(trusting.clientAddress(peer, headers(xff)), expected, `${peer} with ${xff}`);
  }
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example' };
  t.equal(trusting.baseUrl('10.0.0.1', headers('', forwarded)), 'https://public.example');
  t.equal(
    trusting.baseUrl('9.9.9.9', headers('', forwarded)),
    'http://own:1',
    'an untrusted peer is not believed',
  );
  t.equal(trusting.baseUrl('10.0.0.1', headers('', { 'x-forwarded-host': 'a/b' })), 'http://own:1');
  const fixed = new Origins(['10.0.0.0/8'], 'https://fixed.example', false);
  t.equal(fixed.baseUrl('10.0.0.1', headers('', forwarded)), 'https://fixed.example', 'PUBLIC_URL wins');
  t.throws(() => new Origins(['10.0.0.0/99'], undefined, false), /10\.0\.0\.0\/99/);
});

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
    t.throws(() => parseJson(bytes(text)), { code: 'malformed_body' }, name);
  }
  t.throws(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22)), { code: 'malformed_body' }, 'not UTF-8');
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
    t.throws(() => parseMsgpack(body), { code: 'malformed_body' }, name);
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
  const hostile: readonly [string, Promise<unknown>, string][] = [
    ['no boundary', read(`${field('a', '1')}--BB--`, 'multipart/form-data'), 'malformed_body'],
    ['another type', read('a=1', 'application/x-www-form-urlencoded'), 'unsupported_media_type'],
    ['truncated in a file', read(file('f', 'DATA').slice(0, -4)), 'malformed_body'],
    ['truncated in a field', read(field('a', '1234567')), 'malformed_body'],
    ['truncated in a head', read('--BB\r\nContent-Dispo'), 'malformed_body'],
    ['nothing', read(''), 'malformed_body'],
    ['no part at all', read('hello'), 'malformed_body'],
    ['too many fields', read(`${many}--BB--`), 'malformed_body'],
    [
      'too many files',
      read(`${['1', '2', '3', '4', '5'].map((n) => file(n, n)).join('')}--BB--`),
      'malformed_body',
    ],
    ['a file beyond the limit', read(`${file('f', 'x'.repeat(1001))}--BB--`), 'audio_too_large'],
    [
      'a field beyond the limit',
      read(`${field('a', 'x'.repeat(1_048_577))}--BB--`, type, 65_536),
      'payload_too_large',
    ],
    [
      'a field without a name',
      read('--BB\r\nContent-Disposition: form-data\r\n\r\n1\r\n--BB--'),
      'malformed_body',
    ],
  ];
  for (const [name, work, expected] of hostile) await failsWith(t, work, expected, name);
});

void t.test('bearer keys', async (t) => {
  const caller = { workspaceId: 'w', keyId: 'k' };
  const known: Readonly<Record<string, Role>> = { 'good_Key-1': 'full', reader: 'read' };
  const authority = {
    authenticate: async (key: string) => (known[key] ? { ...caller, role: known[key] } : undefined),
  };
  const request = (authorization?: string) => ({
    permission: 'speech' as const,
    authenticated: () => undefined,
    headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
  });
  t.strictSame(await authenticate(request('Bearer good_Key-1'), authority), caller);
  t.strictSame(await authenticate(request('bearer  good_Key-1 '), authority), caller);
  t.equal(bearerToken(new Map()), undefined);
  const refused = {
    missing_key: [undefined, '', ' ', 'Bearer', 'bearer '],
    role_forbidden: ['Bearer reader'],
    invalid_key: ['Basic abc', 'Bearer a b', 'Bearer unknown', `Bearer ${'k'.repeat(300)}`],
  };
  for (const [expected, values] of Object.entries(refused)) {
    for (const value of values)
      await failsWith(t, authenticate(request(value), authority), expected, String(value));
  }
});

void t.test('cross-origin headers', async (t) => {
  t.strictSame(corsHeaders(new Map()), []);
  t.equal(Object.fromEntries(corsHeaders(new Map([['origin', 'x']])))['Access-Control-Allow-Origin'], '*');
  const asked = (value: string) =>
    preflightHeaders(new Map([['access-control-request-headers', value]]))['Access-Control-Allow-Headers'];
  t.equal(asked('content-type, x-some-sdk'), 'content-type, x-some-sdk');
  t.equal(asked('a\nb'), '*, Authorization');
  t.equal(asked('x'.repeat(5000)), '*, Authorization');
});

void t.test('events', async (t) => {
  t.equal(formatEvent({ data: { a: 1 } }), 'data: {"a":1}\n\n');
  t.equal(
    formatEvent({ event: 'x', id: '1', data: 'a\nb\r\nc' }),
    'event: x\nid: 1\ndata: a\ndata: b\ndata: c\n\n',
  );
  t.equal(formatEvent({ event: 'x\ndata: y', data: '[DONE]' }), 'event: x data: y\ndata: [DONE]\n\n');
});

void t.test('the interface description', async (t) => {
  const described = {
    ...post('/v/{voice?}/x', ok),
    description: {
      summary: 'Speak',
      parameters: [{ name: 'model', in: 'header' as const, schema: { type: 'string' } }],
      requestBody: { 'application/json': { type: 'object' } },
      responses: {
        200: { description: 'audio', content: { 'audio/mpeg': {} } },
        204: { description: 'nothing' },
      },
    },
  };
  const document = describeInterface([dialect('main', ['/'], [described, get('/hidden', ok)])])(
    'https://here',
  );
  t.strictSame(document, {
    openapi: '3.1.0',
    info: { title: 'Speech gateway', version: '1' },
    servers: [{ url: 'https://here' }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/v/{voice}/x': {
        post: {
          summary: 'Speak',
          tags: ['main'],
          parameters: [
            { name: 'voice', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'model', in: 'header', schema: { type: 'string' } },
          ],
          requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
          responses: {
            200: { description: 'audio', content: { 'audio/mpeg': { schema: {} } } },
            204: { description: 'nothing' },
          },
          security: [{ bearer: [] }],
        },
      },
    },
  });
});
