/**
 * `tests` lists an agent's scenarios, `tests/runs` its runs; `tests/scenarios/ID`, `tests/runs/ID` and
 * `tests/runs/ID/SCENARIO` are one of them, `tests/compare` is two runs side by side.
 */
import { useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { type AgentRow, allAgents } from '../../agents.js';
import { ask } from '../../api.js';
import { momentText } from '../../format.js';
import { submitting, useAction, useLoad, usePages } from '../../hooks.js';
import { AgentField } from '../../parts/agent-field.js';
import { Empty, Failure, Field, Loading, More, Page, Scroll } from '../../parts/basics.js';
import { NameField } from '../../parts/name-field.js';
import { Listing } from '../../parts/listing.js';
import { LIVE, DRAFT, VersionField } from '../../parts/version-field.js';
import { go, linkTo, setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { CompareView } from './compare.js';
import { ResultView, RunView } from './run.js';
import { LinesField, ScenarioView, userOf } from './scenario.js';
import { createScenario, listPath, type RunRow, type Scenario, startRun, type Suite } from './test-api.js';
import { Verdict } from './verdict.js';

const { tests } = texts;

type ForAgent = { readonly agent: string };

function Create({ agent }: ForAgent) {
  const [name, setName] = useState('');
  const [lines, setLines] = useState('');
  const making = useAction(async (signal) => {
    const body = { agent_id: agent, name: name.trim(), user: userOf(lines) };
    go(['tests', 'scenarios', (await createScenario(body, signal)).scenario_id]);
  });
  return (
    <details class="panel section">
      <summary>
        <h2>{tests.add}</h2>
      </summary>
      <form class="stack" onSubmit={submitting(making)}>
        <NameField label={texts.agents.name} value={name} change={setName} />
        <LinesField value={lines} change={setLines} />
        <div>
          <button class="button primary" disabled={making.busy}>
            {texts.agents.create}
          </button>
        </div>
        <Failure error={making.error} />
      </form>
    </details>
  );
}

const suitesOf = async (agent: string, signal: AbortSignal): Promise<readonly Suite[]> =>
  (await ask<{ readonly suites: readonly Suite[] }>(listPath('suites', agent), { signal })).suites;

function Start({ agent }: ForAgent) {
  const { query } = useAddress();
  const version = query.get('version') ?? DRAFT;
  const suite = query.get('suite') ?? '';
  const { data: suites = [] } = useLoad((signal) => suitesOf(agent, signal), [agent]);
  const starting = useAction(async (signal) => {
    const which = version === DRAFT || version === LIVE ? version : Number(version);
    const body = { agent_id: agent, version: which, ...(suite && { suite_id: suite }) };
    go(['tests', 'runs', (await startRun(body, signal)).run_id]);
  });
  return (
    <form class="stack tight" onSubmit={submitting(starting)}>
      <div class="row end">
        <VersionField agent={agent} value={version} choose={(next) => setQuery({ version: next })} />
        {suites.length > 0 && (
          <Field label={tests.suite}>
            {(tied) => (
              <select
                {...tied}
                value={suite}
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
        )}
        <button class="button primary" disabled={starting.busy}>
          {tests.start}
        </button>
      </div>
      <Failure error={starting.error} />
    </form>
  );
}

const Scenarios = ({ agent }: ForAgent) => (
  <Listing<Scenario>
    path={listPath('scenarios', agent)}
    plural="scenarios"
    label={tests.tabs.scenarios}
    none={tests.none}
    link={({ scenario_id: id }) => ['tests', 'scenarios', id]}
    kind={({ mode, checks }) => `${tests.modes[mode] ?? mode}, ${tests.checkCount(checks.length)}`}
  />
);

const RunTable = ({ runs }: { readonly runs: readonly RunRow[] }) => (
  <Scroll label={tests.tabs.runs}>
    <table>
      <thead>
        <tr>
          <th>{texts.calls.when}</th>
          <th>{texts.agents.which}</th>
          <th>{tests.verdict}</th>
          <th class="number">{tests.passed}</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.run_id}>
            <td>
              <a href={linkTo(['tests', 'runs', run.run_id])}>{momentText(run.created_at)}</a>
            </td>
            <td>{[texts.calls.version(run.version_number), run.suite_name].filter(Boolean).join(' · ')}</td>
            <td>
              <Verdict status={run.status} />
            </td>
            <td class="number">
              {tests.held(
                run.counts['passed'] ?? 0,
                Object.values(run.counts).reduce((sum, count) => sum + count, 0),
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

function Runs({ agent }: ForAgent) {
  const { rows, error, busy, more, reload } = usePages<RunRow>(listPath('runs', agent), 'runs');
  if (!rows) return busy ? <Loading /> : <Failure error={error} retry={reload} />;
  if (rows.length === 0) return <Empty title={tests.noRuns} />;
  return (
    <>
      <RunTable runs={rows} />
      <More more={more} busy={busy} />
    </>
  );
}

const Tabs = ({ agent, runs }: ForAgent & { readonly runs: boolean }) => (
  <nav class="tabs" aria-label={texts.views.tests}>
    <a href={linkTo(['tests'], { agent })} aria-current={runs ? undefined : 'page'}>
      {tests.tabs.scenarios}
    </a>
    <a href={linkTo(['tests', 'runs'], { agent })} aria-current={runs ? 'page' : undefined}>
      {tests.tabs.runs}
    </a>
  </nav>
);

function Below({ agent, runs }: ForAgent & { readonly runs: boolean }) {
  const may = useMay();
  return (
    <>
      {may('sessions') && <Start agent={agent} />}
      <Tabs agent={agent} runs={runs} />
      {!runs && may('manage') && <Create agent={agent} />}
      {runs ? <Runs agent={agent} /> : <Scenarios agent={agent} />}
    </>
  );
}

function OfAgent({
  agents,
  runs,
}: {
  readonly agents: readonly AgentRow[] | undefined;
  readonly runs: boolean;
}) {
  const { query } = useAddress();
  const agent = query.get('agent') ?? agents?.[0]?.agent_id ?? '';
  if (agents?.length === 0)
    return (
      <Empty title={texts.talk.noAgents}>
        <p>{texts.talk.noAgentsHelp}</p>
      </Empty>
    );
  return (
    <>
      <div class="fields">
        <AgentField
          agents={agents}
          chosen={agent}
          choose={(next) => setQuery({ agent: next, version: '', suite: '' })}
        />
      </div>
      {agent !== '' && <Below key={agent} agent={agent} runs={runs} />}
    </>
  );
}

/** Keys that may play tests need not be ones that list agents. */
function Listed({ runs }: { readonly runs: boolean }) {
  const { data, error, reload } = useLoad(allAgents, []);
  if (!data) return error === undefined ? <Loading /> : <Failure error={error} retry={reload} />;
  return <OfAgent agents={data} runs={runs} />;
}

function Lists({ runs }: { readonly runs: boolean }) {
  const may = useMay();
  return (
    <Page title={texts.views.tests} intro={tests.intro}>
      {may('read') ? <Listed runs={runs} /> : <OfAgent agents={undefined} runs={runs} />}
    </Page>
  );
}

export function Tests() {
  const { path, query } = useAddress();
  const [, kind, id, part] = path;
  if (kind === 'scenarios' && id) return <ScenarioView key={id} id={id} />;
  if (kind === 'runs' && id && part) return <ResultView key={part} run={id} scenario={part} />;
  if (kind === 'runs' && id) return <RunView key={id} id={id} />;
  const [base, other] = [query.get('base'), query.get('other')];
  if (kind === 'compare' && base && other) return <CompareView base={base} other={other} />;
  return <Lists runs={kind === 'runs'} />;
}
