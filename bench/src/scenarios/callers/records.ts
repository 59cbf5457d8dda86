/** What the gateway's own records of calls say that callers said. */
import { setTimeout as pause } from 'node:timers/promises';
import { callPlatform } from '../../servers/agents.js';
import type { Server } from '../../servers/server.js';
import type { Understood } from './kinds.js';

interface Item {
  readonly role?: string;
  readonly content?: string | null;
  readonly text?: string | null;
  readonly backchannel?: boolean;
  readonly background?: boolean;
  readonly echo?: boolean;
}

interface Answer {
  readonly latency_ms?: number | null;
  /** What adds up to it, in ms. */
  readonly latency?: Readonly<Record<string, number>> | null;
}

interface SessionRecord {
  readonly status: string;
  readonly items: readonly Item[];
  readonly turns?: readonly Answer[];
}

const ENDED: readonly string[] = ['completed', 'failed'];
/** A record is whole shortly after its call has ended. */
const TRIES = 100;
const LOOK_MS = 100;

/** Undefined while the server sheds load. */
const look = (server: Server, session: string): Promise<SessionRecord | undefined> =>
  callPlatform<SessionRecord>(server, `sessions/${session}`).catch((error: unknown) => {
    if (String(error).includes('HTTP 503')) return undefined;
    throw error;
  });

/** Throws Error where the call has not ended within ten seconds. */
async function recordOf(server: Server, session: string): Promise<SessionRecord> {
  for (let left = TRIES; left > 0; left -= 1, await pause(LOOK_MS)) {
    const record = await look(server, session);
    if (record !== undefined && ENDED.includes(record.status)) return record;
  }
  throw new Error('a call has no record within ten seconds of its end');
}

const isCallers = ({ role, background = false, echo = false }: Item): boolean =>
  role === 'user' && !background && !echo;

/** "1012 ms: silence 320, endpointing 480, model 151, voice 61": without the parts that took no time. */
function spentOn({ latency_ms: whole, latency }: Answer): string[] {
  if (whole === undefined || whole === null) return [];
  const parts = Object.entries(latency ?? {}).filter(([, ms]) => ms > 0);
  return [`${whole} ms: ${parts.map(([part, ms]) => `${part.replace('_ms', '')} ${ms}`).join(', ')}`];
}

/** All that was taken for the caller's words, and where the gateway says that the time of its answers went. */
export async function understoodIn(server: Server, session: string): Promise<Understood> {
  const { items, turns = [] } = await recordOf(server, session);
  const own = items.filter(isCallers);
  const text = own.map(({ content, text: words }) => content ?? words ?? '').join(' ');
  const messages = own.filter(({ backchannel = false }) => !backchannel).length;
  const latencies = turns.flatMap(({ latency_ms }) => latency_ms ?? []);
  return { text, messages, latencies, answers: turns.flatMap(spentOn) };
}
