/**
 * `tests` lists an agent's scenarios, `tests/suites` and `tests/runs` its suites and runs; `tests/scenarios/ID`,
 * `tests/suites/ID`, `tests/runs/ID` and `tests/runs/ID/SCENARIO` show one of them, `tests/compare` shows two runs side by side.
 */
import type { ComponentType } from 'preact';
import { useMay } from '../../account.js';
import { type AgentRow, allAgents } from '../../agents.js';
import { momentText } from '../../format.js';
import { useLoad, usePages } from '../../hooks.js';
import { AgentField } from '../../parts/agent-field.js';
import { Empty, Failure, Loading, More, Page, Scroll } from '../../parts/basics.js';
import { Listing } from '../../parts/listing.js';
import { Tabs } from '../../parts/tabs.js';
import { linkTo, setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { CompareView } from './compare.js';
import { NewScenario } from './new-scenario.js';
import { ResultView, RunView } from './run.js';
import { ScenarioView } from './scenario.js';
import { Start } from './start.js';
import { Suites, SuiteView } from './suites.js';
import { listPath, type RunRow, type Scenario } from './test-api.js';
import { Verdict } from './verdict.js';

const { tests } = texts;

type ForAgent = { readonly agent: string };

function Scenarios({ agent }: ForAgent) {
  const may = useMay();
  return (
    <>
      {may('manage') && <NewScenario agent={agent} />}
      <Listing<Scenario>
        path={listPath('scenarios', agent)}
        plural="scenarios"
        label={tests.tabs.scenarios}
        none={tests.none}
        link={({ scenario_id: id }) => ['tests', 'scenarios', id]}
        kind={({ mode, checks }) => `${tests.modes[mode] ?? mode}, ${tests.checkCount(checks.length)}`}
      />
    </>
  );
}

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

const TABS = ['scenarios', 'suites', 'runs'] as const;
type Tab = (typeof TABS)[number];
type OnTab = { readonly tab: Tab };

/** Address of a tab; the first tab is the view itself. */
const pathOf = (tab: Tab): readonly string[] => (tab === 'scenarios' ? ['tests'] : ['tests', tab]);

const SHOWN: Readonly<Record<Tab, ComponentType<ForAgent>>> = {
  scenarios: Scenarios,
  suites: Suites,
  runs: Runs,
};

function OfAgent({ agents, tab }: OnTab & { readonly agents: readonly AgentRow[] | undefined }) {
  const may = useMay();
  const { query } = useAddress();
  const agent = query.get('agent') ?? agents?.[0]?.agent_id ?? '';
  const Shown = SHOWN[tab];
  if (agents?.length === 0)
    return (
      <Empty title={texts.talk.noAgents}>
        <p>
          <a href={linkTo(['agents'])}>{texts.talk.noAgentsHelp}</a>
        </p>
      </Empty>
    );
  const field = (
    <AgentField
      agents={agents}
      chosen={agent}
      choose={(next) => setQuery({ agent: next, version: '', suite: '' })}
    />
  );
  return (
    <>
      {may('sessions') && agent !== '' ? (
        <Start agent={agent}>{field}</Start>
      ) : (
        <div class="fields">{field}</div>
      )}
      {agent !== '' && (
        <div class="stack" key={agent}>
          <Tabs
            label={texts.views.tests}
            tabs={TABS.map((each) => ({
              name: tests.tabs[each],
              to: linkTo(pathOf(each), { agent }),
              isCurrent: each === tab,
            }))}
          />
          <Shown agent={agent} />
        </div>
      )}
    </>
  );
}

/** The tab with a list of agents to pick from. Not for every key: one that may play tests need not be allowed to list agents. */
function Listed({ tab }: OnTab) {
  const { data, error, reload } = useLoad(allAgents, []);
  if (!data) return error === undefined ? <Loading /> : <Failure error={error} retry={reload} />;
  return <OfAgent agents={data} tab={tab} />;
}

function Lists({ tab }: OnTab) {
  const may = useMay();
  return (
    <Page title={texts.views.tests} intro={tests.intro}>
      {may('read') ? <Listed tab={tab} /> : <OfAgent agents={undefined} tab={tab} />}
    </Page>
  );
}

export function Tests() {
  const { path, query } = useAddress();
  const [, kind, id, part] = path;
  if (kind === 'scenarios' && id) return <ScenarioView key={id} id={id} />;
  if (kind === 'suites' && id) return <SuiteView key={id} id={id} />;
  if (kind === 'runs' && id && part) return <ResultView key={part} run={id} scenario={part} />;
  if (kind === 'runs' && id) return <RunView key={id} id={id} />;
  const [base, other] = [query.get('base'), query.get('other')];
  if (kind === 'compare' && base && other) return <CompareView base={base} other={other} />;
  return <Lists tab={TABS.find((tab) => tab === kind) ?? 'scenarios'} />;
}
