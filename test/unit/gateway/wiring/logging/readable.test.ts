/** Lines of the log as people read them on a terminal (gateway/wiring/logging/readable.ts). */
import t from '../../../../fixtures/tap.js';
import { createLog } from '../../../../../gateway/wiring/log.js';
import { readable } from '../../../../../gateway/wiring/logging/readable.js';

function shown(isColoured: boolean, write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  const line = readable(isColoured);
  write(createLog('trace', { write: (json) => void (text += line(json)) }));
  return text;
}

t.test('time, level, message, then the fields', async (t) => {
  const text = shown(false, (log) =>
    log.warn(
      { part: 'model', address: 'http://a:1', note: 'two words', count: 2, none: undefined },
      'It is away',
    ),
  );
  t.match(
    text,
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}It is away {2}part=model address=http:\/\/a:1 note="two words" count=2\n$/,
  );
});

t.test('an error has its message in the line, and its stack below', async (t) => {
  const text = shown(false, (log) => log.error({ err: new TypeError('no such thing') }, 'It failed'));
  const [first, ...frames] = text.trimEnd().split('\n');
  t.match(first, /ERROR It failed {2}TypeError: no such thing$/);
  t.ok(frames.length > 0 && frames.every((frame) => frame.startsWith('    at ')));
});

t.test('colours only where they are wanted', async (t) => {
  t.match(
    shown(true, (log) => log.info({ a: 1 }, 'm')),
    '\u001b[32mINFO \u001b[0m',
  );
  t.notMatch(
    shown(false, (log) => log.info({ a: 1 }, 'm')),
    '\u001b',
  );
});

t.test('nothing in a line moves the cursor, or makes another line', async (t) => {
  const text = shown(false, (log) =>
    log.info({ name: '\u001b[2J\n12:00:00.000 ERROR forged' }, 'a\u001b[1Ab\r\nc'),
  );
  t.notMatch(text, '\u001b');
  t.equal(text.split('\n').length, 2);
});

t.test('what is no line of the log stays as it is', async (t) => {
  t.equal(readable(true)('plain\n'), 'plain\n');
  t.equal(readable(true)('[1]\n'), '[1]\n');
});
