/** The short form of `npm run chaos -- loop`: a handful of the worst inputs, and that every route has some. */
import t from 'tap';
import { declaredRoutes } from '../fixtures/routes.js';
import { holdOf, startProbed } from '../chaos/loop/holds.js';
import { inputsOf } from '../chaos/loop/routes.js';

/**
 * Five times what the long form asks for: processor time is counted in steps of some milliseconds, and costs more on a busy machine.
 * The faults that these inputs were made for held the loop for 500 ms and more.
 */
const MOST_MS = 125;

t.setTimeout(600_000);

const WORST = [
  ['POST', '/v1/tts', 'text of one cyrillic word'],
  ['POST', '/v1/tts', 'MessagePack, short strings'],
  ['POST', '/v1/tts', 'blanks'],
  ['POST', '/v1/audio/transcriptions', 'strings of 60 KiB'],
] as const;

t.test('each route that takes a body has its worst inputs', async (t) => {
  for (const route of declaredRoutes())
    if (!['GET', 'DELETE', 'SOCKET'].includes(route.method))
      t.ok(inputsOf(route)?.length, `${route.method} ${route.path}`);
});

t.test('no request within the limits holds the event loop', async (t) => {
  const probed = await startProbed();
  t.teardown(() => probed.gateway.stop());
  for (const [method, path, name] of WORST) {
    const input = inputsOf({ dialect: '', method, path })?.find((each) => each.name === name);
    if (!input) throw new Error(`there is no input "${name}"`);
    const { ms } = await holdOf(probed, method, path, input, MOST_MS);
    t.ok(ms > 0, `${name}: the probe tells`);
    t.ok(ms < MOST_MS, `${name}: ${ms} ms`);
  }
});
