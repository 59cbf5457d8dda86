/** The programs that a generator has, by name. */
import type { Program } from './program.js';
import { RealtimeSockets } from './realtime.js';

export const PROGRAMS: Readonly<Record<string, () => Program>> = {
  realtime: () => new RealtimeSockets(),
};
