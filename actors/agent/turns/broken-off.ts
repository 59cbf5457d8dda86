/** Cause of a job's interruption, for the record of the turn only: it decides nothing. */
import type { Context } from '../context.js';
import type { AgentEvent, BrokenOffBy } from '../events.js';
import { overlapOf } from './interruption.js';
import { partialText } from './stretches.js';

const BY: Readonly<Partial<Record<AgentEvent['type'], BrokenOffBy>>> = {
  typed: 'message',
  interrupt: 'client',
  voice: 'voice',
  foreseen: 'voice',
  sentenceOver: 'timeout',
};

export const brokenOffBy = ({ stretches }: Context, { type }: AgentEvent): BrokenOffBy =>
  BY[type] ?? (overlapOf(partialText(stretches)) === 'command' ? 'command' : 'words');
