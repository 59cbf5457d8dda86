/** The claim of a call by the client whose token began it (actors/claim.ts): all answers, the times, a random walk. */
import t from '../../fixtures/tap.js';
import { createActor } from 'xstate';
import { actorClock } from '../../../actors/clock.js';
import { claim, type ClaimEffect, type ClaimEvent } from '../../../actors/claim.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { pick, seeded } from '../../fixtures/random.js';

type Step = ClaimEvent['type'] | number;

class Walk {
  readonly clock = new SimulatedClock();
  readonly effects: ClaimEffect['type'][] = [];
  readonly #actor = createActor(claim, { clock: actorClock(this.clock) });

  constructor(steps: readonly Step[] = []) {
    this.#actor.on('*', ({ type }) => this.effects.push(type));
    this.#actor.start();
    for (const step of steps) this.step(step);
  }

  get state(): string {
    return this.#actor.getSnapshot().value;
  }

  step(step: Step): void {
    if (typeof step === 'number') this.clock.advance(step);
    else this.#actor.send({ type: step });
  }

  /** Takes the steps; returns their effects and the state after them. */
  told(...steps: readonly Step[]): string {
    const before = this.effects.length;
    for (const step of steps) this.step(step);
    return [...this.effects.slice(before), '→', this.state].join(' ');
  }
}

const STATES = {
  unclaimed: [],
  signalling: ['opened'],
  'signalling twice': ['opened', 'opened'],
  unheard: ['opened', 'closed'],
  givingBack: [10_000],
  givenBack: [10_000, 'given'],
  claimed: ['opened', 'connected'],
} as const satisfies Record<string, readonly Step[]>;

type EventName = ClaimEvent['type'] | '1 s' | '10 s';
const EVENTS = [
  'opened',
  'closed',
  'connected',
  'over',
  'given',
  '1 s',
  '10 s',
] as const satisfies EventName[];

/** The answers of every state to every event; a missing row does not compile. */
const ANSWERS: Readonly<Record<keyof typeof STATES, Readonly<Record<EventName, string>>>> = {
  unclaimed: {
    opened: '→ signalling',
    closed: '→ unclaimed',
    connected: '→ claimed',
    over: '→ claimed',
    given: '→ unclaimed',
    '1 s': '→ unclaimed',
    '10 s': 'wait giveBack → givingBack',
  },
  signalling: {
    opened: '→ signalling',
    closed: 'wait → unheard',
    connected: '→ claimed',
    over: '→ claimed',
    given: '→ signalling',
    '1 s': '→ signalling',
    '10 s': '→ signalling',
  },
  'signalling twice': {
    opened: '→ signalling',
    closed: '→ signalling',
    connected: '→ claimed',
    over: '→ claimed',
    given: '→ signalling',
    '1 s': '→ signalling',
    '10 s': '→ signalling',
  },
  unheard: {
    opened: 'settled → signalling',
    closed: '→ unheard',
    connected: 'settled → claimed',
    over: 'settled → claimed',
    given: '→ unheard',
    '1 s': 'giveBack → givingBack',
    '10 s': 'giveBack → givingBack',
  },
  givingBack: {
    opened: '→ givingBack',
    closed: '→ givingBack',
    connected: '→ givingBack',
    over: '→ givingBack',
    given: 'settled → givenBack',
    '1 s': '→ givingBack',
    '10 s': '→ givingBack',
  },
  givenBack: {
    opened: '→ givenBack',
    closed: '→ givenBack',
    connected: '→ givenBack',
    over: '→ givenBack',
    given: '→ givenBack',
    '1 s': '→ givenBack',
    '10 s': '→ givenBack',
  },
  claimed: {
    opened: '→ claimed',
    closed: '→ claimed',
    connected: '→ claimed',
    over: '→ claimed',
    given: '→ claimed',
    '1 s': '→ claimed',
    '10 s': '→ claimed',
  },
};

const STEP_OF = (event: EventName): Step => (event === '1 s' ? 1000 : event === '10 s' ? 10_000 : event);

for (const [name, steps] of Object.entries(STATES))
  t.test(`${name}: each event is answered on purpose`, async (t) => {
    const answers = EVENTS.map((event) => [event, new Walk(steps).told(STEP_OF(event))]);
    t.strictSame(Object.fromEntries(answers), ANSWERS[name as keyof typeof STATES]);
  });

t.test('the table has every state and every event of the machine', async (t) => {
  const reached = new Set(Object.values(STATES).map((steps) => new Walk(steps).state));
  t.strictSame([...reached].sort(), Object.keys(claim.states).sort());
  const taken = claim.events.filter((type) => !type.startsWith('xstate.'));
  t.strictSame([...taken].sort(), EVENTS.filter((event) => !/\d/.test(event)).sort());
});

t.test('a client has gone when the last of its connections has closed, each time anew', async (t) => {
  const walk = new Walk(['opened', 'opened', 'opened', 'closed']);
  t.equal(walk.told('closed'), '→ signalling');
  t.equal(walk.told('closed'), 'wait → unheard');
  t.equal(walk.told('opened', 'opened', 'closed'), 'settled → signalling');
  t.equal(walk.told('closed'), 'wait → unheard');
});

t.test('a client that opens nothing for 10 s has gone, and one that goes, 1 s later', async (t) => {
  t.equal(new Walk().told(9999), '→ unclaimed');
  t.equal(new Walk([9999]).told(1), 'wait giveBack → givingBack');
  t.equal(new Walk(['opened', 60_000, 'closed']).told(999), '→ unheard');
  t.equal(new Walk(['opened', 60_000, 'closed', 999]).told(1), 'giveBack → givingBack');
});

t.test(
  'random walks: one token at most goes back, never that of a connected user, and all who wait go on',
  async (t) => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = seeded(seed);
      const walk = new Walk();
      let connected = false;
      for (let step = 0; step < 60; step += 1) {
        const next = pick<Step>(random, [
          'opened',
          'opened',
          'closed',
          'closed',
          'closed',
          'connected',
          'given',
          700,
          4000,
        ]);
        const before = walk.effects.length;
        if (next !== 'connected' || random() < 0.2) walk.step(next);
        if (connected && walk.effects.slice(before).includes('giveBack')) t.fail(`seed ${seed}: given back`);
        connected ||= walk.state === 'claimed';
      }
      walk.step('over');
      walk.step('given');
      const waits = walk.effects.filter((effect) => effect !== 'giveBack');
      const inTurn = waits.every((effect, at) => effect === (at % 2 === 0 ? 'wait' : 'settled'));
      t.ok(inTurn && waits.length % 2 === 0, `seed ${seed}: nobody is left waiting`);
      t.ok(walk.effects.length - waits.length <= 1, 'one goes back at most');
      t.equal(walk.clock.pending, 0);
    }
  },
);
