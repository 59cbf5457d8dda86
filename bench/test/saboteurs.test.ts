/** The suite cannot be fooled: answers without speech are failures, and a late generator reports it. */
import t, { type Test } from 'tap';
import { Generator } from '../src/generator/generator.js';
import type { Load, Task } from '../src/generator/protocol.js';
import {
  doubtsIn,
  failedIn,
  failuresIn,
  latenciesIn,
  measure,
  type Phase,
  requestsIn,
} from '../src/measure/phase.js';
import { RATE } from './fixtures/audio.js';
import { sabotage, type Saboteur, SABOTEURS } from './fixtures/saboteurs.js';

const generator = new Generator();
t.teardown(() => generator.stop());

const taskOf = (url: string, load: Load): Task => ({
  client: 'speech',
  params: {
    request: { url: `${url}/audio/speech`, headers: { 'content-type': 'application/json' }, body: '{}' },
    expected: { format: 'pcm', rate: RATE, leastSeconds: 0.5 },
  },
  load,
  deadline: 20_000,
});

async function loaded(t: Test, saboteur: Saboteur, load: Load): Promise<Phase> {
  const server = await sabotage(saboteur);
  t.teardown(() => server.stop());
  return measure({}, generator, taskOf(server.url, load));
}

const CLOSED = { concurrency: 4, requests: 20 } as const;

t.test('an honest server has no failures', async (t) => {
  const phase = await loaded(t, SABOTEURS.honest, CLOSED);
  t.same(failuresIn(phase), {});
  t.equal(latenciesIn(phase, 'ttfa').n, 20);
});

for (const [name, failure] of [
  ['silent', 'silence'],
  ['early', 'stalled'],
  ['lying', 'wrong format: no audio'],
  ['short', 'too little audio'],
  ['cut', 'cut off'],
] as const)
  t.test(`a server that is ${name} fails by its own name, and has no latency`, async (t) => {
    const phase = await loaded(t, SABOTEURS[name], CLOSED);
    t.same(failuresIn(phase), { [failure]: 20 });
    t.match(latenciesIn(phase, 'ttfa').percentile(50), { withheld: /20 of 20 failed/ });
  });

t.test('one request in ten that is dropped is counted, and takes the p95 with it', async (t) => {
  const phase = await loaded(t, SABOTEURS.dropping, { concurrency: 8, requests: 200 });
  t.equal(requestsIn(phase), 200);
  t.equal(failedIn(phase), 20);
  t.match(latenciesIn(phase, 'ttfa').percentile(95), { withheld: /20 of 200 failed/ });
  t.match(latenciesIn(phase, 'ttfa').percentile(75), { value: Number });
});

t.test(
  'a generator that is starved of CPU says so, and its requests count from when they were due',
  async (t) => {
    const own = new Generator();
    const server = await sabotage(SABOTEURS.honest);
    t.teardown(() => server.stop());
    t.teardown(() => own.stop());
    const warm = await measure({}, own, taskOf(server.url, CLOSED));
    t.same(failuresIn(warm), {});
    const arrivals = { kind: 'constant', rate: 50, seconds: 3 } as const;
    let stopped = false;
    const phase = await measure({}, own, taskOf(server.url, { arrivals }), () => {
      if (stopped) return;
      stopped = true;
      process.kill(own.pid, 'SIGSTOP');
      setTimeout(() => process.kill(own.pid, 'SIGCONT'), 1000);
    });
    t.equal(requestsIn(phase), 150, 'none is left out');
    t.match(doubtsIn(phase).join(), /the load generator was \d+\.\d ms late/);
    t.ok(latenciesIn(phase, 'ttfa').max > 900, 'the wait is counted');
  },
);

t.test('a server that is not there is a failure of each request', async (t) => {
  const server = await sabotage(SABOTEURS.honest);
  await server.stop();
  const phase = await measure({}, generator, taskOf(server.url, { concurrency: 1, requests: 3 }));
  t.same(failuresIn(phase), { ECONNREFUSED: 3 });
});
