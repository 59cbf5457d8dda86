/** The state of a call, or how it ended. */
import { texts } from '../../texts.js';

const TONES: Readonly<Record<string, string>> = { completed: 'good', active: 'warn', failed: 'bad' };

export const StatusTag = ({ status }: { readonly status: string }) => (
  <span class={`tag ${TONES[status] ?? ''}`}>{texts.calls.statuses[status] ?? status}</span>
);
