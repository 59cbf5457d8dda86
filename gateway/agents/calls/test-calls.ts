/**
 * Calls of tests by voice: each is a session like any other, but hidden in lists and without deliveries, joined by a
 * simulated caller. It takes a place, and is counted, recorded and kept as calls are.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { Admission } from '../../../contracts/ports/accounts/identity.js';
import type { HeldLease } from '../../../contracts/ports/calls/nodes.js';
import type {
  NewSession,
  RunningSession,
  SessionDetail,
  SessionRuns,
  Sessions,
} from '../../../contracts/ports/sessions/sessions.js';
import type { CallerLine, CallerLines, CallerOptions } from '../../../contracts/ports/agents/test-callers.js';
import type { EmbeddedCalls } from './embedded.js';
import type { CallParts } from './owned-call.js';

export interface TestCallParts {
  readonly sessions: Pick<Sessions, 'create' | 'read'>;
  readonly runs: Pick<SessionRuns, 'join' | 'end'>;
  readonly calls: Pick<EmbeddedCalls, 'stopping' | 'hasRoom' | 'begin' | 'connect' | 'over' | 'end'>;
  readonly lines: CallerLines;
  readonly admission: Pick<Admission, 'check'>;
  readonly held: Pick<HeldLease, 'holds'>;
}

/** Parts of a call that a test replaces. */
export type TestedAgent = Partial<Pick<CallParts, 'models' | 'mcp' | 'standIn'>>;

export interface TestCall {
  readonly sessionId: string;
  readonly line: CallerLine;
  /** Ends it as the API would, and resolves with its record once that is kept. Idempotent. */
  close(): Promise<SessionDetail | undefined>;
}

const isFull = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'concurrency_exceeded';

async function joined(
  session: NewSession,
  { sessions, runs, admission }: TestCallParts,
): Promise<RunningSession | undefined> {
  await admission.check(session.workspaceId, 'conversation_ms');
  try {
    const { id } = await sessions.create({ ...session, reserved: true });
    const running = await runs.join(id);
    return 'refused' in running ? undefined : running;
  } catch (error) {
    if (isFull(error)) return undefined;
    throw error;
  }
}

/** Undefined if there is no place for it now. Errors: `quota_exceeded`. */
export async function placeTestCall(
  session: NewSession,
  agent: TestedAgent,
  caller: Omit<CallerOptions, 'workspaceId'>,
  parts: TestCallParts,
): Promise<TestCall | undefined> {
  const { calls, lines, runs, sessions, held } = parts;
  if (calls.stopping || !calls.hasRoom || !held.holds) return undefined;
  const running = await joined(session, parts);
  if (!running) return undefined;
  const { id, workspaceId } = running.record;
  calls.begin(running, agent, 'test');
  return {
    sessionId: id,
    line: lines.openLine({ ...caller, workspaceId }, (how, link) => calls.connect(id, how, link)),
    async close() {
      calls.end(id);
      await calls.over(id);
      // If the caller never came, nobody has ended the session yet.
      await runs.end(id, 'error');
      return sessions.read(id, workspaceId);
    },
  };
}
