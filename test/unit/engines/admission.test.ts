/** Admission in one process, on a simulated clock, with a store in memory that keeps the contract of the real one. */
import t from '../../fixtures/tap.js';
import type { Clock } from '../../../contracts/clock.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { silentLog } from '../../../contracts/log.js';
import type { SlotLeases, UsageKind, UsageStore } from '../../../contracts/ports/accounts/identity.js';
import { createAdmission, type RunningAdmission } from '../../../engines/admission.js';
import { exactly } from '../../fixtures/exactly.js';

/** Lets all pending work run. */
const settled = () => new Promise<void>((resolve) => void setImmediate(() => setImmediate(resolve)));

class SimulatedClock implements Clock {
  #time = 0;
  #timers = new Set<{ at: number; task: () => void }>();
  now = () => this.#time;
  monotonic = () => this.#time;
  after(ms: number, task: () => void) {
    const timer = { at: this.#time + ms, task };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
  async advance(ms: number) {
    const end = this.#time + ms;
    for (;;) {
      await settled();
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#time = Math.max(this.#time, due.at);
      due.task();
    }
    this.#time = end;
    await settled();
  }
  get pending() {
    return this.#timers.size;
  }
}

const LEASE_MS = 15_000;

/** The store of leases and usage, which all processes share. */
class Store {
  away = false;
  /** How long it takes to answer. */
  slowMs = 0;
  holds = 0;
  limit: number;
  used = new Map<UsageKind, number>();
  quota: Partial<Record<UsageKind, number>> = {};
  readonly #leases = new Map<string, { held: number; until: number }>();
  readonly #listeners = new Map<string, (workspaceId: string) => void>();

  constructor(
    readonly clock: SimulatedClock,
    limit: number,
  ) {
    this.limit = limit;
  }

  async #answers(): Promise<void> {
    await settled();
    if (this.slowMs > 0) await new Promise<void>((resolve) => void this.clock.after(this.slowMs, resolve));
  }

  heldBy(process: string) {
    const lease = this.#leases.get(process);
    return lease && lease.until > this.clock.monotonic() ? lease.held : 0;
  }

  leases(process: string): SlotLeases {
    return {
      leaseMs: LEASE_MS,
      hold: async (workspaceId, wanted) => {
        await this.#answers();
        this.holds++;
        if (this.away) throw new Error('away');
        const others = [...this.#leases.keys()].filter((name) => name !== process);
        const left = this.limit - others.reduce((sum, name) => sum + this.heldBy(name), 0);
        const held = Math.max(0, Math.min(wanted, left));
        this.#leases.set(process, { held, until: this.clock.monotonic() + LEASE_MS });
        if (held < Math.min(wanted, this.limit))
          for (const [name, listener] of this.#listeners) if (name !== process) listener(workspaceId);
        return { held, limit: this.limit };
      },
      onShortage: async (listener) => {
        this.#listeners.set(process, listener);
        return () => void this.#listeners.delete(process);
      },
    };
  }

  usage: UsageStore = {
    addUsage: async (entries) => {
      await settled();
      if (this.away) throw new Error('away');
      for (const { kind, amount } of entries) this.used.set(kind, (this.used.get(kind) ?? 0) + amount);
    },
    remaining: async () => {
      await this.#answers();
      if (this.away) throw new Error('away');
      const left = Object.entries(this.quota).map(([kind, quota]) => [
        kind,
        quota - (this.used.get(kind as UsageKind) ?? 0),
      ]);
      return Object.fromEntries(left) as Partial<Record<UsageKind, number>>;
    },
  };
}

function world(limit = 50) {
  const clock = new SimulatedClock();
  const store = new Store(clock, limit);
  const admit = (process = 'a'): RunningAdmission =>
    createAdmission({
      leases: store.leases(process),
      usage: store.usage,
      clock,
      log: silentLog,
      defaultLimit: 50,
    });
  return { clock, store, admit };
}

const refusalOf = (entering: Promise<unknown>): Promise<ServiceError | undefined> =>
  entering.then(
    () => undefined,
    (error: unknown) => error as ServiceError,
  );

const enterMany = async (admission: RunningAdmission, count: number) => {
  const results = await Promise.allSettled(Array.from({ length: count }, () => admission.enter('ws')));
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
};

t.test('one process may use every slot of a workspace, and no more', async (t) => {
  const { admit } = world(50);
  const admission = admit();
  const leaves = await enterMany(admission, 80);
  t.equal(leaves.length, 50);
  const refusal = await refusalOf(admission.enter('ws'));
  t.equal(refusal?.code, 'concurrency_exceeded');
  t.equal(refusal?.status, 429);
  t.ok((refusal?.retryAfter ?? 0) >= 1);
  leaves[0]?.();
  leaves[0]?.();
  t.equal((await enterMany(admission, 2)).length, 1, 'a slot that is given back twice comes back once');
});

t.test('a store that is slow to lease more is 503 and no 429: the limit is not reached', async (t) => {
  const { clock, store, admit } = world(50);
  const admission = admit();
  t.equal((await enterMany(admission, 3)).length, 3);
  store.slowMs = 6000;
  const burst = Promise.all(Array.from({ length: 20 }, () => refusalOf(admission.enter('ws'))));
  await clock.advance(5001);
  const refusals = (await burst).flatMap((refusal) => (refusal ? [refusal] : []));
  t.ok(refusals.length > 0, 'there are no more leased slots');
  for (const { code, retryAfter } of refusals)
    exactly(t, { code, retryAfter }, { code: 'overloaded', retryAfter: 1 });
});

t.test('a limit that is lowered lets the running jobs end and no new one in', async (t) => {
  const { admit, store, clock } = world(10);
  const admission = admit();
  const leaves = await enterMany(admission, 10);
  store.limit = 4;
  await clock.advance(LEASE_MS);
  leaves.slice(0, 6).forEach((leave) => leave());
  t.equal((await enterMany(admission, 3)).length, 0);
  leaves[6]?.();
  t.equal((await enterMany(admission, 3)).length, 1);
});

t.test(
  'held slots grow ahead of need, so that jobs one after another never wait for the store',
  async (t) => {
    const { admit, clock } = world(50);
    const admission = admit();
    await admission.enter('ws');
    for (let job = 2; job <= 50; job++) {
      await clock.advance(1);
      const held = admission.state().held;
      t.ok(held >= job, `job ${job} finds ${held} slots`);
      await admission.enter('ws');
    }
  },
);

t.test('slots go back when they are idle, and at the end', async (t) => {
  const { admit, store, clock } = world(50);
  const admission = admit();
  const leaves = await enterMany(admission, 50);
  t.equal(store.heldBy('a'), 50);
  leaves.slice(1).forEach((leave) => leave());
  await clock.advance(LEASE_MS);
  t.ok(store.heldBy('a') < 10, `${store.heldBy('a')} are held for one job`);
  leaves[0]?.();
  await clock.advance(LEASE_MS * 3);
  t.equal(store.heldBy('a'), 0);
  t.equal(admission.state().workspaces, 0);
  await admission.enter('ws');
  await admission.stop();
  await admission.stop();
  t.equal(store.heldBy('a'), 0);
  t.equal(clock.pending, 0, 'no timer is left');
});

t.test('a lease is renewed for as long as a job runs', async (t) => {
  const { admit, store, clock } = world(50);
  const admission = admit();
  await admission.enter('ws');
  for (let second = 0; second < 60; second++) {
    await clock.advance(1000);
    t.ok(store.heldBy('a') >= 1);
  }
});

t.test('a process that is short is given what another has to spare', async (t) => {
  const { admit, clock } = world(10);
  const [a, b] = [admit('a'), admit('b')];
  const leaves = await enterMany(a, 10);
  t.equal((await enterMany(b, 1)).length, 0);
  leaves.slice(0, 7).forEach((leave) => leave());
  await clock.advance(300);
  await enterMany(b, 1);
  await clock.advance(300);
  const [first = () => undefined] = await enterMany(b, 1);
  await clock.advance(300);
  first();
  t.ok((await enterMany(b, 7)).length >= 6);
});

t.test(
  'two processes never let in more than the limit, with the store away for less than a lease (seeded walk)',
  async (t) => {
    let seed = 20_260_101;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const { admit, store, clock } = world(12);
    const processes = ['a', 'b'].map((name) => ({ admission: admit(name), running: [] as (() => void)[] }));
    let most = 0;
    let back = 0;
    for (let step = 0; step < 3000; step++) {
      const { admission, running } = processes[random(2)]!;
      const action = random(10);
      if (action < 5)
        void admission.enter('ws').then(
          (leave) => running.push(leave),
          () => undefined,
        );
      else if (action < 8) running.splice(random(Math.max(1, running.length)), 1)[0]?.();
      else await clock.advance(random(4000));
      if (clock.now() > back) store.away = random(5) === 0;
      if (!store.away) back = clock.now() + 3000;
      await settled();
      const used = processes.reduce((sum, { admission: { state } }) => sum + state().used, 0);
      most = Math.max(most, used);
      if (used > 12) t.fail(`step ${step}: ${used} jobs run`);
    }
    t.ok(most >= 10, `the walk came to ${most} jobs at once`);
  },
);

t.test('without the store, held slots serve for a while, and then jobs are refused', async (t) => {
  const { admit, store, clock } = world(50);
  const admission = admit();
  const leave = await admission.enter('ws');
  store.away = true;
  await clock.advance(LEASE_MS * 2);
  leave();
  (await admission.enter('ws'))();
  await clock.advance(LEASE_MS + 61_000);
  const refusal = await refusalOf(admission.enter('ws'));
  t.equal(refusal?.code, 'overloaded');
  t.ok((refusal?.retryAfter ?? 0) >= 1);
  store.away = false;
  await clock.advance(1000);
  (await admission.enter('ws'))();
});

t.test('a workspace that was never seen is refused while the store is away or silent', async (t) => {
  const { admit, store, clock } = world();
  store.away = true;
  t.equal((await refusalOf(admit().enter('ws')))?.code, 'overloaded');
  store.away = false;
  store.usage.remaining = () => new Promise(() => undefined);
  const refusal = refusalOf(admit('b').enter('ws'));
  await clock.advance(5000);
  t.equal((await refusal)?.code, 'overloaded');
});

t.test('a lease that a full disk refuses is no limit of the client: 503, which says so', async (t) => {
  const { clock, store } = world();
  const full = Object.assign(new Error('could not extend file'), { code: '53100', query: 'insert' });
  const leases = { ...store.leases('a'), hold: () => Promise.reject(full) };
  const parts = { leases, usage: store.usage, clock, log: silentLog, defaultLimit: 50 };
  const refusal = await refusalOf(createAdmission(parts).enter('ws'));
  exactly(t, refusal, { code: 'storage_full', status: 503, retryAfter: 1 });
});

t.test('the first jobs of a workspace wait for a store that is slow and not away', async (t) => {
  const { admit, store, clock } = world();
  store.slowMs = 4000;
  const admission = admit();
  const entering = enterMany(admission, 4);
  await clock.advance(10_000);
  t.equal((await entering).length, 4);
});

t.test(
  'usage is written in batches, kept while the store is away, and complete after a stop (decision 6)',
  async (t) => {
    const { admit, store, clock } = world();
    const admission = admit();
    for (let job = 0; job < 10; job++) admission.use('ws', 'synthesis_characters', 7);
    t.equal(store.used.size, 0);
    await clock.advance(2000);
    t.equal(store.used.get('synthesis_characters'), 70);
    store.away = true;
    admission.use('ws', 'synthesis_characters', 5);
    await clock.advance(10_000);
    t.equal(admission.state().unwrittenUsage, 1);
    admission.use('ws', 'transcription_ms', 900);
    const stopped = admission.stop();
    await clock.advance(700);
    store.away = false;
    await clock.advance(1000);
    await stopped;
    t.equal(store.used.get('synthesis_characters'), 75);
    t.equal(store.used.get('transcription_ms'), 900);
    t.equal(admission.state().unwrittenUsage, 0);
  },
);

t.test(
  'an exhausted quota refuses its kind with 402, by the local count, until there is quota again',
  async (t) => {
    const { admit, store, clock } = world();
    store.quota = { synthesis_characters: 100 };
    const admission = admit();
    (await admission.enter('ws', 'synthesis_characters'))();
    admission.use('ws', 'synthesis_characters', 100);
    const refusal = await refusalOf(admission.enter('ws', 'synthesis_characters'));
    t.equal(refusal?.code, 'quota_exceeded');
    t.equal(refusal?.status, 402);
    (await admission.enter('ws', 'transcription_ms'))();
    t.equal(
      (await refusalOf(admission.enter('ws')))?.code,
      'quota_exceeded',
      'any exhausted quota, where no kind is told',
    );
    await clock.advance(4000);
    t.equal((await refusalOf(admission.enter('ws', 'synthesis_characters')))?.code, 'quota_exceeded');
    store.quota = { synthesis_characters: 500 };
    await clock.advance(14_000);
    (await admission.enter('ws', 'synthesis_characters'))();
  },
);
