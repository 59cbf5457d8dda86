/**
 * The rules of W3C's trace context (level 2), on the four inference endpoints of a whole gateway: the client's headers that
 * are passed on to a remote engine. The rules are those that the standard's own test service checks.
 */
import { encode } from '@msgpack/msgpack';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { type Gateway, startGateway } from '../../fixtures/gateway.js';
import { LiveClient } from '../../fixtures/native/live.js';
import { fixture } from '../../fixtures/codecs/audio.js';
import { shortOrLong } from '../../fixtures/long.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';

type Pairs = readonly (readonly [name: string, value: string])[];

/** A remote engine that speaks and transcribes at once. */
const remote = await remoteService(t);
const HEARD = JSON.stringify({ text: 'one', duration: 0.5, segments: [{ text: 'one', start: 0, end: 0.5 }] });
remote.answers((response, _body, { url }) => {
  response.end(url === '/v1/asr' ? HEARD : Buffer.alloc(16_000));
});

const REMOTE = {
  TTS_ENGINES: 'native-compatible',
  STT_ENGINES: 'native-compatible',
  REMOTE_NATIVE_URL: remote.url,
};

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${PARENT}-01`;
const parent = (value: string): Pairs => [['traceparent', value]];
const state = (...values: readonly string[]): Pairs => [
  ['traceparent', VALID],
  ...values.map((value) => ['tracestate', value] as const),
];

/** The headers of a request, then those at the next server: the same trace or a new one, and the trace state. */
type Row = readonly [headers: Pairs, trace: 'same' | 'new', state?: string];

const KEY = 'abcdefghijklmnopqrstuvwxyz0123456789_-*/';
const VALUE = Array.from({ length: 0x5f }, (_, index) => String.fromCharCode(0x20 + index))
  .join('')
  .replace(/[,=]/g, '');
const members = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `m${from + index}=${index}`).join(',');
/** State members of 128 and of 129 characters; `SHORTS`: as many short ones as are passed on. */
const SHORT = (index: number): string => `s${String(index).padStart(2, '0')}=${'v'.repeat(124)}`;
const LONG = `l=${'v'.repeat(127)}`;
const SHORTS = Array.from({ length: 31 }, (_, index) => SHORT(index));

const PARENTS: Readonly<Record<string, Row>> = {
  'no header': [[], 'new'],
  'a traceparent': [parent(VALID), 'same'],
  'one in capitals': [[['TRACEPARENT', VALID]], 'same'],
  'one in mixed case': [[['TraceParent', VALID]], 'same'],
  'two of them': [[...parent(VALID), ...parent(VALID.replace('-01', '-00'))], 'new'],
  'another name': [[['trace-parent', VALID]], 'new'],
  'another name with a dot': [[['trace.parent', VALID]], 'new'],
  'blanks around it': [parent(`\t ${VALID} \t`), 'same'],
  'a dot behind version 00': [parent(`${VALID}.`), 'new'],
  'more behind version 00': [parent(`${VALID}-what-comes`), 'new'],
  'a later version': [parent(VALID.replace('00', 'cc')), 'same'],
  'more behind a later version': [parent(`${VALID.replace('00', 'cc')}-what-comes`), 'same'],
  'a dot behind a later version': [parent(`${VALID.replace('00', 'cc')}.what-comes`), 'new'],
  'version ff': [parent(VALID.replace('00', 'ff')), 'new'],
  'a dot in the version': [parent(VALID.replace('00', '.0')), 'new'],
  'a long version': [parent(`0${VALID}`), 'new'],
  'a short version': [parent(VALID.slice(1)), 'new'],
  'a trace id of zeros': [parent(`00-${'0'.repeat(32)}-${PARENT}-01`), 'new'],
  'a dot in the trace id': [parent(`00-.${TRACE.slice(1)}-${PARENT}-01`), 'new'],
  'a capital in the trace id': [parent(`00-${TRACE.toUpperCase()}-${PARENT}-01`), 'new'],
  'a long trace id': [parent(`00-${TRACE}0-${PARENT}-01`), 'new'],
  'a short trace id': [parent(`00-${TRACE.slice(1)}-${PARENT}-01`), 'new'],
  'a parent id of zeros': [parent(`00-${TRACE}-${'0'.repeat(16)}-01`), 'new'],
  'a dot in the parent id': [parent(`00-${TRACE}-.${PARENT.slice(1)}-01`), 'new'],
  'a long parent id': [parent(`00-${TRACE}-${PARENT}0-01`), 'new'],
  'a short parent id': [parent(`00-${TRACE}-${PARENT.slice(1)}-01`), 'new'],
  'a dot in the flags': [parent(`00-${TRACE}-${PARENT}-.0`), 'new'],
  'long flags': [parent(`${VALID}0`), 'new'],
  'short flags': [parent(VALID.slice(0, -1)), 'new'],
};

const STATES: Readonly<Record<string, Row>> = {
  'a state without a traceparent': [[['tracestate', 'foo=1']], 'new'],
  'a state with an invalid one': [[...parent('nonsense'), ['tracestate', 'foo=1']], 'new'],
  'a state': [state('foo=1,bar=2'), 'same', 'foo=1,bar=2'],
  'one in capitals': [[...parent(VALID), ['TRACESTATE', 'foo=1']], 'same', 'foo=1'],
  'another name': [[...parent(VALID), ['trace-state', 'foo=1']], 'same'],
  'another name with a dot': [[...parent(VALID), ['trace.state', 'foo=1']], 'same'],
  'an empty state': [state(''), 'same'],
  'an empty one behind': [state('foo=1', ''), 'same', 'foo=1'],
  'an empty one before': [state('', 'foo=1'), 'same', 'foo=1'],
  several: [state('foo=1,bar=2', 'rojo=1', 'baz=3'), 'same', 'foo=1,bar=2,rojo=1,baz=3'],
  'a key twice': [state('foo=1', 'foo=2'), 'same', 'foo=1,foo=2'],
  'every mark that a key and a value may hold': [state(`${KEY}=${VALUE}`), 'same', `${KEY}=${VALUE}`],
  'blanks around members': [state('\t foo=1\t \t,\t bar=2 '), 'same', 'foo=1,bar=2'],
  'blanks in the middle, as many as headers hold': [state(`foo=1${' '.repeat(60_000)}2`), 'same'],
  'a tenant': [state('t@v=1,0@@b=2'), 'same', 't@v=1,0@@b=2'],
  'no tenant': [state('@foo=1,bar=2'), 'same'],
  'a blank behind a key': [state('foo =1'), 'same'],
  'a capital in a key': [state('FOO=1'), 'same'],
  'a dot in a key': [state('foo.bar=1,bar=2'), 'same'],
  'a key of 256 characters': [state('foo=1', `${'z'.repeat(256)}=1`), 'same', `foo=1,${'z'.repeat(256)}=1`],
  'a key of 257': [state('foo=1', `${'z'.repeat(257)}=1`), 'same'],
  'a value of 256 characters': [state(`z=${'v'.repeat(256)}`), 'same', `z=${'v'.repeat(256)}`],
  'a value of 257': [state('foo=1', `z=${'v'.repeat(257)}`), 'same'],
  'an equals sign in a value': [state('foo=bar=baz'), 'same'],
  'an empty value': [state('foo=,bar=3'), 'same'],
  'no value': [state('foo,bar=3'), 'same'],
  '32 members': [state(members(1, 20), members(21, 32)), 'same', `${members(1, 20)},${members(21, 32)}`],
  '33 members': [state(members(1, 20), members(21, 33)), 'same'],
  'as much as is passed on': [state(...SHORTS), 'same', SHORTS.join(',')],
  'more than that: the last members go': [state(...SHORTS, SHORT(31)), 'same', SHORTS.join(',')],
  'more than that: long members go first': [state(LONG, ...SHORTS), 'same', SHORTS.join(',')],
};

const FRAMING = { format: 'pcm', sample_rate: 16_000 };
const SPEECH = JSON.stringify({ text: 'one', ...FRAMING });
const AUDIO = encode({ audio: fixture('tone.wav') });
const flat = (pairs: Pairs): string[] => pairs.flat();

/** Posts a request whose header names and repetitions are sent unchanged. */
async function post(gateway: Gateway, path: string, type: string, body: string | Uint8Array, headers: Pairs) {
  const own = Object.entries({
    ...gateway.authorization,
    'content-type': type,
    host: 'a',
    connection: 'close',
  });
  const request = requestHttp(gateway.base + path, {
    method: 'POST',
    headers: flat([...own, ['content-length', String(body.length)], ...headers]) as unknown as string[],
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
}

async function live(gateway: Gateway, headers: Pairs): Promise<void> {
  const grouped: Record<string, string[]> = {};
  for (const [name, value] of headers) (grouped[name] ??= []).push(value);
  const client = new LiveClient(gateway, grouped as unknown as Record<string, string>);
  await client.opened();
  client.start().text('one').stop();
  await client.finished();
  client.socket.terminate();
}

const ENDPOINTS: Readonly<Record<string, (gateway: Gateway, headers: Pairs) => Promise<void>>> = {
  '/v1/tts': (gateway, headers) => post(gateway, '/v1/tts', 'application/json', SPEECH, headers),
  '/v1/tts/stream/with-timestamp': (gateway, headers) =>
    post(gateway, '/v1/tts/stream/with-timestamp', 'application/json', SPEECH, headers),
  '/v1/asr': (gateway, headers) => post(gateway, '/v1/asr', 'application/msgpack', AUDIO, headers),
  '/v1/tts/live': live,
};

const PASSED_ON = /^00-([\da-f]{32})-([\da-f]{16})-0[0-3]$/;

async function passedOn(call: () => Promise<void>): Promise<IncomingHttpHeaders> {
  remote.asked.length = 0;
  await call();
  return remote.asked[0]?.headers ?? {};
}

function prefixed(header: string, rows: Readonly<Record<string, Row>>): Record<string, Row> {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [`${header}: ${name}`, row]));
}

const ROWS = Object.entries({ ...prefixed('traceparent', PARENTS), ...prefixed('tracestate', STATES) });
/** What depends on how a request's headers are read, and not on their values alone. */
const READING =
  /no header|: a (traceparent|state)$|capitals|mixed|another name|two of them|several|empty one|blanks/;
const FEW = ROWS.filter(([name]) => READING.test(name));

const STACKS = ['auto', 'node'];
// All before the first test: tap ends with the last test that it knows.
const gateways = await Promise.all(STACKS.map((stack) => startGateway({ ...REMOTE, HTTP_STACK: stack })));
t.teardown(() => Promise.all(gateways.map((gateway) => gateway.stop())));

for (const [index, gateway] of gateways.entries()) {
  const stack = STACKS[index];
  /** One endpoint is enough to see that a stack passes headers unchanged. */
  const endpoints = Object.entries(ENDPOINTS).slice(0, stack === 'auto' ? undefined : 1);

  for (const [nth, [path, call]] of endpoints.entries()) {
    // The values are read in one place for all.
    const rows = nth === 0 ? ROWS : shortOrLong(FEW, ROWS);
    t.test(`${path} on ${stack} passes on the trace that it is part of`, async (t) => {
      for (const [name, [headers, trace, expected]] of rows) {
        const { traceparent, tracestate } = await passedOn(() => call(gateway, headers));
        const [, traceId, spanId] = PASSED_ON.exec(String(traceparent)) ?? [];
        t.equal(traceId === TRACE ? 'same' : 'new', trace, `${name}: ${String(traceparent)}`);
        t.not(spanId ?? PARENT, PARENT, `${name}: the parent is ours`);
        t.equal(tracestate, expected, name);
      }
    });

    t.test(`${path} on ${stack} is a parent of its own at each request, and keeps the flags`, async (t) => {
      const parents = new Set<string | undefined>();
      for (const flags of ['00', '01', '02', '03', 'ff']) {
        const { traceparent } = await passedOn(() => call(gateway, parent(`00-${TRACE}-${PARENT}-${flags}`)));
        parents.add(PASSED_ON.exec(String(traceparent))?.[2]);
        t.equal(String(traceparent).slice(-2), flags === 'ff' ? '03' : flags);
      }
      t.equal(parents.size, 5);
    });
  }
}

t.test('the state that is passed on is bounded', (t) => {
  t.equal(LIMITS.trace.stateLength, 4096);
  t.ok(SHORTS.join(',').length <= LIMITS.trace.stateLength);
  t.ok([LONG, ...SHORTS].join(',').length > LIMITS.trace.stateLength);
  t.end();
});
