/** Fair admission (contracts/admission): who begins, who waits, and who is refused, for given jobs and over seeded walks. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { FairPlaces, type PlacesOptions, type Ticket } from '../../../../contracts/admission/fair-places.js';
import { FairQueue, LIVE_IN_A_ROW, type QueuePlace } from '../../../../contracts/admission/fair-queue.js';
import { SHARE } from '../../../../contracts/admission/share.js';
import { JOB_PLACES } from '../../../../contracts/limits/job-places.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { JobOwner } from '../../../../contracts/ports/jobs.js';
import { WaitCounter } from '../../../../contracts/time/wait-counter.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import { seeded } from '../../../fixtures/random.js';

type State = 'waiting' | 'running' | 'refused' | 'over';

interface Job {
  readonly name: string;
  readonly owner: JobOwner;
  state: State;
  ticket?: Ticket;
}

const batch = (workspaceTag: string): JobOwner => ({ workspaceTag });
const live = (workspaceTag: string): JobOwner => ({ workspaceTag, isLive: true });

/** Places whose jobs are noted in the order in which they begin. */
class Watched {
  readonly places: FairPlaces;
  jobs: Job[] = [];
  readonly began: string[] = [];

  constructor(options: PlacesOptions) {
    this.places = new FairPlaces(options);
  }

  enter(owner: JobOwner, name = owner.workspaceTag): Job {
    const job: Job = { name, owner, state: 'waiting' };
    this.jobs.push(job);
    job.ticket = this.places.enter(owner, {
      begin: () => {
        job.state = 'running';
        this.began.push(name);
      },
      refuse: (error) => {
        if (error.code !== 'engine_busy' || error.retryAfter !== 1) throw error;
        job.state = 'refused';
      },
    });
    return job;
  }

  many(count: number, owner: JobOwner): Job[] {
    return Array.from({ length: count }, () => this.enter(owner));
  }

  end(job: Job): void {
    job.state = 'over';
    job.ticket?.leave();
  }

  count(state: State, isLive: boolean, workspaceTag?: string): number {
    return this.jobs.filter(
      ({ owner, ...job }) =>
        job.state === state &&
        (owner.isLive === true) === isLive &&
        (workspaceTag === undefined || owner.workspaceTag === workspaceTag),
    ).length;
  }

  /** Forgets jobs that are over or refused; the last refused one, if there is any. */
  tidy(): Job | undefined {
    const refused = this.jobs.find(({ state }) => state === 'refused');
    this.jobs = this.jobs.filter(({ state }) => state === 'running' || state === 'waiting');
    return refused;
  }

  of(state: State): Job[] {
    return this.jobs.filter((job) => job.state === state);
  }
}

t.test('a workspace alone takes most of the slots, and the rest is for the next that comes', (t) => {
  const watched = new Watched({ slots: 9, queue: 64 });
  watched.many(50, batch('a'));
  t.equal(watched.count('running', false), 6);
  const [b] = watched.many(3, batch('b'));
  t.equal(b?.state, 'running');
  t.equal(watched.count('running', false, 'b'), 2, 'two thirds of the three that were free');
  t.equal(watched.enter(batch('c')).state, 'running');
  watched.end(b!);
  t.equal(watched.count('running', false, 'b'), 2, 'its next job begins');
  t.end();
});

t.test('places kept for live work are never taken by batch work, and live work takes any', (t) => {
  const watched = new Watched({ slots: 8, keptForLive: 4, queue: 64, share: 1 });
  watched.many(20, batch('a'));
  t.equal(watched.count('running', false), 4);
  watched.many(5, live('b'));
  t.equal(watched.count('running', true), 4);
  watched.end(watched.of('running').find(({ owner }) => !owner.isLive)!);
  t.equal(watched.count('running', true), 5, 'the one that waits goes before batch work');
  t.end();
});

t.test('what waits begins by turns of workspaces, live work first', (t) => {
  const watched = new Watched({ slots: 1, queue: 64 });
  watched.many(4, batch('a'));
  watched.many(2, batch('b'));
  watched.enter(live('c'), 'live c');
  watched.enter(live('a'), 'live a');
  while (watched.of('running').length > 0) watched.end(watched.of('running')[0]!);
  t.same(watched.began, ['a', 'live c', 'live a', 'b', 'a', 'b', 'a', 'a']);
  t.end();
});

