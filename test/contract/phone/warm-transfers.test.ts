/**
 * Callers who are connected to a colleague who is briefed first (`warm`, ops/adr/0043-transfers.md), with doubles of the
 * providers' APIs: each outcome, for the caller, for the colleague and in the record.
 */
import t from '../../fixtures/tap.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import type { ApiCall, Told } from '../../fixtures/phone/api.js';
import type { PhoneLine } from '../../fixtures/phone/line.js';
import { APIS, SECRET } from '../../fixtures/phone/placed-calls.js';
import {
  type Caller,
  type Desk,
  faultsAt,
  resultOf,
  TransferredCalls,
  transfersIn,
} from '../../fixtures/phone/transferred-calls.js';
import { until } from '../../fixtures/until.js';

/** Calls at a time: each test has a desk of its own. */
t.jobs = 4;
const calls = await TransferredCalls.start(t);
const { phones } = calls;
const { talks, sql } = phones;
const { call: ask } = talks;

/** The provider at which all is tried; speech only there, since it does not depend on the provider. */
const [HEARD_AT] = APIS;
/** What depends on the provider: the form of its answers. How each state is told, and keys, are those of other calls (phone-placed, phone). */
const AT_EACH: readonly string[] = [
  'busy',
  'a machine',
  'the provider ends it',
  'connecting fails',
  'confirm',
];

/** Repeats the words until they were understood. */
const keepSaying = async (line: PhoneLine, words: string, isOver: () => boolean): Promise<void> => {
  const speech = await talks.speech(words);
  while (!isOver()) {
    await line.say(speech);
    await until('it is understood', isOver, 4000).catch(() => undefined);
  }
};

const told = (state: Told) => (leg: ApiCall) => leg.tell(state, SECRET);

/** Events of the colleague's call before anybody has answered, and the resulting transfer. */
const UNANSWERED: readonly (readonly [
  what: string,
  act: (leg: ApiCall) => Promise<unknown>,
  state: string,
  why: RegExp,
])[] = [
  ['busy', told('busy'), 'busy', /^The line is busy \(Desk\)/],
  ['no answer', told('no_answer'), 'no_answer', /^Nobody answered/],
  ['failed', told('failed'), 'failed', /^The call failed/],
];

interface Colleague {
  readonly leg: ApiCall;
  readonly line: PhoneLine;
  readonly own: Desk;
}
type Act = (colleague: Colleague) => Promise<unknown>;

/** Events after the colleague has answered, and the resulting transfer. */
const ANSWERED: readonly (readonly [what: string, act: Act, state: string, why: RegExp])[] = [
  [
    'a key says no',
    async ({ line }) => line.press('2', '#'),
    'refused',
    /^The colleague does not take the call \(Desk\)\. /,
  ],
  ['hangs up', async ({ line }) => line.hangUp(), 'refused', /The colleague hung up\./],
  [
    'a machine',
    ({ leg }) => leg.answeredBy('machine', SECRET),
    'voicemail',
    /^An answering machine answered/,
  ],
  ['the provider ends it', ({ leg }) => told('ended')(leg), 'refused', /The colleague hung up\./],
  [
    'connecting fails',
    async ({ own, line }) => {
      own.api.misbehave = (response) => response.writeHead(500).end();
      line.press('1', '#');
    },
    'failed',
    /answered 500/,
  ],
  [
    'hangs up while both are being connected',
    async ({ own, leg, line }) => {
      own.api.misbehave = (response) =>
        void leg.tell('ended', SECRET).then(() => response.writeHead(own.api.dialect.done).end());
      line.press('1', '#');
    },
    'refused',
    /The colleague hung up\. The caller is with you/,
  ],
];

const BY_VOICE: typeof ANSWERED = [
  [
    'a voice picks up with a yes, and says no',
    async ({ leg, line, own }) => {
      await line.say(await talks.speech('Yes?'));
      await keepSaying(line, 'No.', () => own.api.hungUp.includes(leg.callId));
    },
    'refused',
    /does not take the call/,
  ],
];

/** Ways to connect both, and what the colleague does for it. */
const CONNECTED: readonly (readonly [connects: string, act: Act])[] = [
  ['confirm', async ({ line }) => line.press('1', '#')],
  ['direct', async () => undefined],
];
const CONNECTED_BY_VOICE: typeof CONNECTED = [
  [
    'confirm by voice',
    ({ leg, line, own }) => keepSaying(line, 'Yes, please.', () => own.api.replaced.has(leg.callId)),
  ],
];

/** A colleague who has picked up, and is being told about the caller, whom `before` others were asked to take. */
async function pickedUp(own: Desk, caller: Caller, before = 0): Promise<Colleague> {
  const leg = await own.api.call(caller.desk, before);
  const line = await phones.answered({ call: leg, api: own.api });
  await until('the colleague is told', () => line.audible > 16);
  return { leg, line, own };
}

