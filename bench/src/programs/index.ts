/** The programs that a generator has, by name. What one needs may not be installed, so it is loaded when it is asked for. */
import type { Program } from './program.js';

const CALLS_NEED = 'calls need the packages node-datachannel, @evan/opus and @livekit/protocol';

function explained(error: unknown): never {
  if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new Error(CALLS_NEED, { cause: error });
}

export const PROGRAMS: Readonly<Record<string, () => Promise<Program>>> = {
  calls: async () => new (await import('./calls.js').catch(explained)).Calls(),
  opus: async () => new (await import('./opus.js').catch(explained)).OpusAlone(),
  lines: async () => new (await import('./lines.js')).Lines(),
  trials: async () => new (await import('./trials.js').catch(explained)).Trials(),
  realtime: async () => new (await import('./realtime.js')).RealtimeSockets(),
};
