/** Suites: named lists of an agent's scenarios; created, saved as the user types, and played together. */
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { submitting, useAction, useKept, useLoad } from '../../hooks.js';
import { Check, Failure, Loading, Page } from '../../parts/basics.js';
import { Listing } from '../../parts/listing.js';
import { NameField } from '../../parts/name-field.js';
import { Remove } from '../../parts/remove.js';
import { go, linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { SaveState } from '../agents/editor.js';
import { useSaved } from '../agents/saving.js';
import { Start } from './start.js';
import { allScenarios, createSuite, listPath, type Scenario, type Suite, suitePath } from './test-api.js';

const { tests } = texts;

const idOf = ({ scenario_id: id }: Scenario): string => id;

/** Choice among the agent's scenarios; results are shown in the order in which they were chosen. */
function ScenarioChecks({
  scenarios,
  chosen,
  disabled = false,
  change,
}: {
  readonly scenarios: readonly Scenario[];
  readonly chosen: readonly string[];
  readonly disabled?: boolean;
  readonly change: (chosen: readonly string[]) => void;
}) {
  const tick = (id: string) => (on: boolean) =>
    change(on ? [...chosen, id] : chosen.filter((each) => each !== id));
  return (
    <fieldset class="group" disabled={disabled}>
      <legend>{tests.chosen(chosen.length, scenarios.length)}</legend>
      <div class="checks">
        {scenarios.map(({ scenario_id: id, name, mode }) => (
          <Check
            key={id}
            label={`${name} · ${tests.modes[mode] ?? mode}`}
            checked={chosen.includes(id)}
            onChange={tick(id)}
          />
        ))}
      </div>
      {!disabled && (
        <div class="row">
          <button class="button" type="button" onClick={() => change(scenarios.map(idOf))}>
            {tests.all}
          </button>
          <button class="button" type="button" onClick={() => change([])}>
            {tests.noneOfThem}
          </button>
        </div>
      )}
    </fieldset>
  );
}

function Create({ agent, scenarios }: { readonly agent: string; readonly scenarios: readonly Scenario[] }) {
  const [name, setName] = useKept<string>(`suite.${agent}.name`, '');
  const [ids, setIds] = useKept<string>(`suite.${agent}.scenarios`, '');
  const chosen = ids.split(' ').filter((id) => scenarios.some(({ scenario_id: known }) => known === id));
  const making = useAction(async (signal) => {
    const body = { agent_id: agent, name: name.trim(), scenario_ids: chosen };
    const { suite_id: id } = await createSuite(body, signal);
    setName('');
    setIds('');
    go(['tests', 'suites', id]);
  });
  return (
    <details class="panel section">
      <summary>
        <h2>{tests.addSuite}</h2>
      </summary>
      <form class="stack" onSubmit={submitting(making)}>
        <NameField label={texts.agents.name} value={name} change={setName} />
        <ScenarioChecks scenarios={scenarios} chosen={chosen} change={(next) => setIds(next.join(' '))} />
        <div>
          <button class="button primary" disabled={making.busy || chosen.length === 0}>
            {texts.agents.create}
          </button>
        </div>
        <Failure error={making.error} />
      </form>
    </details>
  );
}

export function Suites({ agent }: { readonly agent: string }) {
  const may = useMay();
  const { data: scenarios } = useLoad((signal) => allScenarios(agent, signal), [agent]);
  return (
    <>
      {may('manage') && scenarios && scenarios.length > 0 && <Create agent={agent} scenarios={scenarios} />}
      <Listing<Suite>
        path={listPath('suites', agent)}
        plural="suites"
        label={tests.tabs.suites}
        none={scenarios?.length === 0 ? tests.suitesNeedScenarios : tests.noSuites}
        link={({ suite_id: id }) => ['tests', 'suites', id]}
        kind={({ scenario_ids: ids }) => tests.scenarioCount(ids.length)}
      />
    </>
  );
}

const backTo = (agent: string) => ({
  name: tests.backToSuites,
  to: linkTo(['tests', 'suites'], { agent }),
});

function Editor({ suite, scenarios }: { readonly suite: Suite; readonly scenarios: readonly Scenario[] }) {
  const may = useMay();
  const path = suitePath(suite.suite_id);
  const saved = useSaved<Suite>(path, suite, (body) => ask<Suite>(path, { method: 'PATCH', body }));
  const { name, scenario_ids: chosen } = saved.value;
  const fixed = !may('manage');
  return (
    <Page title={suite.name} back={backTo(suite.agent_id)} state={<SaveState saved={saved} />}>
      {may('sessions') && <Start agent={suite.agent_id} suite={suite.suite_id} before={saved.flush} />}
      <section class="panel stack">
        <NameField
          label={texts.agents.name}
          value={name}
          disabled={fixed}
          change={(next) => saved.edit('name', next)}
        />
        <ScenarioChecks
          scenarios={scenarios}
          chosen={chosen}
          disabled={fixed}
          change={(next) => saved.edit('scenario_ids', next)}
        />
        <Failure error={saved.error} retry={() => void saved.flush()} />
      </section>
      {!fixed && (
        <Remove
          path={path}
          sure={tests.removeSuite}
          done={() => go(['tests', 'suites'], { agent: suite.agent_id })}
        />
      )}
    </Page>
  );
}

async function load(id: string, signal: AbortSignal) {
  const suite = await ask<Suite>(suitePath(id), { signal });
  return { suite, scenarios: await allScenarios(suite.agent_id, signal) };
}

export function SuiteView({ id }: { readonly id: string }) {
  const { data, error, reload } = useLoad((signal) => load(id, signal), [id]);
  if (data) return <Editor {...data} />;
  return (
    <Page title={texts.views.tests}>
      {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
    </Page>
  );
}
