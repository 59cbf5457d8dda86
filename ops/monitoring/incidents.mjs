/**
 * What an operator may meet at night: how it shows, and what to do. `npm run generate` writes docs/operate/incidents.md from
 * here, and `npm run chaos -- night` makes each fault and looks whether all of it comes.
 *
 * A part has what its incidents share: `metric` (an expression that is true meanwhile), `alert` (alerts.mjs), `health` (what
 * `/health` says: `parts.KIND`, `checks.NAME`, `status: draining`, `no answer`), `console`, and `back`, the line when it is
 * over. An incident may have others, or '' where there is none. `log`: its line, in which `…` stands for anything. `faults`:
 * faults of the benches (test/chaos) that show it.
 */
import { MCP, PHONE, TOOL, WEBHOOK } from './incidents/accounts.mjs';
import { ANALYSIS, MODEL, RECOGNISER, VOICE } from './incidents/engines.mjs';
import { BUCKET, DATABASE, ICE, LIVEKIT, PROCESSES } from './incidents/machine.mjs';
import { ODD } from './incidents/oddities.mjs';

export const PARTS = [
  MODEL,
  VOICE,
  RECOGNISER,
  TOOL,
  MCP,
  WEBHOOK,
  PHONE,
  ANALYSIS,
  DATABASE,
  BUCKET,
  LIVEKIT,
  ICE,
  PROCESSES,
  ODD,
];

/** All incidents, each with what its part has. */
export const INCIDENTS = PARTS.flatMap(({ incidents, ...shared }) =>
  incidents.map((own) => ({ nodes: [], ...shared, ...own })),
);
