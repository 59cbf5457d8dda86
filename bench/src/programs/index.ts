/** The programs that a generator has, by name. What one needs may not be installed, so it is loaded when it is asked for. */
import type { Program } from './program.js';

export const PROGRAMS: Readonly<Record<string, () => Promise<Program>>> = {
  calls: async () => new (await import('./calls.js')).Calls(),
  realtime: async () => new (await import('./realtime.js')).RealtimeSockets(),
};
