/**
 * `npm run chaos -- loop [part of a route …]`: sends each route of a gateway its worst inputs within its limits, and prints for how long
 * each held the event loop: processor time of the loop's thread, best of three. Exit code 1 if one is above the bound, or if
 * a route has no inputs.
 */
import { declaredRoutes, type DeclaredRoute } from '../../fixtures/routes.js';
import { holdOf, type Probed, startProbed } from './holds.js';
import { inputsOf } from './routes.js';

const MOST_MS = 25;
const PARTS = process.argv.slice(2);
const NO_BODY = new Set(['GET', 'DELETE', 'SOCKET']);

const pathOf = (path: string): string => path.replace(/\{[^}]+\}/g, 'x');
const isWanted = ({ path }: DeclaredRoute): boolean =>
  PARTS.length === 0 || PARTS.some((part) => path.includes(part));

async function ofRoute(probed: Probed, route: DeclaredRoute): Promise<readonly string[]> {
  const inputs = inputsOf(route);
  const name = `${route.method} ${route.path}`;
  if (!inputs) return [`${name}: has no worst inputs (test/chaos/loop/routes.ts)`];
  const found: string[] = [];
  for (const input of inputs) {
    const { ms, status } = await holdOf(probed, route.method, pathOf(route.path), input, MOST_MS);
    const line = `${ms.toFixed(1).padStart(8)} ms  ${status}  ${name}: ${input.name}`;
    console.log(line);
    if (ms > MOST_MS) found.push(line);
  }
  return found;
}

async function all(): Promise<readonly string[]> {
  const probed = await startProbed();
  try {
    const found: string[] = [];
    for (const route of declaredRoutes().filter(isWanted))
      if (!NO_BODY.has(route.method)) found.push(...(await ofRoute(probed, route)));
    return found;
  } finally {
    await probed.gateway.stop();
  }
}

const found = await all();
console.log(
  found.length === 0 ? `loop: no turn above ${MOST_MS} ms` : `loop: ${found.length} above ${MOST_MS} ms`,
);
for (const line of found) console.log(line);
process.exit(found.length === 0 ? 0 : 1);
