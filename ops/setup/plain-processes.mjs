/**
 * Stands in for @tapjs/processinfo in the bundle of tap (transpile.mjs): processes as Node starts them. The package itself
 * loads a recorder of coverage into each test file and into all that it starts, gateways too, for a report that nobody
 * asks for: most of the processor time of many files.
 */
import { spawn } from 'node:child_process';

export const ProcessInfo = { spawn };
