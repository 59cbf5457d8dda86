/** The piece on which an engine works next: the queue and the listener with given times, the scheduler on a given clock. */
import t from '../../../fixtures/tap.js';
import { WaitCounter } from '../../../../contracts/time/wait-counter.js';
import { EngineScheduler } from '../../../../engines/scheduling/engine-scheduler.js';
import {
  FAR_AHEAD_MS,
  FairQueue,
  later,
  type QueuePlace,
} from '../../../../contracts/admission/fair-queue.js';
import { PlaybackClock } from '../../../../engines/scheduling/listener.js';
import { workspaceTag } from '../../../../processes/job-owner.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import { seeded } from '../../../fixtures/random.js';

interface Named extends QueuePlace {
  readonly name: string;
}

const place = (name: string, due = 0): Named => ({ name, workspaceTag: name[0]!, due });

function queueOf(...places: readonly Named[]): FairQueue<Named> {
  const queue = new FairQueue<Named>();
  for (const each of places) queue.add(each);
  return queue;
}

function* order(queue: FairQueue<Named>, now = 0): Generator<string> {
  for (let next = queue.next(now); next; next = queue.next(now)) yield next.name;
}

const never = new AbortController().signal;
const settled = () => new Promise<void>((resolve) => void setImmediate(() => setImmediate(resolve)));

t.test('round robin over workspaces, whatever the number of their jobs', (t) => {
  t.same([...order(queueOf(place('a1'), place('a2'), place('a3'), place('b1'), place('c1'), place('b2')))], [
    'a1', 'b1', 'c1', 'a2', 'b2', 'a3',
  ]); // oxfmt-ignore
  t.end();
});

t.test('a workspace that comes back does not pass one that has waited longer', (t) => {
  const queue = queueOf(place('a1'), place('b1'), place('c1'));
  t.equal(queue.next(0)?.name, 'a1');
  queue.add(place('a2'));
  t.same([...order(queue)], ['b1', 'c1', 'a2']);
  t.end();
});

t.test('two workspaces of 1 and 50 jobs: the one job has every second turn', (t) => {
  const many = Array.from({ length: 50 }, (_, index) => place(`a${index}`));
  const queue = queueOf(...many, place('b'));
  const turns: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const next = queue.next(turn)!;
    turns.push(next.name);
    queue.add({ ...next, due: turn });
  }
  t.equal(turns.indexOf('b'), 1, 'next, once it has come');
  t.equal(turns.filter((name) => name === 'b').length, 10);
  t.equal(new Set(turns).size, 11, "and the other's jobs go round");
  t.end();
});

t.test('a workspace whose turns take long has fewer of them', (t) => {
  const took: Readonly<Record<string, number>> = { a: 150, b: 20 };
  const queue = queueOf(place('a'), place('b'));
  const turns = (count: number): string =>
    Array.from({ length: count }, () => {
      const next = queue.next(0)!;
      queue.worked(next, took[next.name]!);
      queue.add(next);
      return next.name;
    }).join('');
  t.equal(turns(20), 'abbbbbbbbabbbbbbbabb', 'as much time for each');
  t.end();
});

t.test('who comes back has no credit for the time in which it had no work', (t) => {
  const queue = queueOf(place('b'));
  const turnOf = (name: string, ms: number): void => {
    const next = queue.next(0)!;
    t.equal(next.name, name);
    queue.worked(next, ms);
  };
  turnOf('b', 20);
  for (let turn = 0; turn < 5; turn++) {
    queue.add(place('a'));
    turnOf('a', 150);
  }
  queue.add(place('a'));
  for (let turn = 0; turn < 3; turn++) queue.add(place('b'));
  turnOf('b', 100);
  turnOf('b', 100);
  turnOf('a', 150);
  turnOf('b', 100);
  t.end();
});

