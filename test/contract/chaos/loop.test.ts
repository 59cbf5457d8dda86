/** The short form of `npm run chaos -- loop`: a handful of the worst inputs, and that every route and socket has some. */
import t from '../../fixtures/tap.js';
import { declaredRoutes } from '../../../gateway/declared-routes.js';
import { type Hold, holdOf, holdOfFrame, startProbed } from '../../chaos/loop/holds.js';
import { routeOf } from '../../chaos/loop/route-names.js';
import { inputsOf } from '../../chaos/loop/routes.js';
import { framesOf } from '../../chaos/loop/sockets.js';

/**
 * Eight times what the long form asks for: on a busy machine one collection of garbage has taken 152 ms of the thread's time.
 * The faults that these inputs were made for held the loop for 500 ms and more.
 */
const MOST_MS = 200;

t.setTimeout(600_000);

const WORST = [
  ['native POST /v1/tts', 'text of one cyrillic word'],
  ['native POST /v1/tts', 'MessagePack, short strings'],
  ['protocol-a POST /audio/transcriptions', 'strings of 60 KiB'],
  ['platform POST /v1/agent/agents', 'short strings'],
] as const;

const WORST_FRAMES = [
  ['protocol-a SOCKET /realtime', 'append'],
  ['native SOCKET /v1/tts/live', 'MessagePack, short strings'],
  ['protocol-b SOCKET /compat/elevenlabs/v1/speech-to-text/realtime', 'chunk'],
] as const;

const ROUTES = new Map(declaredRoutes().map((route) => [routeOf(route), route]));

function named<T extends { readonly name: string }>(inputs: readonly T[] | undefined, name: string): T {
  const input = inputs?.find((each) => each.name === name);
  if (!input) throw new Error(`there is no input "${name}"`);
  return input;
}

t.test('each route and socket has its worst inputs', async (t) => {
  for (const route of ROUTES.values()) {
    const inputs = route.method === 'SOCKET' ? framesOf(route) : inputsOf(route);
    t.ok(inputs?.length, routeOf(route));
  }
});

t.test('no request and no frame within the limits holds the event loop', async (t) => {
  const probed = await startProbed();
  t.teardown(() => probed.gateway.stop());
  const judge = ({ ms }: Hold, name: string): void => {
    t.ok(ms > 0, `${name}: the probe tells`);
    t.ok(ms < MOST_MS, `${name}: ${ms} ms`);
  };
  for (const [route, name] of WORST) {
    const { method, path } = ROUTES.get(route)!;
    judge(
      await holdOf(probed, method, path, named(inputsOf(ROUTES.get(route)!), name), MOST_MS),
      `${route}, ${name}`,
    );
  }
  for (const [route, name] of WORST_FRAMES)
    judge(await holdOfFrame(probed, named(framesOf(ROUTES.get(route)!), name), MOST_MS), `${route}, ${name}`);
});
