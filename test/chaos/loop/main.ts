/**
 * `npm run chaos -- loop [part of a route …]`: sends each route of a gateway its worst inputs within its limits, and prints for how long
 * each held the event loop: processor time of the loop's thread, best of three. Exit code 1 if one is above the bound, or if
 * a route or socket has no inputs.
 */
import { loadavg } from 'node:os';
import { declaredRoutes, type DeclaredRoute } from '../../../gateway/declared-routes.js';
import { type Hold, holdOf, holdOfFrame, type Probed, startProbed } from './holds.js';
import { routeOf } from './route-names.js';
import { inputsOf } from './routes.js';
import { framesOf } from './sockets.js';

const MOST_MS = 25;
const PARTS = process.argv.slice(2);

const pathOf = (path: string): string => path.replace(/\{[^}]+\}/g, 'x');
const isWanted = ({ method, path }: DeclaredRoute): boolean =>
  PARTS.length === 0 || PARTS.some((part) => `${method} ${path}`.includes(part));
/** The routes of protocol A are served under several bases, by the same handlers: each is asked once. */
const wanted = (): readonly DeclaredRoute[] => [
  ...new Map(
    declaredRoutes()
      .filter(isWanted)
      .map((route) => [routeOf(route), route]),
  ).values(),
];

/** Each input of a route, and how it is measured. */
function measuring(
  probed: Probed,
  route: DeclaredRoute,
): readonly { readonly name: string; measure(): Promise<Hold> }[] | undefined {
  const { method, path } = route;
  if (method === 'SOCKET')
    return framesOf(route)?.map((input) => ({
      name: input.name,
      measure: () => holdOfFrame(probed, input, MOST_MS),
    }));
  return inputsOf(route)?.map((input) => ({
    name: input.name,
    measure: () => holdOf(probed, method, pathOf(path), input, MOST_MS),
  }));
}

async function ofRoute(probed: Probed, route: DeclaredRoute): Promise<readonly string[]> {
  const name = `${route.method} ${route.path}`;
  const inputs = measuring(probed, route);
  if (!inputs) return [`${name}: has no worst inputs (test/chaos/loop/routes.ts, sockets.ts)`];
  const found: string[] = [];
  for (const input of inputs) {
    const { ms, status } = await input.measure();
    const line = `${ms.toFixed(1).padStart(8)} ms  ${status}  ${name}: ${input.name}`;
    console.log(line);
    if (ms > MOST_MS) found.push(line);
  }
  return found;
}

async function all(): Promise<readonly string[]> {
  const routes = wanted();
  if (routes.length === 0) return [`no route holds ${PARTS.join(' or ')}`];
  const probed = await startProbed();
  try {
    const found: string[] = [];
    for (const route of routes) found.push(...(await ofRoute(probed, route)));
    return found;
  } finally {
    await probed.gateway.stop();
  }
}

console.log(`loop: load of the machine ${loadavg()[0]?.toFixed(1)}`);
const found = await all();
console.log(
  found.length === 0
    ? `loop: no turn above ${MOST_MS} ms`
    : `loop: ${found.length} above ${MOST_MS} ms, or not measured`,
);
for (const line of found) console.log(line);
process.exit(found.length === 0 ? 0 : 1);
