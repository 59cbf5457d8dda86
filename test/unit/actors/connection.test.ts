/**
 * A client's connection to a call: the answer of each situation to each event, the times, and a random walk that breaks
 * no invariant (actors/connection.ts).
 */
import t from '../../fixtures/tap.js';
import { connection, type ConnectionEvent } from '../../../actors/connection.js';
import { ConnectionInvariants, ConnectionWalk } from '../../fixtures/actors/connection-walk.js';
import { pick, seeded } from '../../fixtures/random.js';

/** Numbers of links: the client's present one, an earlier and a later one. */
const [EARLIER, LINK, LATER] = [1, 2, 3];

const EVENTS = {
  join: { type: 'join', link: LATER, participant: 'anew' },
  'resume as itself': { type: 'resume', link: LATER, participant: 'first' },
  'resume as another': { type: 'resume', link: LATER, participant: 'other' },
  unnegotiable: { type: 'unnegotiable', link: LINK },
  'unnegotiable, earlier link': { type: 'unnegotiable', link: EARLIER },
  leave: { type: 'leave', link: LINK },
  'leave, earlier link': { type: 'leave', link: EARLIER },
  gone: { type: 'gone', link: LINK },
  'gone, earlier link': { type: 'gone', link: EARLIER },
  mediaUp: { type: 'mediaUp' },
  mediaDown: { type: 'mediaDown' },
  close: { type: 'close' },
} as const satisfies Record<string, ConnectionEvent>;

type EventName = keyof typeof EVENTS | '1.5 s' | '3 s' | '15 s';

const WAITS = { '1.5 s': 1500, '3 s': 3000, '15 s': 15_000 } as const;

const JOIN: ConnectionEvent = { type: 'join', link: LINK, participant: 'first' };
const { mediaUp, unnegotiable, leave, gone, close } = EVENTS;

/** The events that lead to each situation. */
const SITUATIONS = {
  absent: [],
  joining: [JOIN],
  up: [JOIN, mediaUp],
  rejoining: [JOIN, unnegotiable],
  'rejoining, media up': [JOIN, mediaUp, unnegotiable],
  away: [JOIN, gone],
  'away, media up': [JOIN, mediaUp, gone],
  'up, leaving': [JOIN, mediaUp, leave],
  'rejoining, leaving': [JOIN, unnegotiable, leave],
  'away, leaving': [JOIN, leave, gone],
  'away, leaving to rejoin': [JOIN, unnegotiable, leave, gone],
  closing: [JOIN, mediaUp, close],
  closed: [JOIN, mediaUp, close, 3000],
} as const satisfies Record<string, readonly (ConnectionEvent | number)[]>;

type Situation = keyof typeof SITUATIONS;

const reach = (situation: Situation): ConnectionWalk => {
  const walk = new ConnectionWalk();
  for (const step of SITUATIONS[situation]) walk.step(step);
  return walk;
};

/** The effects of an event, and the states of media, signalling and intent if they change. Empty: ignored. */
function answer(situation: Situation, event: EventName): string {
  const walk = reach(situation);
  const before = walk.states.join(' ');
  const told = walk.told(
    event in WAITS ? WAITS[event as keyof typeof WAITS] : EVENTS[event as keyof typeof EVENTS],
  );
  const after = walk.states.join(' ');
  return after === before ? told : `${told} → ${after}`.trim();
}

/** Groups of events that many situations ignore as a whole. */
const FROM_EARLIER_LINK = {
  'unnegotiable, earlier link': '',
  'leave, earlier link': '',
  'gone, earlier link': '',
};
const FROM_LINK = { unnegotiable: '', leave: '', gone: '' };
const TIMES = { '1.5 s': '', '3 s': '', '15 s': '' };
const CLOSED = {
  ...FROM_EARLIER_LINK,
  ...FROM_LINK,
  ...{ join: '', 'resume as itself': '', 'resume as another': '' },
  ...{ mediaUp: '', mediaDown: '', close: '' },
};

