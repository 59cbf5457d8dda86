/** Callers that talk to an agent, reconnect when they hear nothing, and hang up. */
import { setTimeout as pause } from 'node:timers/promises';
import { CALLER_RATE } from '../fixtures/calls/caller.js';
import { type Invite, shownBy } from '../fixtures/conversation/conversation.js';
import { until } from '../fixtures/until.js';
import { speech } from './load.js';
import type { CallRecord, Return } from './record.js';
import type { User } from './user.js';
import { toldBy, within, type World } from './world.js';

const CALL_MS = 25_000;
const THINK_MS = 2000;
const ANSWER_MS = 10_000;
const CONNECT_MS = 12_000;
/** How long clients try to reconnect. */
const BACK_MS = 30_000;
const HEARD_MS = 30_000;
const ENDED_MS = 120_000;
/** One question may get lost on a busy machine, but not this many in a row. */
const MISSED = 2;
const VAIN = 3;

/** "Hello there" in tones. */
export async function spoken(base: string): Promise<Int16Array> {
  const response = await speech(base, 'hello there', CALLER_RATE);
  if (!response.ok) throw new Error(`speech: ${response.status}`);
  return new Int16Array(await response.arrayBuffer());
}

class Talk {
  readonly record: CallRecord;
  /** When its user stops talking. */
  readonly #until: number;

  constructor(
    private readonly world: World,
    private readonly caller: User,
    readonly session: string,
    private readonly words: Int16Array,
  ) {
    const from = world.now();
    this.#until = from + CALL_MS * (0.5 + Math.random());
    this.record = {
      session,
      from,
      to: from,
      answers: 0,
      gap: 0,
      returns: [],
      silent: false,
      hungUp: false,
      reason: null,
    };
    world.calls.push(this.record);
  }

  /** False as soon as the call is gone, or if no answer comes in time. */
  async #answered(): Promise<boolean> {
    const { caller } = this;
    const before = shownBy(caller, 'agent').length;
    const isAnswered = () => shownBy(caller, 'agent').length > before;
    const answer = async (): Promise<void> => {
      await this.#unlessGone(caller.say(this.words));
      await until('it is answered', () => caller.ended || isAnswered(), ANSWER_MS);
    };
    await within(2 * ANSWER_MS, 'an answer', answer()).catch(() => undefined);
    return isAnswered();
  }

  /** Resolves with the work, or as soon as the call is gone. */
  async #unlessGone(work: Promise<unknown>): Promise<void> {
    let done = false;
    const end = (): boolean => (done = true);
    work.then(end, end);
    await until('it is done', () => done || this.caller.ended, ANSWER_MS);
  }

  /** False if the session has ended, or no node lets it in. */
  async #comesBack(): Promise<boolean> {
    const { caller, record, world } = this;
    const attempt: Return = {
      ...{ at: world.now(), why: caller.ended ? 'gone' : 'unanswered' },
      ...{ refusals: [], back: null },
    };
    record.returns.push(attempt);
    const lostAt = performance.now();
    const end = lostAt + BACK_MS;
    while (performance.now() < end) {
      try {
        await within(CONNECT_MS, 'coming back', caller.rejoin());
        attempt.back = world.now();
        void this.#hears(attempt, lostAt);
        return true;
      } catch (error) {
        const told = toldBy(error);
        attempt.refusals.push(told);
        if (typeof told === 'number' && told < 500 && told !== 429) return false;
        world.failed('coming back', told);
        await pause(300);
      }
    }
    return false;
  }

  async #hears(attempt: Return, lostAt: number): Promise<void> {
    const at = await until('the agent is heard', () => this.caller.heardSince(lostAt), HEARD_MS).catch(
      () => undefined,
    );
    if (at !== undefined) attempt.heard = attempt.at + Math.round(at - lostAt);
  }

  /** Talks until its time is up; false if it could not reconnect. */
  async #talk(): Promise<boolean> {
    const { caller, record, world } = this;
    let missed = 0;
    let answeredAt = world.now();
    for (let vain = 0; world.now() < this.#until && !world.over;) {
      if (caller.leave) return false;
      if (!caller.ended && (await this.#answered())) {
        record.answers += 1;
        record.gap = Math.max(record.gap, world.now() - answeredAt);
        answeredAt = world.now();
        [missed, vain] = [0, 0];
        await this.#unlessGone(pause(THINK_MS));
        continue;
      }
      missed += 1;
      if (caller.leave) return false;
      if (!caller.ended && missed < MISSED) continue;
      vain += 1;
      record.silent = vain > VAIN;
      if (record.silent || !(await this.#comesBack())) return false;
      caller.ended = false;
      missed = 0;
    }
    return true;
  }

  async run(): Promise<void> {
    const { caller, record, world } = this;
    if (await this.#talk()) {
      record.hungUp = true;
      caller.hangUp();
    } else caller.drop();
    record.to = world.now();
    record.reason = await endOf(world, this.session);
    record.to = world.now();
  }
}

/** Why the session ended; null if it does not end. */
async function endOf(world: World, id: string): Promise<string | null> {
  const ended = async (): Promise<string | undefined> => {
    const answer = await within(ANSWER_MS, 'an answer', world.ask(`sessions/${id}`)).catch((error: unknown) =>
      world.failed('reading a session', toldBy(error)),
    );
    await pause(500);
    return (answer?.body['ended_reason'] as string | null | undefined) ?? undefined;
  };
  return until('the session has ended', ended, ENDED_MS).catch(() => null);
}

async function joined(world: World, invite: Invite): Promise<User | undefined> {
  const end = performance.now() + BACK_MS;
  while (performance.now() < end) {
    try {
      return await within(CONNECT_MS, 'joining', world.join(invite));
    } catch (error) {
      const told = toldBy(error);
      // A token spent by a process that died becomes valid again only later.
      if (told === 401) world.refusedTokens.push(world.now());
      else world.failed('joining', told);
      await pause(500);
    }
  }
  await world.ask(`sessions/${invite.session_id}/end`, { method: 'POST' }, [404, 409]);
  return undefined;
}

/** Makes one call after the other. */
export async function call(world: World, agent: string, words: Int16Array): Promise<void> {
  while (!world.over) {
    const answer = await world.ask('sessions', { body: { agent_id: agent, ...world.wish } });
    const invite = answer?.body as unknown as Invite | undefined;
    const caller = invite && (await joined(world, invite));
    if (caller) await new Talk(world, caller, invite.session_id, words).run();
    else await pause(500);
  }
}
