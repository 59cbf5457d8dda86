/** One call of the run: an agent with all that the row needs, a caller who speaks, and what became of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Body, makeAgent } from '../../fixtures/platform/agents.js';
import { Caller } from '../../fixtures/calls/caller.js';
import type { Invite, Record as SessionRecord } from '../../fixtures/conversation/conversation.js';
import { until } from '../../fixtures/until.js';
import { callerWords } from './doubles/caller-voice.js';
import { nameOf, SAID } from './doubles/speech.js';
import { faultOf } from './faults.js';
import { type Utterance, utterancesOf } from './heard.js';
import { wantedLine } from './logged.js';
import type { Ask, Row } from './rows.js';
import type { Side } from './world.js';

/** From the connection to the fault: greeted, and the fixed lines are made, of which the last is followed by no other for so long. */
const SETTLED_MS = 3000;
const LINES_MADE_MS = 1000;
/** Longest wait for what must be heard. */
const ASKED_MS = 40_000;
/** Silence behind the agent's words. */
const QUIET_MS = 800;
const ENDED_MS = 90_000;
/** A call may end before what ended it is noticed by all. */
const LOGGED_MS = 10_000;
const MEANWHILE_MS = 700;
/** Typed lines of a long conversation, and their length. */
const LINES = 4;
const LINE = 'It goes on and on. '.repeat(70);

/** When the caller spoke, in ms of `performance.now()`. */
export interface Spoken {
  readonly from: number;
  readonly to: number;
}

export interface Asked {
  readonly ask: Ask;
  readonly spoken: readonly Spoken[];
  readonly heard: readonly Utterance[];
  /** What was shown of the agent's words. */
  readonly shown: string;
  /** Why it was not waited for any longer; undefined if what must be heard was heard. */
  readonly vain: string | undefined;
}

export interface CallMade {
  readonly row: Row;
  readonly asked: readonly Asked[];
  readonly record: SessionRecord & Body;
  /** The gateway's log about this call, or the whole of it where the fault is everybody's. */
  readonly lines: readonly Body[];
  /** Idempotency keys of the requests to order something. */
  readonly orders: readonly string[];
}

class CallInProgress {
  readonly #asked: Asked[] = [];

  constructor(
    private readonly side: Side,
    private readonly row: Row,
    private readonly number: number,
    private readonly invite: Invite,
    private readonly caller: Caller,
  ) {}