t.test('live and batch work are counted apart, and forgotten work counts as none', (t) => {
  const queue = queueOf({ ...place('a'), isLive: true }, place('b'));
  const first = queue.next(0)!;
  queue.worked(first, 1000);
  queue.worked({ workspaceTag: 'unknown' }, 1000);
  queue.add(place('a'));
  t.same([...order(queue)], ['b', 'a']);
  t.end();
});

t.test('a first piece is due at once, and the next when its listener has heard the rest', (t) => {
  const now = 1000;
  t.same([...order(queueOf(place('a-second', now + 900), place('a-first', now)), now)], [
    'a-first', 'a-second',
  ]); // oxfmt-ignore
  t.same(
    [...order(queueOf(place('a-first', now), place('a-late', now - 500)), now)],
    ['a-late', 'a-first'],
    'but a listener who hears nothing waits as well',
  );
  t.end();
});

t.test('a job ahead of real time waits, but not if the engine is idle', (t) => {
  const ahead = place('a', FAR_AHEAD_MS + 1);
  const queue = queueOf(ahead, place('b1'), place('b2'));
  t.same([...order(queue)], ['b1', 'b2', 'a'], 'behind two turns of one workspace, then at once');
  t.equal(queue.size, 0);
  t.end();
});

t.test('a job ahead of real time waits no longer once its listener comes near', (t) => {
  const queue = queueOf(place('b0'));
  queue.next(0);
  queue.add(place('a', 60_000));
  queue.add(place('b1', 100));
  queue.add(place('c1', 200));
  queue.add(place('c2', 300));
  t.same([...order(queue, 60_000 - FAR_AHEAD_MS)], ['c1', 'a', 'b1', 'c2'], 'it has its turn as any');
  t.end();
});

t.test("in any order of arrival a workspace's work runs by when it is due, and none is lost", (t) => {
  const random = seeded(3);
  const queue = new FairQueue<Named>();
  const there = new Set<Named>();
  for (let step = 0; step < 5000; step++) {
    const each = place(`${'abc'[Math.floor(random() * 3)]}${step}`, Math.floor(random() * 50));
    queue.add(each);
    there.add(each);
    if (random() < 0.2) {
      const left = [...there][Math.floor(random() * there.size)]!;
      const once = queue.withdraw(left) && there.delete(left) && !queue.withdraw(left);
      if (!once) t.fail(`${left.name} is not withdrawn once`);
    }
    if (random() < 0.7) {
      const next = queue.next(0)!;
      const earlier = [...there].filter((one) => one.workspaceTag === next.workspaceTag);
      const first = earlier.sort((one, other) => one.due - other.due)[0];
      if (next !== first) t.fail(`${next.name} before ${first?.name}`);
      there.delete(next);
    }
    if (queue.size !== there.size) t.fail(`${queue.size} wait instead of ${there.size}`);
  }
  t.equal([...order(queue)].length, there.size);
  t.equal(queue.size, 0);
  t.end();
});

t.test('a job that is cancelled frees its turn, before and behind its beginning', async (t) => {
  const scheduler = new EngineScheduler({ clock: { monotonic: () => 0 } });
  const begun: string[] = [];
  const work = (name: string, until: Promise<unknown>) => () => {
    begun.push(name);
    return until;
  };
  const [running, waiting] = [new AbortController(), new AbortController()];
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const run = (name: string, until: Promise<unknown>, signal: AbortSignal) =>
    scheduler.run(scheduler.placeOf({ workspaceTag: name, aheadSeconds: 0 }), work(name, until), signal);

  const first = run('first', finished, running.signal);
  const second = run('second', Promise.resolve(), waiting.signal);
  const third = run('third', Promise.resolve(), never);
  await settled();
  t.same(begun, ['first']);
  waiting.abort(new Error('left'));
  running.abort(new Error('gone'));
  await rejectsExactly(t, second, { message: 'left' });
  await rejectsExactly(t, first, { message: 'gone' });
  await settled();
  t.same(begun, ['first'], 'the engine still works on what was left behind');
  finish();
  await third;
  t.same(begun, ['first', 'third']);
  await rejectsExactly(t, run('late', Promise.resolve(), waiting.signal), { message: 'left' });
});

