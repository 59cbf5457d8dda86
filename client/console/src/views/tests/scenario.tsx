/** One scenario: its user, its checks, its mocked tools; saved as the user types. */
import { useContext, useMemo } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { FormContext, type NodeProps, Parts } from '../../form/form.js';
import { pickVoice } from '../../form/pick-voice.js';
import { bodySchema, type Schema } from '../../form/schema.js';
import { useLoad } from '../../hooks.js';
import { Failure, Loading, Page } from '../../parts/basics.js';
import { Remove } from '../../parts/remove.js';
import { go, linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { SaveState } from '../agents/editor.js';
import { useSaved } from '../agents/saving.js';
import { withoutEmptyParts } from './given.js';
import { type Scenario, scenarioPath } from './test-api.js';
import { type User, UserFields } from './user.js';

const { tests } = texts;

const CONTROLS = {
  user: ({ value, change }: NodeProps) => {
    const { disabled } = useContext(FormContext);
    return <UserFields value={(value ?? {}) as User} disabled={disabled} change={change} />;
  },
  'caller.voice': pickVoice,
};

interface Section {
  readonly title: string;
  readonly parts: readonly string[];
  readonly spokenOnly?: boolean;
}

const SECTIONS: readonly Section[] = [
  { title: tests.sections.who, parts: ['name', 'mode', 'user'] },
  { title: tests.sections.caller, parts: ['caller'], spokenOnly: true },
  { title: tests.sections.checks, parts: ['checks'] },
  { title: tests.sections.tools, parts: ['tool_mocks', 'unmocked_tools'] },
  {
    title: tests.sections.more,
    parts: ['max_turns', 'max_seconds', 'overrides', 'dynamic_variables'],
  },
];

const OPEN = new Set<string>([tests.sections.who, tests.sections.caller, tests.sections.checks]);

const only = ({ properties = {} }: Schema, names: readonly string[]): Schema => ({
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name))),
});

const backTo = (agent: string) => ({ name: tests.back, to: linkTo(['tests'], { agent }) });

function Editor({ scenario, schema }: { readonly scenario: Scenario; readonly schema: Schema }) {
  const may = useMay();
  const path = scenarioPath(scenario.scenario_id);
  const saved = useSaved<Scenario>(path, scenario, (parts) =>
    ask<Scenario>(path, { method: 'PATCH', body: withoutEmptyParts(parts) }),
  );
  const parts = useMemo(
    () => ({ problems: saved.problems, disabled: !may('manage'), controls: CONTROLS }),
    [saved.problems],
  );
  const isSpoken = saved.value.mode === 'voice';
  const change = (next: unknown) => {
    for (const [name, value] of Object.entries(next as object))
      if (value !== saved.value[name]) saved.edit(name, value);
    // The simulated user of a text scenario has no voice.
    if ((next as Scenario).mode === 'text' && saved.value['caller']) saved.edit('caller', null);
  };
  return (
    <FormContext.Provider value={parts}>
      <Page title={scenario.name} back={backTo(scenario.agent_id)} state={<SaveState saved={saved} />}>
        <Failure error={saved.error} retry={() => void saved.flush()} />
        {SECTIONS.filter(({ spokenOnly }) => isSpoken || !spokenOnly).map(({ title, parts: names }) => (
          <details class="panel section" key={title} open={OPEN.has(title)}>
            <summary>
              <h2>{title}</h2>
            </summary>
            <div class="fields">
              <Parts schema={only(schema, names)} path={[]} value={saved.value} change={change} />
            </div>
          </details>
        ))}
        {may('manage') && (
          <Remove
            path={path}
            sure={tests.removeScenario}
            done={() => go(['tests'], { agent: scenario.agent_id })}
          />
        )}
      </Page>
    </FormContext.Provider>
  );
}

export function ScenarioView({ id }: { readonly id: string }) {
  const { data, error, reload } = useLoad(
    (signal) =>
      Promise.all([
        ask<Scenario>(scenarioPath(id), { signal }),
        bodySchema('/v1/agent/tests/scenarios/{scenario_id}', 'patch'),
      ]),
    [id],
  );
  if (data) return <Editor scenario={data[0]} schema={data[1]} />;
  return (
    <Page title={texts.views.tests}>
      {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
    </Page>
  );
}