  get #name(): string {
    return nameOf(this.number);
  }

  get asked(): readonly Asked[] {
    return this.#asked;
  }

  /** All that the agent has said so far, as it is shown. */
  get #shown(): string {
    const { shown } = this.caller;
    return shown
      .filter(({ from }) => from === 'agent')
      .map(({ text }) => text)
      .join(' ');
  }

  async #quiet(): Promise<void> {
    const isQuiet = (): boolean =>
      this.caller.ended || this.caller.audible(performance.now() - QUIET_MS).length === 0;
    await until('the agent is quiet', isQuiet, ASKED_MS).catch(() => undefined);
  }

  async #say(text: string): Promise<Spoken> {
    const samples = await callerWords(text, this.number);
    SAID.set(this.#name, text);
    const from = performance.now();
    return { from, to: await this.caller.say(samples) };
  }

  /** Types as much as a small window cannot hold. */
  async typeMuch(): Promise<void> {
    for (let line = 1; line <= LINES; line += 1) {
      const before = this.#shown.length;
      this.caller.send({ type: 'user.message', text: LINE });
      await until('a line is answered', () => this.#shown.length > before, ASKED_MS);
      await this.#quiet();
    }
  }

  async #meanwhile(how: Ask['meanwhile']): Promise<readonly Spoken[]> {
    if (!how) return [];
    await until('it is ordered', () => this.side.ordersOf(this.row, this.#name).length > 0, ASKED_MS);
    await pause(MEANWHILE_MS);
    if (how === 'talks') return [await this.#say('Hello?')];
    this.caller.send({ type: 'user.interrupt' });
    return [];
  }

  async ask(ask: Ask): Promise<void> {
    const before = this.#shown.length;
    const first = await this.#say(ask.says);
    const more = await this.#meanwhile(ask.meanwhile);
    const last = ask.heard.at(-1)!;
    const isHeard = (): boolean => this.caller.ended || last.test(this.#shown.slice(before));
    const vain = await until(`${last} is heard`, isHeard, ASKED_MS).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    await this.#quiet();
    const heard = await utterancesOf(this.caller, first.from);
    this.#asked.push({ ask, spoken: [first, ...more], heard, vain, shown: this.#shown.slice(before) });
  }

  async ended(): Promise<SessionRecord & Body> {
    const { caller, row, side } = this;
    if (row.ended === undefined) caller.hangUp();
    const { session_id: id } = this.invite;
    return until(
      'the session has ended',
      async () => {
        const { status, body } = await side.ask(`sessions/${id}`);
        return status === 200 && body['ended_reason'] !== null && (body as unknown as SessionRecord & Body);
      },
      ENDED_MS,
    );
  }
}

async function agentFor(side: Side, row: Row, name: string): Promise<string> {
  const { language = 'en', tools } = row;
  const config = {
    prompt: {
      system_prompt: `You answer the telephone of a shop. [call ${name}]`,
      ...{ first_message_mode: 'fixed', first_message: 'Hello.' },
    },
    voice: { voice_id: row.own ? 'default' : await side.voiceOf(name), speaking_language: language },
    conversation: { eagerness: 'eager' },
    analysis: { summary: { enabled: false } },
    ...(tools && { tools: { tool_ids: [await side.toolFor(row, name)] } }),
    ...(row.knowledge && {
      knowledge_base: { enabled: true, knowledge_source_ids: [await side.knowledge()] },
    }),
  };
  return makeAgent(side.ask, { name, config });
}

/** Makes the call of a row, with that number. Errors: whatever keeps it from being made at all. */
export async function makeCall(side: Side, row: Row, number: number): Promise<CallMade> {
  const name = nameOf(number);
  const { world, ask } = side;
  const fault = faultOf(row.fault);
  for (const model of [world.model, world.fallback]) model.script(name, row.says);
  const agent = await agentFor(side, row, name);
  if (row.fromStart) await fault.make(world, name);
  const { status, body } = await ask('sessions', { body: { agent_id: agent, world_context: false } });
  if (status !== 201) throw new Error(`session: ${status} ${JSON.stringify(body)}`);
  const invite = body as unknown as Invite;
  const since = Date.now();
  const caller = await Caller.join(invite);
  const call = new CallInProgress(side, row, number, invite, caller);
  try {
    await pause(SETTLED_MS);
    const areMade = (): boolean => performance.now() - world.speech.askedAt(name) > LINES_MADE_MS;
    await until('the fixed lines are made', areMade, ASKED_MS);
    if (row.long) await call.typeMuch();
    if (!row.fromStart) await fault.make(world, name);
    const mended = pause((row.mendedAfter ?? 0) * 1000).then(
      () => row.mendedAfter && fault.mend(world, name),
    );
    for (const each of row.asks) if (!caller.ended) await call.ask(each);
    await mended;
    if (row.mendedAfter === undefined && fault.global) await fault.mend(world, name);
    const record = await call.ended();
    const lines = (): readonly Body[] => side.linesOf(fault.global ? undefined : invite.session_id, since);
    const isLogged = (): boolean => wantedLine(lines(), row) !== undefined;
    await until('the log names the part', isLogged, LOGGED_MS).catch(() => undefined);
    return { row, asked: call.asked, record, lines: lines(), orders: side.ordersOf(row, name) };
  } finally {
    if (!fault.global) await fault.mend(world, name);
    caller.drop();
  }
}
