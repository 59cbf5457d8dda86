/**
 * What goes on at the gateway while faults are made: somebody who talks with an agent that uses tools, short calls that are recorded,
 * analysed and told to a webhook, calls that are placed, texts that are spoken. Whatever fails is tried again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Body, type Call, client, makeAgent } from '../../fixtures/platform/agents.js';
import { Caller, type SessionInvite } from '../../fixtures/calls/caller.js';
import { TEST_KEY } from '../../fixtures/gateway.js';
import { newNumber, SECRET } from '../../fixtures/phone/placed-calls.js';
import type { PhoneApi } from '../../fixtures/phone/api.js';
import { until } from '../../fixtures/until.js';
import { callerWords } from '../conversation/doubles/caller-voice.js';
import { nameOf, SAID } from '../conversation/doubles/speech.js';
import { within } from '../world.js';

const JOIN_MS = 10_000;
/** Longest wait for an answer before somebody says it again: longer than engines and models are waited for. */
const PATIENT_MS = 15_000;
/** The same of somebody in a hurry, for whom a filler is an answer. */
const ANSWER_MS = 4000;
const THINK_MS = 800;
const AGAIN_MS = 500;
const SHORT_CALL_MS = 2500;
const EVERY_MS = 2500;

/** Whom the load asks: agents and a number that were made while all was well. */
export interface Staff {
  /** Has tools. */
  readonly talker: string;
  /** Is recorded and analysed, and has a webhook. */
  readonly clerk: string;
  readonly phone: { readonly number: string; readonly api: PhoneApi } | undefined;
}

/** `from`: time of the end of somebody's words; `states`: how many states the agent had been in before them. */
type Hears = (caller: Caller, from: number, states: number) => boolean;

/** Anything. */
const heard: Hears = (caller, from) => caller.audible(from).length > 0;

/** An answer to its end: the agent has thought, and listens again. */
function answered({ states }: Caller, _: number, from: number): boolean {
  const doing = states.slice(from);
  const thought = doing.indexOf('thinking');
  return thought >= 0 && doing.includes('listening', thought);
}

const speak = (base: string, body: object): Promise<Response> =>
  fetch(`${base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS),
  });

export const toolOf = async (ask: Call, body: Body): Promise<string> =>
  String((await ask('tools', { body })).body['tool_id']);

export class Load {
  #over = false;
  #words: Int16Array | undefined;
  readonly #ask: Call;
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly base: string,
    private readonly staff: Staff,
  ) {
    this.#ask = client(base);
  }

  /** `words`: what callers say. */
  begin(words: Int16Array): void {
    this.#words = words;
    const works = [() => this.#talk(), () => this.#call(), () => this.#speak(), () => this.#place()];
    this.#running = Promise.all(works.map((work) => this.#repeat(work)));
  }

  async end(): Promise<void> {
    this.#over = true;
    await this.#running;
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#over) {
      await work().catch(() => undefined);
      await pause(AGAIN_MS);
    }
  }

  async #joined(agent: string): Promise<Caller> {
    const { body } = await within(JOIN_MS, 'a session', this.#ask('sessions', { body: { agent_id: agent } }));
    return within(JOIN_MS, 'joining', Caller.join(body as unknown as SessionInvite));
  }

  /** Talks until the call or the load is over. */
  async #talk(): Promise<void> {
    const caller = await this.#joined(this.staff.talker);
    try {
      while (!caller.ended && !this.#over) await this.#exchange(caller, answered, PATIENT_MS);
    } finally {
      caller.hangUp();
    }
  }

  /** `hears`: whether what comes after the words is an answer. */
  async #exchange(caller: Caller, hears: Hears = heard, mostMs = ANSWER_MS): Promise<void> {
    const states = caller.states.length;
    await within(ANSWER_MS * 2, 'saying', caller.say(this.#words ?? new Int16Array()));
    const from = performance.now();
    const isOver = (): boolean => caller.ended || hears(caller, from, states);
    await until('an answer is heard', isOver, mostMs).catch(() => undefined);
    await pause(THINK_MS);
  }

  async #call(): Promise<void> {
    const caller = await this.#joined(this.staff.clerk);
    await this.#exchange(caller).catch(() => undefined);
    await pause(SHORT_CALL_MS);
    caller.hangUp();
  }

  async #speak(): Promise<void> {
    const answer = await speak(this.base, { text: 'good morning', format: 'mp3' });
    await answer.arrayBuffer();
    await pause(EVERY_MS);
  }

  /** Places a call, and tells of those that the provider has that nobody answers. */
  async #place(): Promise<void> {
    const { talker, phone } = this.staff;
    await pause(EVERY_MS);
    if (!phone) return;
    const body = { agent_id: talker, from: phone.number, to: newNumber() };
    await within(JOIN_MS, 'placing', this.#ask('calls', { body }));
    for (const call of phone.api.calls.splice(0)) await call.tell('no_answer', SECRET);
  }
}

/** What callers say; the doubles of recognisers understand it. */
export async function wordsOfCallers(): Promise<Int16Array> {
  const text = 'What do you have today?';
  SAID.set(nameOf(0), text);
  return callerWords(text, 0);
}

/** An agent with these parts of a configuration. */
export const agentOf = (ask: Call, config: Body): Promise<string> =>
  makeAgent(ask, {
    config: { conversation: { eagerness: 'eager' }, ...config },
  });