/** The answers of every situation to every event; a missing row does not compile, and fails below. */
const ANSWERS: Readonly<Record<Situation, Readonly<Record<EventName, string>>>> = {
  absent: {
    ...FROM_EARLIER_LINK,
    ...FROM_LINK,
    ...TIMES,
    join: 'welcome 3 → down joined staying',
    'resume as itself': 'askToRejoin 3 → down rejoining staying',
    'resume as another': 'askToRejoin 3 → down rejoining staying',
    mediaUp: '',
    mediaDown: '',
    close: 'ignore → closing',
  },
  joining: {
    ...FROM_EARLIER_LINK,
    ...TIMES,
    join: 'closeLink 2, welcome 3',
    'resume as itself': 'closeLink 2, askToRejoin 3 → down rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    unnegotiable: 'askToRejoin 2 → down rejoining staying',
    leave: '→ down joined leaving',
    gone: '→ down away staying',
    mediaUp: 'connected → up joined staying',
    mediaDown: '',
    close: 'dismiss 2 callOver, ignore → closing',
  },
  up: {
    ...FROM_EARLIER_LINK,
    ...TIMES,
    join: 'disconnected, closeLink 2, welcome 3 → down joined staying',
    'resume as itself': 'closeLink 2, askToRejoin 3 → up rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    unnegotiable: 'askToRejoin 2 → up rejoining staying',
    leave: '→ up joined leaving',
    gone: '→ up away staying',
    mediaUp: '',
    mediaDown: 'disconnected → down joined staying',
    close: 'dismiss 2 callOver, ignore → closing',
  },
  rejoining: {
    ...FROM_EARLIER_LINK,
    ...TIMES,
    join: 'closeLink 2, welcome 3 → down joined staying',
    'resume as itself': 'closeLink 2, askToRejoin 3',
    'resume as another': 'dismiss 3 displaced',
    unnegotiable: 'askToRejoin 2',
    leave: '→ down rejoining leavingToRejoin',
    gone: '→ down away staying',
    mediaUp: 'connected → up rejoining staying',
    mediaDown: '',
    close: 'dismiss 2 callOver, ignore → closing',
  },
  'rejoining, media up': {
    ...FROM_EARLIER_LINK,
    ...TIMES,
    join: 'disconnected, closeLink 2, welcome 3 → down joined staying',
    'resume as itself': 'closeLink 2, askToRejoin 3',
    'resume as another': 'dismiss 3 displaced',
    unnegotiable: 'askToRejoin 2',
    leave: '→ up rejoining leavingToRejoin',
    gone: '→ up away staying',
    mediaUp: '',
    mediaDown: 'disconnected → down rejoining staying',
    close: 'dismiss 2 callOver, ignore → closing',
  },
  away: {
    ...FROM_EARLIER_LINK,
    ...FROM_LINK,
    join: 'welcome 3 → down joined staying',
    'resume as itself': 'askToRejoin 3 → down rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    mediaUp: 'connected → up away staying',
    mediaDown: '',
    close: 'ignore → closing',
    '1.5 s': '',
    '3 s': '',
    '15 s': 'release → down absent staying',
  },
  'away, media up': {
    ...FROM_EARLIER_LINK,
    ...FROM_LINK,
    join: 'disconnected, welcome 3 → down joined staying',
    'resume as itself': 'askToRejoin 3 → up rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    mediaUp: '',
    mediaDown: 'disconnected → down away staying',
    close: 'ignore → closing',
    '1.5 s': '',
    '3 s': '',
    '15 s': 'release, disconnected → down absent staying',
  },
  'up, leaving': {
    ...FROM_EARLIER_LINK,
    join: 'disconnected, closeLink 2, welcome 3 → down joined staying',
    'resume as itself': 'closeLink 2, askToRejoin 3 → up rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    unnegotiable: 'askToRejoin 2 → up rejoining leaving',
    leave: '',
    gone: '→ up away leaving',
    mediaUp: '',
    mediaDown: 'disconnected → down joined leaving',
    close: 'dismiss 2 callOver, ignore → closing',
    '1.5 s': 'left → up joined staying',
    '3 s': 'left → up joined staying',
    '15 s': 'left → up joined staying',
  },
  'rejoining, leaving': {
    ...FROM_EARLIER_LINK,
    join: 'closeLink 2, welcome 3 → down joined staying',
    'resume as itself': 'closeLink 2, askToRejoin 3 → down rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    unnegotiable: 'askToRejoin 2',
    leave: '',
    gone: '→ down away leavingToRejoin',
    mediaUp: 'connected → up rejoining leavingToRejoin',
    mediaDown: '',
    close: 'dismiss 2 callOver, ignore → closing',
    '1.5 s': '',
    '3 s': '',
    '15 s': 'left → down rejoining staying',
  },
  'away, leaving': {
    ...FROM_EARLIER_LINK,
    ...FROM_LINK,
    join: 'welcome 3 → down joined staying',
    'resume as itself': 'askToRejoin 3 → down rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    mediaUp: 'connected → up away leaving',
    mediaDown: '',
    close: 'ignore → closing',
    '1.5 s': 'left → down away staying',
    '3 s': 'left → down away staying',
    '15 s': 'left, release → down absent staying',
  },
  'away, leaving to rejoin': {
    ...FROM_EARLIER_LINK,
    ...FROM_LINK,
    join: 'welcome 3 → down joined staying',
    'resume as itself': 'askToRejoin 3 → down rejoining staying',
    'resume as another': 'dismiss 3 displaced',
    mediaUp: 'connected → up away leavingToRejoin',
    mediaDown: '',
    close: 'ignore → closing',
    '1.5 s': '',
    '3 s': '',
    '15 s': 'left, release → down absent staying',
  },
  closing: { ...CLOSED, '1.5 s': '', '3 s': 'release → closed', '15 s': 'release → closed' },
  closed: { ...CLOSED, ...TIMES },
};

