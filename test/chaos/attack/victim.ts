/** The victim: a key of another workspace that has a short sentence spoken twice a second, and a call on which its agent talks. */
import { setTimeout as pause } from 'node:timers/promises';
import { client, makeAgent } from '../../fixtures/agents.js';
import { Caller, type SessionInvite } from '../../fixtures/caller.js';
import { until } from '../../fixtures/until.js';
import { answerOf } from './senders.js';
import type { Target } from './target.js';

const EVERY_MS = 500;
/** Longer than any answer of a gateway that serves. */
const LATE_MS = 20_000;
/** Spoken for minutes. */
const LONG_STORY = 'and then there was another word of it '.repeat(200);

export interface Asked {
  /** A status, or how the connection failed. */
  readonly told: number | string;
  readonly ms: number;
}

export const speak = async (base: string, key: string, text = 'Good morning.'): Promise<Asked> => {
  const from = performance.now();
  const told = await answerOf(`${base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'pcm' }),
    signal: AbortSignal.timeout(LATE_MS),
  });
  return { told, ms: performance.now() - from };
};

/** The victim's requests while `work` runs; the result of the work. */
export async function beside<T>({ base, victim }: Target, work: () => Promise<T>) {
  const asked: Promise<Asked>[] = [];
  const done = new AbortController();
  const asking = (async () => {
    do {
      asked.push(speak(base, victim));
      await pause(EVERY_MS, undefined, { signal: done.signal }).catch(() => undefined);
    } while (!done.signal.aborted);
  })();
  const result = await work().finally(() => done.abort());
  await asking;
  return { result, asked: await Promise.all(asked) };
}

export function p95(asked: readonly Asked[]): number {
  const sorted = asked.map(({ ms }) => ms).sort((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
}

/** A call on which the agent talks all the time. */
export class VictimCall {
  private constructor(private readonly caller: Caller) {}

  static async begin({ base, victim }: Target): Promise<VictimCall> {
    const ask = client(base, victim);
    const prompt = { first_message_mode: 'fixed', first_message: LONG_STORY };
    const agent = await makeAgent(ask, { config: { prompt } });
    const { body } = await ask('sessions', { body: { agent_id: agent } });
    const caller = await Caller.join(body as unknown as SessionInvite);
    await until('the agent talks', () => caller.heard.length > 0);
    return new VictimCall(caller);
  }

  /** The longest time without sound since `from`, in ms. */
  gapSince(from: number): number {
    const heard = this.caller.heard.map(({ at }) => at).filter((at) => at >= from);
    const times = [from, ...heard, performance.now()];
    return Math.max(...times.map((at, index) => at - (times[index - 1] ?? at)));
  }

  get isOver(): boolean {
    return this.caller.ended;
  }

  end(): void {
    this.caller.hangUp();
  }
}