t.test(`batch work has a turn after ${LIVE_IN_A_ROW} of live work, however much of that comes`, (t) => {
  const watched = new Watched({ slots: 1, queue: 64 });
  watched.many(3, live('a'));
  watched.many(2, batch('b'));
  for (let turn = 0; turn < 12; turn += 1) {
    watched.enter(live('a'));
    watched.end(watched.of('running')[0]!);
  }
  t.same(watched.began.join(''), 'aaaaabaaaabaa');
  t.end();
});

t.test('a full queue refuses the one that fills it, the job that came last, and nobody else', (t) => {
  const watched = new Watched({ slots: 1, queue: 4 });
  const first = watched.many(6, batch('a'));
  t.same(
    first.map(({ state }) => state),
    ['running', 'waiting', 'waiting', 'waiting', 'waiting', 'refused'],
  );
  const b = watched.many(3, batch('b'));
  t.same(
    b.map(({ state }) => state),
    ['waiting', 'waiting', 'refused'],
    'until it has as many as the other',
  );
  t.same(
    first.map(({ state }) => state),
    ['running', 'waiting', 'waiting', 'refused', 'refused', 'refused'],
  );
  t.equal(watched.enter(live('a')).state, 'waiting', 'live work waits elsewhere');
  t.end();
});

t.test('the work of nobody has no bound but the slots', (t) => {
  const watched = new Watched({ slots: 9, queue: 64 });
  watched.many(9, batch(''));
  t.equal(watched.count('running', false), 9);
  t.end();
});

t.test('turns are withdrawn with their signal, and refused when crowded out', async (t) => {
  const places = new FairPlaces({ slots: 1, queue: 1 });
  const forever = new AbortController().signal;
  const leave = await places.turn(batch('a'), forever);
  const gone = new AbortController();
  const waiting = places.turn(batch('a'), gone.signal);
  await rejectsExactly(t, places.turn(batch('a'), forever), { code: 'engine_busy', retryAfter: 1 });
  const reason = new Error('gone');
  gone.abort(reason);
  await rejectsExactly(t, waiting, reason);
  await rejectsExactly(t, places.turn(batch('a'), gone.signal), reason, 'at once if it is aborted already');
  t.same([places.running, places.queued], [1, 0]);
  const next = places.turn(batch('b'), forever);
  leave();
  leave();
  (await next)();
  t.same([places.running, places.queued, places.begun], [0, 0, 2]);
});

t.test('jobs say how long they waited for a slot; who leaves without one says nothing', (t) => {
  let now = 0;
  const waits = new WaitCounter({ monotonic: () => now });
  const watched = new Watched({ slots: 1, queue: 2, waits });
  const [first, second] = watched.many(4, batch('a'));
  t.same([waits.waiting, waits.take()], [2, [0]]);
  now = 30;
  t.equal(second?.ticket?.withdraw(), true);
  t.equal(first?.ticket?.withdraw(), false, 'what runs does not wait');
  now = 70;
  watched.end(first!);
  t.same([waits.waiting, waits.take(), waits.take()], [0, [70], []]);
  t.end();
});

/** The most slots of one workspace by the rule, when it begins one more. */
const mayHave = (held: number, free: number): boolean => held < SHARE * (held + free);

/** One step of a walk: a job comes, leaves its slot, or leaves the queue. Workspace `a` sends most of them. */
function step(watched: Watched, random: () => number): void {
  const [running, waiting] = [watched.of('running'), watched.of('waiting')];
  const any = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];
  const what = random();
  if (what < 0.6) {
    const tag = random() < 0.7 ? 'a' : 'bcdef'[Math.floor(random() * 5)]!;
    watched.enter(random() < 0.3 ? live(tag) : batch(tag));
  } else if (what < 0.95 && running.length > 0) watched.end(any(running)!);
  else {
    const job = any(waiting);
    if (job?.ticket?.withdraw()) job.state = 'over';
  }
}

