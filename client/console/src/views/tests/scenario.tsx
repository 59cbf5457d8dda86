/** One scenario: who the user is, what must hold, which tools are mocked; changed as one types. */
import { useContext, useMemo } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { FormContext, type NodeProps, Parts } from '../../form/form.js';
import { pickOne } from '../../form/pick.js';
import { bodySchema, type Schema } from '../../form/schema.js';
import { useLoad } from '../../hooks.js';
import { Failure, Field, Loading, Page } from '../../parts/basics.js';
import { Remove } from '../../parts/remove.js';
import { go, linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { voiceOptions } from '../agents/agent-api.js';
import { SaveState } from '../agents/editor.js';
import { useSaved } from '../agents/saving.js';
import { type Scenario, scenarioPath } from './test-api.js';

const { tests } = texts;

type User = { readonly lines?: readonly string[]; readonly goal?: string; readonly persona?: string };

const linesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

export const LinesField = ({
  value,
  disabled = false,
  change,
}: {
  readonly value: string;
  readonly disabled?: boolean;
  readonly change: (text: string) => void;
}) => (
  <Field label={tests.lines} help={tests.linesHelp}>
    {(tied) => (
      <textarea
        {...tied}
        rows={4}
        disabled={disabled}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    )}
  </Field>
);

export const userOf = (text: string): User => ({ lines: linesIn(text) });

/** What was typed is kept with its empty lines, of which the gateway is told nothing. */
const Script = ({ value, change }: { readonly value: User; readonly change: (user: User) => void }) => (
  <LinesField value={(value.lines ?? []).join('\n')} change={(text) => change({ lines: text.split('\n') })} />
);

const Goal = ({ value, change }: { readonly value: User; readonly change: (user: User) => void }) => (
  <>
    {(['goal', 'persona'] as const).map((name) => (
      <Field key={name} label={tests[name]} help={tests.userHelp[name]}>
        {(tied) => (
          <textarea
            {...tied}
            rows={2}
            value={value[name] ?? ''}
            onInput={({ currentTarget }) => change({ ...value, [name]: currentTarget.value })}
          />
        )}
      </Field>
    ))}
  </>
);

/** Either a script or a goal: the fields of both at once would be refused. */
function UserFields({ value, change }: NodeProps) {
  const user = (value ?? {}) as User;
  const { disabled } = useContext(FormContext);
  const isScript = user.lines !== undefined;
  return (
    <fieldset class="group wide" disabled={disabled}>
      <legend>{tests.user}</legend>
      <div class="fields">
        <Field label={tests.speaks}>
          {(tied) => (
            <select
              {...tied}
              value={isScript ? 'script' : 'goal'}
              onChange={({ currentTarget }) =>
                change(currentTarget.value === 'script' ? { lines: [] } : { goal: '' })
              }
            >
              <option value="script">{tests.script}</option>
              <option value="goal">{tests.model}</option>
            </select>
          )}
        </Field>
      </div>
      {isScript ? <Script value={user} change={change} /> : <Goal value={user} change={change} />}
    </fieldset>
  );
}

const CONTROLS = {
  user: (props: NodeProps) => <UserFields {...props} />,
  'caller.voice': pickOne(voiceOptions),
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

const OPEN = new Set<string>([tests.sections.who, tests.sections.checks]);

const only = ({ properties = {} }: Schema, names: readonly string[]): Schema => ({
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name))),
});

const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

/** What is empty within a part is left out: to the gateway it would be a value, and a wrong one. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isSet).map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  return mapped(Object.fromEntries(Object.entries(value).filter(([, each]) => isSet(each))), withoutEmpty);
}

const mapped = (values: object, each: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, each(value)]));

function Editor({ scenario, schema }: { readonly scenario: Scenario; readonly schema: Schema }) {
  const may = useMay();
  const path = scenarioPath(scenario.scenario_id);
  const saved = useSaved<Scenario>(scenario, (parts) =>
    ask<Scenario>(path, { method: 'PATCH', body: mapped(parts, withoutEmpty) }),
  );
  const parts = useMemo(
    () => ({ problems: saved.problems, disabled: !may('manage'), controls: CONTROLS }),
    [saved.problems],
  );
  const isSpoken = saved.value.mode === 'voice';
  const change = (next: unknown) => {
    for (const [name, value] of Object.entries(next as object))
      if (value !== saved.value[name]) saved.edit(name, value);
    // Who is read has no voice.
    if ((next as Scenario).mode === 'text' && saved.value['caller']) saved.edit('caller', null);
  };
  return (
    <FormContext.Provider value={parts}>
      <div>
        <SaveState saved={saved} />
      </div>
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
  return (
    <Page title={data?.[0].name ?? texts.views.tests}>
      {data && (
        <p>
          <a href={linkTo(['tests'], { agent: data[0].agent_id })}>{tests.back}</a>
        </p>
      )}
      {!data && (error === undefined ? <Loading /> : <Failure error={error} retry={reload} />)}
      {data && <Editor scenario={data[0]} schema={data[1]} />}
    </Page>
  );
}
