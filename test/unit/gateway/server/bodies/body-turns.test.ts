/** Paused bodies go on in turns of the event loop, by workspace. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import { BodyPipe } from '../../../../../gateway/server/bodies/body-pipe.js';
import { BodyTurns } from '../../../../../gateway/server/bodies/body-turns.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';

t.test('some of a workspace in each turn, in order, and those of others beside them', async (t) => {
  const turns = new BodyTurns();
  const gone: string[] = [];
  const wait = (holder: string, name: string): void => turns.of({ holder })(() => gone.push(name));
  for (let at = 0; at < 10; at += 1) wait('a', `a${at}`);
  wait('b', 'b0');
  t.strictSame(gone, [], 'not in this turn');
  await turn();
  t.strictSame(gone.toSorted(), ['a0', 'a1', 'a2', 'a3', 'b0']);
  wait('a', 'a10');
  await turn();
  await turn();
  t.strictSame(gone.slice(5), ['a4', 'a5', 'a6', 'a7', 'a8', 'a9', 'a10']);
  wait('a', 'a11');
  await turn();
  t.equal(gone.at(-1), 'a11');
});

/** A body that is full, whose reader has taken everything. */
async function drained(turns: BodyTurns) {
  const told: string[] = [];
  const source = { pause: () => void told.push('pause'), resume: () => void told.push('resume') };
  const body = new BodyPipe(source, new SimulatedClock(), undefined);
  body.charge(UNBOUNDED_SHARE, turns.of({ holder: 'a' }));
  const chunks = body.chunks(1e9);
  body.push(new Uint8Array(100_000));
  await chunks.next();
  return { told, body, chunks };
}

t.test('a body goes on once it is its turn, and at once if it fails or ends', async (t) => {
  const { told, body, chunks } = await drained(new BodyTurns());
  const next = chunks.next();
  t.strictSame(told, ['pause']);
  await turn();
  t.strictSame(told, ['pause', 'resume']);
  body.push(new Uint8Array(1), true);
  body.end();
  t.equal((await next).value?.byteLength, 1);

  const failing = await drained(new BodyTurns());
  const failed = failing.chunks.next().catch((error: Error) => error.message);
  failing.body.fail(new Error('gone'));
  t.strictSame(failing.told, ['pause', 'resume']);
  t.equal(await failed, 'gone');
  await turn();
  t.strictSame(failing.told, ['pause', 'resume'], 'once');
});
