/** The state of a call, or how it ended, and whether answers failed in it. */
import { texts } from '../../texts.js';
import type { CallRow } from './record.js';

const TONES: Readonly<Record<string, string>> = { completed: 'good', active: 'warn', failed: 'bad' };

const { calls } = texts;

/** A call in which answers failed is never all green, however it ended. */
const toneOf = (status: string, failed: number): string =>
  failed > 0 && status === 'completed' ? 'warn' : (TONES[status] ?? '');

export const StatusTag = ({ call }: { readonly call: Pick<CallRow, 'status' | 'failed_answers'> }) => (
  <>
    <span class={`tag ${toneOf(call.status, call.failed_answers)}`}>
      {calls.statuses[call.status] ?? call.status}
    </span>
    {call.failed_answers > 0 && <span class="tag bad">{calls.failedAnswers(call.failed_answers)}</span>}
  </>
);
