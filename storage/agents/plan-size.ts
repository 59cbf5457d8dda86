/** The bound of an agent as a whole: its parts have limits of their own, which multiply (docs/contract/limits.md). */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { MiB } from '../../contracts/limits/units.js';
import type { Problem } from '../../contracts/schemas/check.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { draftSizes } from './agent-content.js';

const { planBytes } = LIMITS.agent;

const shown = (bytes: number): string => `${(bytes / MiB).toFixed(1)} MiB`;

/** Errors: `validation_failed`, naming the largest part, if the draft is larger as a whole than a plan may be. */
export async function checkSize(sql: Sql | Transaction, agentId: string): Promise<void> {
  const parts = await draftSizes(sql, agentId);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (bytes <= planBytes) return;
  const [largest] = parts.toSorted((a, b) => b.bytes - a.bytes);
  if (!largest) return;
  const { name, place } = largest;
  const what = name === null ? 'its configuration' : `the tool "${name}"`;
  const message =
    `The agent has ${shown(bytes)} with its tools, more than ${shown(planBytes)}; ` +
    `the largest part is ${what} with ${shown(largest.bytes)}`;
  const loc: Problem['loc'] = name === null ? [] : ['tools', 'tool_ids', place - 1];
  throw new ServiceError('validation_failed', { message, problems: [{ type: 'size', loc, message }] });
}
