/** The log never contains secrets, however they got into a line. */
import fs from 'node:fs';
import t from '../../../fixtures/tap.js';
import { createLog, standardError } from '../../../../gateway/wiring/log.js';
import { exactly, throwsExactly } from '../../../fixtures/exactly.js';
import { until } from '../../../fixtures/until.js';

const SECRETS = [
  ...['authorization', 'key', 'token', 'secret', 'password'],
  ...['headers', 'text', 'audio', 'transcript'],
];

function logged(fields: object): Record<string, unknown> {
  const lines: string[] = [];
  createLog('info', { write: (line) => void lines.push(line) }).info(fields, 'said');
  t.equal(lines.length, 1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

t.test('a line never has keys, transcripts or audio, also within its objects', (t) => {
  for (const name of SECRETS) {
    const fields = { [name]: 'private', request: { [name]: 'private', id: 'a' }, route: '/v1/tts' };
    exactly(t, logged(fields), {
      [name]: '[hidden]',
      request: { [name]: '[hidden]', id: 'a' },
      route: '/v1/tts',
    });
    t.equal(fields[name], 'private', 'the fields themselves stay');
  }
  t.end();
});

t.test('a terminal that was closed ends the log and nothing else', (t) => {
  const destination = standardError();
  const fault = (code: string): Error => Object.assign(new Error(code), { code });
  throwsExactly(t, () => destination.emit('error', fault('ENOSPC')), { code: 'ENOSPC' });
  destination.emit('error', fault('EIO'));
  createLog('info', destination).info({}, 'for nobody');
  destination.flushSync();
  destination.emit('error', fault('EPIPE'));
  t.end();
});

t.test('a line that comes while a slow reader holds up a batch follows by itself', async (t) => {
  const written: string[] = [];
  let release = (): void => undefined;
  t.intercept(fs, 'write', {
    value: (_file: number, text: string, done: (_: null, bytes: number) => void) => {
      written.push(text);
      release = () => done(null, Buffer.byteLength(text));
    },
  });
  const destination = standardError();
  const { flush } = destination;
  let flushes = 0;
  destination.flush = () => {
    flushes += 1;
    flush.call(destination);
  };
  const log = createLog('info', destination);
  log.info({}, 'first');
  await until('the first is on its way', () => written.length === 1);
  log.info({}, 'second');
  const before = flushes;
  await until('the second is old enough', () => flushes > before);
  t.equal(written.length, 1);
  release();
  await until('the second is on its way', () => written.length === 2);
  release();
  exactly(t, written, [/first/, /second/]);
});

t.test('a line hides the objects of an error, and has its stack', (t) => {
  const err = Object.assign(new Error('refused'), { headers: { authorization: 'private' }, status: 401 });
  const told = logged({ err });
  exactly(t, told, {
    err: { type: 'Error', message: 'refused', status: 401, headers: '[hidden]' },
    msg: 'said',
  });
  exactly(t, told['err'], { stack: /refused/ });
  exactly(t, logged({ err: 'a string' }), { err: 'a string' });
  exactly(t, logged({ err: undefined, id: 1 }), { id: 1 });
  t.end();
});