t.test('work that fails frees its turn', async (t) => {
  const scheduler = new EngineScheduler();
  const run = (work: () => string) => scheduler.run(scheduler.placeOf(), work, never);
  const failing = run(() => {
    throw new Error('unspeakable');
  });
  await rejectsExactly(t, failing, { message: 'unspeakable' });
  t.equal(await run(() => 'spoken'), 'spoken');
});

t.test('as many pieces at once as the engine works on', async (t) => {
  const scheduler = new EngineScheduler({ atOnce: 2 });
  const entered: (() => void)[] = [];
  for (let count = 0; count < 3; count++)
    void scheduler.enter(scheduler.placeOf(), never).then((leave) => entered.push(leave));
  await settled();
  t.equal(entered.length, 2);
  entered[0]?.();
  await settled();
  t.equal(entered.length, 3);
});

t.test('pieces are counted while they wait, and say how long they did', async (t) => {
  let now = 0;
  const clock = { monotonic: () => now };
  const waits = new WaitCounter(clock);
  const scheduler = new EngineScheduler({ clock, waits });
  const leaving = new AbortController();
  const first = scheduler.enter(scheduler.placeOf(), never);
  const leave = await first;
  const second = scheduler.enter(scheduler.placeOf(), never);
  const gone = scheduler.enter(scheduler.placeOf(), leaving.signal);
  t.equal(waits.waiting, 2);
  now = 40;
  leaving.abort(new Error('left'));
  await rejectsExactly(t, gone, { message: 'left' });
  leave();
  await second;
  t.same([waits.waiting, waits.take()], [0, [0, 40]]);
});

t.test('synthesised audio is delivered before the next piece begins', async (t) => {
  const scheduler = new EngineScheduler();
  const log: string[] = [];
  async function speak(name: string): Promise<void> {
    const spoken = await scheduler.run(
      scheduler.placeOf(),
      () => {
        log.push(`${name} begins`);
        return [1, 2, 3];
      },
      never,
    );
    for await (const chunk of scheduler.handOut(spoken, never)) {
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name}${chunk}`);
    }
  }
  await Promise.all([speak('a'), speak('b')]);
  t.same(log, ['a begins', 'a1', 'a2', 'a3', 'b begins', 'b1', 'b2', 'b3']);
});

t.test('a reader that takes nothing delays no other', async (t) => {
  const scheduler = new EngineScheduler();
  const spoken = await scheduler.run(scheduler.placeOf(), () => [1, 2], never);
  const reader = scheduler.handOut(spoken, never);
  t.equal((await reader.next()).value, 1);
  t.equal(await scheduler.run(scheduler.placeOf(), () => 'next', never), 'next');
});

t.test('a listener plays arriving audio, and waits if it comes too late', (t) => {
  let now = 1000;
  const listener = new PlaybackClock({ monotonic: () => now });
  t.equal(listener.aheadSeconds, 0);
  listener.receive(3);
  listener.receive(2);
  t.equal(listener.aheadSeconds, 5);
  now += 4000;
  t.equal(listener.aheadSeconds, 1);
  now += 60_000;
  t.equal(listener.aheadSeconds, 0);
  listener.receive(2);
  t.equal(listener.aheadSeconds, 2);
  t.end();
});

t.test('later audio of the same piece is due later', (t) => {
  t.same(later({ workspaceTag: 'a', due: 1000 }, 1.5), { workspaceTag: 'a', due: 2500 });
  t.end();
});

t.test('the tag of a workspace is unique and reveals nothing about it', (t) => {
  const tag = workspaceTag('ws_acme');
  t.equal(tag, workspaceTag('ws_acme'));
  t.not(tag, workspaceTag('ws_other'));
  t.notMatch(tag, /acme/);
  t.end();
});