for (const dialect of APIS) {
  const isHeard = dialect === HEARD_AT;
  const isTried = ([what]: readonly [what: string, ...rest: unknown[]]): boolean =>
    isHeard || shortOrLong(AT_EACH.includes(what), true);

  /** The caller asks for the desk once more; `before`: how often they have. */
  const asksAgain = ({ line }: Caller, before: number): void => {
    if (before > 0) line.press(String(before + 1), '#');
  };

  t.test(`${dialect.name}, warm: the caller stays with the agent while nobody answers`, async (t) => {
    const own = await calls.desk(dialect);
    const caller = await calls.calling(own, { mode: 'warm' });
    let before = 0;
    for (const [what, act, state, error] of UNANSWERED.filter(isTried)) {
      asksAgain(caller, before);
      const leg = await own.api.call(caller.desk, before);
      t.equal(leg.from, own.number);
      const heard = caller.line.audible;
      await until('the caller hears that they wait', () => caller.line.audible > heard + 10);
      t.equal(await act(leg), 204);
      const record = await calls.goesOn(caller, ++before);
      exactly(t, resultOf(record), { status: 'failed', error }, what);
      exactly(t, transfersIn(record).at(-1), { mode: 'warm', state, returned_at: null }, what);
    }
    for (const [misbehave, error] of faultsAt(dialect)) {
      own.api.misbehave = misbehave;
      asksAgain(caller, before);
      exactly(t, resultOf(await calls.goesOn(caller, ++before)), { error });
    }
    await calls.hangsUp(caller, caller);
  });

  t.test(
    `${dialect.name}, warm: the caller stays with the agent if a colleague does not take over`,
    async (t) => {
      const own = await calls.desk(dialect);
      const caller = await calls.calling(own, { mode: 'warm' });
      let before = 0;
      for (const [what, act, state, error] of isHeard
        ? [...ANSWERED, ...BY_VOICE]
        : ANSWERED.filter(isTried)) {
        asksAgain(caller, before);
        const colleague = await pickedUp(own, caller, before);
        await act(colleague);
        const record = await calls.goesOn(caller, ++before);
        exactly(t, resultOf(record), { status: 'failed', error }, what);
        exactly(t, transfersIn(record).at(-1), { state, answered_at: /Z$/ }, what);
        await own.hungUp(colleague.leg.callId);
        t.notOk(own.api.replaced.has(caller.call.callId), 'the caller is not led into an empty room');
      }
      await calls.hangsUp(caller, caller);
    },
  );

  for (const [connects, act] of isHeard ? [...CONNECTED, ...CONNECTED_BY_VOICE] : CONNECTED.filter(isTried)) {
    const [how = ''] = connects.split(' ', 1);
    t.test(`${dialect.name}, warm: both are connected (${connects})`, async (t) => {
      const own = await calls.desk(dialect);
      const caller = await calls.calling(own, { mode: 'warm', warm_connect: how });
      await own.api.call(caller.desk);
      const [row] = await sql<{ text: string }[]>`
        select briefing::json ->> 'text' as text from phone_transfers where to_address = ${caller.desk}`;
      t.equal(row?.text, 'Hello, I have a caller on the line for you. Ada wants tea.');
      const colleague = await pickedUp(own, caller);
      const { leg, line } = colleague;
      await act(colleague);
      const [one, other] = [await own.roomOf(leg), await own.roomOf(caller.call)];
      t.equal(one, other, 'both are in one room');
      t.match(one, /^transfer_[0-9a-f]{24}$/);
      line.hangUp();
      caller.line.hangUp();
      const record = await calls.transferred(caller);
      exactly(t, transfersIn(record), [
        { mode: 'warm', state: 'connected', answered_at: /Z$/, ended_at: /Z$/ },
      ]);
      exactly(t, resultOf(record), { status: 'completed', output: 'The caller is connected' });
      t.equal(await leg.tell('answered', SECRET), 204, 'what is late changes nothing');
      t.notOk(own.api.hungUp.includes(leg.callId));
      t.equal(await leg.tell('ended', SECRET), 204);
      await own.hungUp(caller.call.callId);
      await caller.call.tell('ended', SECRET);
    });
  }

  t.test(`${dialect.name}, warm: the caller hangs up while a colleague is asked`, async (t) => {
    const own = await calls.desk(dialect);
    const impatient = await calls.calling(own, { mode: 'warm' });
    const ringing = await own.api.call(impatient.desk);
    await ringing.tell('ringing', SECRET);
    await calls.hangsUp(impatient, impatient);
    await own.hungUp(ringing.callId);
    exactly(t, transfersIn(await impatient.session()), [
      { state: 'cancelled', reason: 'The caller hung up' },
    ]);
    exactly(t, await ringing.ask(SECRET), { status: 200, document: dialect.ends });
  });

  if (!shortOrLong(isHeard, true)) continue;
  t.test(`${dialect.name}, warm: the session is ended while a colleague is asked`, async (t) => {
    const own = await calls.desk(dialect);
    const stopped = await calls.calling(own, { mode: 'warm' });
    const { leg, line } = await pickedUp(own, stopped);
    const { session_id: id } = (await stopped.session()) as Body;
    t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
    await own.hungUp(leg.callId);
    exactly(t, await line.untilClosed(), { code: 1000 });
    exactly(t, await stopped.line.untilClosed(), { code: 1000 });
    exactly(t, transfersIn(await calls.ended(stopped, 'ended_by_api')), [{ state: 'cancelled' }]);
    await stopped.call.tell('ended', SECRET);
  });
}

t.test('nothing is left at the workers', { buffered: false }, async () => {
  await talks.untilNoCalls();
});
