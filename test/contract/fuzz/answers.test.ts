/**
 * Seeded fuzz of our clients of other servers: remote engines and models, MCP servers, endpoints of tools, receivers of webhooks. Whatever
 * they answer, cut off, delayed, damaged or of wrong types, is either read as what it says or a failure of theirs.
 */
import { once } from 'node:events';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import t from '../../fixtures/tap.js';
import { ANSWERS, type Served, type ServerTarget } from '../../fixtures/fuzz/answers.js';
import type { Draws } from '../../fixtures/fuzz/draws.js';
import { fuzz, roundsOf } from '../../fixtures/fuzz/rounds.js';
import { TOOLS } from '../../fixtures/fuzz/tools.js';

/** What is served below each path. */
const served = new Map<string, Served['serve']>();
const server = httpDouble((request, response) => {
  const [, round = ''] = (request.url ?? '').split('/');
  void served.get(round)?.(request, response);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;

let round = 0;
async function ask(target: ServerTarget, draws: Draws): Promise<string | undefined> {
  const own = String((round += 1));
  const answers = target.answers(draws);
  served.set(own, (request, response) => answers.serve(request, response));
  const problem = await target.ask(`http://127.0.0.1:${port}/${own}`);
  served.delete(own);
  return problem && `${problem}: to ${answers.shown}`;
}

fuzz(t, [...ANSWERS, ...TOOLS], { rounds: roundsOf(60, 6000), atOnce: 8, round: ask });
