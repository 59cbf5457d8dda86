/** The generator on a test clock: no request is skipped, and latency counts from when a request was due. */
import { stat } from 'node:fs';
import t from 'tap';
import { createBytes } from '../src/clients/bytes.js';
import type { Client } from '../src/clients/client.js';
import type { Clock } from '../src/generator/pace.js';
import { runRequests } from '../src/generator/run.js';
import { doubtsOf, worst } from '../src/measure/doubts.js';
import { sabotage, SABOTEURS } from './fixtures/saboteurs.js';

/** Time passes only while somebody sleeps. */
class TestClock implements Clock {
  #now = 1000;
  now = (): number => this.#now;
  sleep = async (ms: number): Promise<void> => void (this.#now += ms);
  turn = async (): Promise<void> => void (this.#now += 0.5);
  block(ms: number): void {
    this.#now += ms;
  }
}

/** Answers after `takes` milliseconds; the request of index `blocks` holds up the generator for 500. */
function clientOf(clock: TestClock, takes: number, blocks = -1): Client {
  return {
    async perform(index) {
      const instants = { end: clock.now() + takes };
      if (index === blocks) clock.block(500);
      return () => ({ instants, values: { index } });
    },
    close: async () => {},
  };
}

const arrivals = { kind: 'constant', rate: 10, seconds: 2 } as const;

t.test('open arrivals are all sent, on time if nothing holds them up', async (t) => {
  const clock = new TestClock();
  const outcome = await runRequests(clientOf(clock, 7), { arrivals }, { deadline: 1000, clock });
  t.equal(outcome.due.length, 20);
  t.same(
    [...outcome.due].map(Math.round),
    Array.from({ length: 20 }, (_, index) => index * 100),
  );
  t.ok([...outcome.lateness].every((late) => late < 1));
  t.ok([...(outcome.readings['end'] ?? [])].every((latency) => latency >= 7 && latency < 8));
});

t.test('a request that waits behind a delay counts the wait', async (t) => {
  const clock = new TestClock();
  const outcome = await runRequests(clientOf(clock, 7, 4), { arrivals }, { deadline: 1000, clock });
  t.equal(outcome.due.length, 20);
  t.ok((outcome.lateness[5] ?? 0) >= 399, 'due at 500, sent at 900');
  t.ok((outcome.readings['end']?.[5] ?? 0) >= 406);
});

t.test(
  'a closed load sends the given number, and a request that throws fails by the name of its error',
  async (t) => {
    const client: Client = {
      async perform(index) {
        if (index % 2 === 0) throw Object.assign(new Error('x'), { code: 'ECONNRESET' });
        return () => ({ instants: { end: 0 } });
      },
      close: async () => {},
    };
    const outcome = await runRequests(client, { concurrency: 3, requests: 10 }, { deadline: 1000 });
    t.equal(outcome.due.length, 10);
    t.same(outcome.failures, { ECONNRESET: 5 });
    t.equal([...(outcome.readings['end'] ?? [])].filter(Number.isNaN).length, 5);
  },
);

t.test('a connection that was closed while the generator was held up costs no request', async (t) => {
  const server = await sabotage(SABOTEURS.honest);
  const client = createBytes({ request: { url: server.url, headers: {}, body: '{}' } });
  t.teardown(async () => {
    await client.close();
    await server.stop();
  });
  const run = () => runRequests(client, { concurrency: 1, requests: 1 }, { deadline: 10_000 });
  t.same((await run()).failures, {});
  // In a callback of the poll phase, as messages are received: no socket is polled between it and the next immediate.
  const next = await new Promise<Awaited<ReturnType<typeof run>>>((resolve) =>
    stat('.', () => {
      server.closeIdle();
      resolve(run());
    }),
  );
  t.same(next.failures, {});
});

t.test(
  'a measurement is doubted if the generator was the bottleneck, or others used the machine',
  async (t) => {
    const quiet = { generatorCpu: 0.3, lateness: 1, others: 0.02, stolen: 0.01 };
    t.same(doubtsOf(quiet), []);
    const onlyDoubt = (conditions: typeof quiet): string | undefined => {
      const doubts = doubtsOf(conditions);
      t.equal(doubts.length, 1);
      return doubts[0];
    };
    const [lateness, others, stolen] = [Number.NaN, Number.NaN, Number.NaN];
    t.same(doubtsOf({ generatorCpu: 0.3, lateness, others, stolen }), [], 'what is unknown');
    t.match(onlyDoubt({ ...quiet, generatorCpu: 0.97 }), /97 % of its core/);
    t.match(onlyDoubt({ ...quiet, lateness: 55 }), /55.0 ms late/);
    t.match(onlyDoubt({ ...quiet, others: 0.5 }), /50 % of the machine/);
    t.match(
      onlyDoubt({ ...quiet, stolen: 0.2 }),
      /host .* kept 20 % of it/,
      'neighbours of a virtual machine',
    );
    t.same(worst([quiet, { ...quiet, lateness: 9 }, { ...quiet, others: Number.NaN }]), {
      ...quiet,
      lateness: 9,
    });
  },
);
