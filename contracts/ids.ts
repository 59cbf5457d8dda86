/** Identifiers, injected like the clock. */
import { randomBytes, randomUUID } from 'node:crypto';

export type IdKind =
  | 'generation'
  | 'workspace'
  | 'key'
  | 'job'
  | 'voice'
  | 'agent'
  | 'tool'
  | 'knowledge'
  | 'session'
  | 'scenario'
  | 'suite'
  | 'testRun'
  | 'phone'
  | 'call'
  | 'transfer'
  | 'event';

/** Whether a text from outside may be an id: what no database would store is none. */
export const isId = (text: string): boolean => /^[\w-]{1,128}$/.test(text);

export interface Ids {
  /** A new unique id of that kind; the kind's row below defines its format. */
  next(kind: IdKind): string;
}

/** Random bytes for many ids are requested at once, because a system call costs far more than the bytes. */
const POOL_BYTES = 4096;
let pool = randomBytes(POOL_BYTES);
let used = 0;

/** Random bytes as hex, at most POOL_BYTES. None is used twice, and none stays in memory once used. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  const taken = pool.toString('hex', used, used + bytes);
  pool.fill(0, used, used + bytes);
  used += bytes;
  return taken;
}

const SHAPES: Record<IdKind, () => string> = {
  generation: () => `gen-${randomHex(12)}`,
  workspace: () => `ws_${randomHex(12)}`,
  key: () => `key_${randomHex(12)}`,
  job: () => randomUUID(),
  voice: () => randomHex(16),
  agent: () => `agent_${randomHex(12)}`,
  tool: () => `tool_${randomHex(12)}`,
  knowledge: () => `ks_${randomHex(12)}`,
  session: () => `sess_${randomHex(12)}`,
  scenario: () => `scn_${randomHex(12)}`,
  suite: () => `suite_${randomHex(12)}`,
  testRun: () => `run_${randomHex(12)}`,
  phone: () => `phone_${randomHex(12)}`,
  call: () => `call_${randomHex(12)}`,
  transfer: () => `transfer_${randomHex(12)}`,
  event: () => `evt_${randomHex(12)}`,
};

export const randomIds: Ids = { next: (kind) => SHAPES[kind]() };