for (const situation of Object.keys(SITUATIONS) as Situation[])
  t.test(`${situation}: each event is answered on purpose`, async (t) => {
    const events = [...Object.keys(EVENTS), ...Object.keys(WAITS)] as EventName[];
    t.strictSame(
      Object.fromEntries(events.map((event) => [event, answer(situation, event)])),
      ANSWERS[situation],
    );
  });

t.test('the situations cover every state, the events every type', async (t) => {
  const reached = new Set((Object.keys(SITUATIONS) as Situation[]).flatMap((name) => reach(name).states));
  const leaves = (node: typeof connection.root): string[] => {
    const inner = Object.values(node.states) as (typeof node)[];
    return inner.length > 0 ? inner.flatMap(leaves) : [node.key];
  };
  t.strictSame([...reached].sort(), [...new Set(leaves(connection.root))].sort());
  const taken = new Set(connection.events.filter((type) => !type.startsWith('xstate.')));
  t.strictSame([...taken].sort(), [...new Set(Object.values(EVENTS).map(({ type }) => type))].sort());
});

t.test('a `leave` is a hang-up 1.5 s later, and not before', async (t) => {
  const walk = reach('up, leaving');
  t.equal(walk.told(1499), '');
  t.equal(walk.told(1), 'left');
});

t.test('a client that says `leave` and joins in time has not hung up', async (t) => {
  const walk = reach('up, leaving');
  t.equal(walk.told(1499, EVENTS.join), 'disconnected, closeLink 2, welcome 3');
  t.equal(walk.told(60_000), '');
});

t.test('a `leave` that is said again begins its time anew', async (t) => {
  const walk = reach('up, leaving');
  t.equal(walk.told(1000, leave, 1499), '');
  t.equal(walk.told(1), 'left');
});

t.test('a client that was told to join anew has 15 s for it after its `leave`', async (t) => {
  const walk = reach('rejoining, leaving');
  t.equal(walk.told(14_999), '');
  t.equal(walk.told(1), 'left');
});

t.test('media outlives its signalling by 15 s', async (t) => {
  const walk = reach('away, media up');
  t.equal(walk.told(14_999), '');
  t.equal(walk.told(1), 'release, disconnected');
});

t.test('a client that is back keeps its media, however long it was away twice', async (t) => {
  const walk = reach('away, media up');
  const back: ConnectionEvent = { type: 'resume', link: LATER, participant: 'first' };
  t.equal(walk.told(14_999, back, 60_000), 'askToRejoin 3');
  t.equal(walk.told({ type: 'gone', link: LATER }, 14_999), '');
});

t.test('after the farewell media is closed 3 s later, once', async (t) => {
  const walk = reach('closing');
  t.equal(walk.told(2999), '');
  t.equal(walk.told(1, 60_000), 'release');
});

t.test('random walks break no invariant, and end with nothing open and no time running', async (t) => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seeded(seed);
    const walk = new ConnectionWalk();
    const invariants = new ConnectionInvariants();
    let links = 0;
    /** When the client first said `leave` since it last joined. */
    let leaving: number | undefined;
    for (let step = 0; step < 100; step += 1) {
      const name = pick(random, [
        'join',
        'resume',
        'unnegotiable',
        'leave',
        'gone',
        'mediaUp',
        'mediaDown',
        'wait',
        'wait',
      ]);
      const link = Math.max(1, links - Math.floor(random() * 1.3));
      const participant = String(links - Math.floor(random() * 2));
      const before = walk.effects.length;
      const events: Readonly<Record<string, () => ConnectionEvent | number>> = {
        join: () => ({ type: 'join', link: (links += 1), participant: String(links) }),
        resume: () => ({ type: 'resume', link: (links += 1), participant }),
        wait: () => Math.floor(random() * 4000),
      };
      walk.step(events[name]?.() ?? ({ type: name, link } as ConnectionEvent));
      const fresh = walk.effects.slice(before);
      for (const effect of fresh) {
        invariants.look(effect);
        const early = leaving === undefined || walk.clock.now() - leaving < 1500;
        if (effect.type === 'left' && early)
          invariants.broken.push('left without a `leave`, or before its time');
      }
      if (fresh.some(({ type }) => type === 'welcome' || type === 'askToRejoin') && name !== 'unnegotiable')
        leaving = undefined;
      if (name === 'leave' && link === invariants.link) leaving ??= walk.clock.now();
    }
    walk.step(EVENTS.close);
    walk.step(3000);
    for (const effect of walk.effects.slice(-3)) if (effect.type === 'release') invariants.look(effect);
    t.strictSame(invariants.broken, [], `seed ${seed}`);
    t.equal(walk.effects.at(-1)?.type, 'release');
    t.equal(walk.clock.pending, 0);
    t.notOk(invariants.holdsMedia);
  }
});
