/** Starts a test run: all scenarios of the agent or of a suite, against the draft, the published version, or another. */
import type { ComponentChildren } from 'preact';
import { ask } from '../../api.js';
import { submitting, useAction, useLoad } from '../../hooks.js';
import { Failure, Field } from '../../parts/basics.js';
import { DRAFT, LIVE, VersionField } from '../../parts/version-field.js';
import { go, setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { listPath, startRun, type Suite } from './test-api.js';

const { tests } = texts;

const suitesOf = async (agent: string, signal: AbortSignal): Promise<readonly Suite[]> =>
  (await ask<{ readonly suites: readonly Suite[] }>(listPath('suites', agent), { signal })).suites;

/** Choice of a suite; hidden if the agent has none. */
function SuiteField({ agent, value }: { readonly agent: string; readonly value: string }) {
  const { data: suites = [] } = useLoad((signal) => suitesOf(agent, signal), [agent]);
  if (suites.length === 0) return null;
  return (
    <Field label={tests.suite}>
      {(tied) => (
        <select
          {...tied}
          value={value}
          onChange={({ currentTarget }) => setQuery({ suite: currentTarget.value })}
        >
          <option value="">{tests.allScenarios}</option>
          {suites.map(({ suite_id: id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** `suite` fixes the suite; if absent, the user chooses one. `before` is awaited first, such as to save changes. */
export function Start({
  agent,
  suite: fixed,
  before,
  children,
}: {
  /** Further fields, placed first in the same row. */
  readonly children?: ComponentChildren;
  readonly agent: string;
  readonly suite?: string;
  readonly before?: () => Promise<boolean>;
}) {
  const { query } = useAddress();
  const version = query.get('version') ?? DRAFT;
  const suite = fixed ?? query.get('suite') ?? '';
  const starting = useAction(async (signal) => {
    if (before && !(await before())) return;
    const which = version === DRAFT || version === LIVE ? version : Number(version);
    const body = { agent_id: agent, version: which, ...(suite && { suite_id: suite }) };
    go(['tests', 'runs', (await startRun(body, signal)).run_id]);
  });
  return (
    <form class="stack tight" onSubmit={submitting(starting)}>
      <div class="row end">
        {children}
        <VersionField agent={agent} value={version} choose={(next) => setQuery({ version: next })} />
        {fixed === undefined && <SuiteField agent={agent} value={suite} />}
        <button class="button primary" disabled={starting.busy}>
          {tests.start}
        </button>
      </div>
      <Failure error={starting.error} />
    </form>
  );
}