t.test('in every walk slots, kept places, shares and queues hold, and refusals go to who fills', (t) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = seeded(seed);
    const options = { slots: 1 + Math.floor(random() * 12), queue: 1 + Math.floor(random() * 8) };
    const keptForLive = Math.floor(random() * options.slots);
    const watched = new Watched({ ...options, keptForLive });
    for (let count = 0; count < 300; count += 1) {
      step(watched, random);
      const refused = watched.tidy();
      const [runningLive, runningBatch] = [watched.count('running', true), watched.count('running', false)];
      if (runningBatch > options.slots - keptForLive) t.fail('batch work in a place kept for live work');
      if (runningLive + runningBatch > options.slots) t.fail('more than the slots');
      for (const isLive of [true, false]) {
        if (watched.count('waiting', isLive) > options.queue) t.fail('more than the queue');
        const free = options.slots - runningLive - runningBatch;
        const here = isLive ? free : Math.min(free, options.slots - keptForLive - runningBatch);
        const waits = [...'abcdef'].filter((tag) => watched.count('waiting', isLive, tag) > 0);
        const idle = waits.find((tag) => here > 0 && mayHave(watched.count('running', isLive, tag), here));
        if (idle !== undefined) t.fail(`${idle} waits beside free slots that it may have`);
      }
      if (refused === undefined) continue;
      const isLive = refused.owner.isLive === true;
      const waiting = (tag: string): number => watched.count('waiting', isLive, tag);
      const most = Math.max(...[...'abcdef'].map(waiting));
      if (waiting(refused.owner.workspaceTag) + 1 < most)
        t.fail('one was refused that had less than another');
    }
  }
  t.pass('20 walks of 300 steps');
  t.end();
});

t.test(
  'in every walk a workspace with one job waits at most a turn of each other one, and of live work',
  (t) => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seeded(seed);
      const watched = new Watched({ slots: 3, keptForLive: 1, queue: 1000 });
      for (const tag of 'abcdef') watched.many(30 + Math.floor(random() * 30), batch(tag));
      watched.many(60, live('l'));
      const victim = watched.enter(batch('victim'));
      const before = watched.began.length;
      while (victim.state === 'waiting') {
        const running = watched.of('running');
        watched.end(running[Math.floor(random() * running.length)]!);
        if (random() < 0.5) watched.enter(batch('a'));
        if (random() < 0.5) watched.enter(live('l'));
      }
      const others = watched.began.slice(before, watched.began.indexOf('victim'));
      const turns = others.filter((name) => name !== 'l');
      if (turns.length > 6 || others.length > 7 * (LIVE_IN_A_ROW + 1)) t.fail(`after ${others.join('')}`);
    }
    t.pass('40 walks');
    t.end();
  },
);

t.test('live pieces go first, but not those that nobody waits for yet', (t) => {
  interface Named extends QueuePlace {
    readonly name: string;
  }
  const queue = new FairQueue<Named>();
  const place = (name: string, owner: JobOwner, due = 0): Named => ({ ...owner, name, due });
  queue.add(place('file', batch('a')));
  queue.add(place('speech in hand', live('b'), 20_000));
  queue.add(place('word', live('b')));
  queue.add(place('call', live('c')));
  const order: string[] = [];
  for (let next = queue.next(0); next; next = queue.next(0)) order.push(next.name);
  t.same(order, ['word', 'call', 'file', 'speech in hand']);
  t.end();
});

t.test('the handbook has the places of each role', (t) => {
  const page = readFileSync(new URL('docs/operate/fair-admission.md', CHECKOUT), 'utf8');
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| (\d+) \| (\d+) \| (\d+), (\d+) \|$/gm)].map(
    ([, role, ...numbers]) => [role, ...numbers.map(Number)],
  );
  const wanted = Object.entries(JOB_PLACES).map(([role, { slots, keptForLive, queue }]) => [
    role,
    slots,
    keptForLive,
    queue,
    queue,
  ]);
  t.same(rows, wanted);
  t.end();
});

t.test('the usual number of jobs of one workspace is taken by every role that it is for', (t) => {
  for (const role of ['tts', 'espeak', 'sherpa-tts', 'sherpa-stt', 'stt', 'encode'] as const) {
    const watched = new Watched(JOB_PLACES[role]);
    watched.many(LIMITS.workspace.concurrency, batch('a'));
    t.equal(watched.of('refused').length, 0, role);
    t.equal(watched.enter(batch('b')).state, 'running', 'and the next workspace begins');
  }
  t.end();
});
