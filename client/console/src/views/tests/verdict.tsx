/** A verdict and the reasons for it. */
import { texts } from '../../texts.js';
import type { CheckResult } from './test-api.js';

const { tests } = texts;

const TONES: Readonly<Record<string, string>> = {
  passed: 'good',
  failed: 'bad',
  error: 'bad',
  running: 'warn',
  fixed: 'good',
  broken: 'bad',
  changed: 'warn',
};

export const Verdict = ({ status }: { readonly status: string | null }) =>
  status === null ? (
    <span class="soft">–</span>
  ) : (
    <span class={`tag ${TONES[status] ?? ''}`}>{tests.statuses[status] ?? status}</span>
  );

export const Checks = ({ checks }: { readonly checks: readonly CheckResult[] }) => (
  <ul class="stack tight">
    {checks.map(({ name, passed, evidence }, index) => (
      <li key={index}>
        <Verdict status={passed ? 'passed' : 'failed'} /> {name}
        {evidence && <p class="soft">{evidence}</p>}
      </li>
    ))}
  </ul>
);
