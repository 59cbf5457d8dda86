/** A new scenario: its name, voice or text, and its user. Its checks are added once it exists. */
import { submitting, useAction, useKept } from '../../hooks.js';
import { Failure, Field } from '../../parts/basics.js';
import { NameField } from '../../parts/name-field.js';
import { go } from '../../router.js';
import { texts } from '../../texts.js';
import { withoutEmptyParts } from './given.js';
import { createScenario } from './test-api.js';
import { type User, UserFields } from './user.js';

const { tests } = texts;

interface Typed {
  readonly name: string;
  readonly mode: string;
  readonly user: User;
}

const NOTHING: Typed = { name: '', mode: 'text', user: { lines: [] } };

const ModeField = ({
  value,
  choose,
}: {
  readonly value: string;
  readonly choose: (mode: string) => void;
}) => (
  <Field label={tests.mode} help={tests.modeHelp}>
    {(tied) => (
      <select {...tied} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {Object.entries(tests.modes).map(([mode, name]) => (
          <option key={mode} value={mode}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export function NewScenario({ agent }: { readonly agent: string }) {
  const [typed, setTyped] = useKept<Typed>(`scenario.${agent}`, NOTHING);
  const making = useAction(async (signal) => {
    const body = withoutEmptyParts({ ...typed, agent_id: agent, name: typed.name.trim() });
    const { scenario_id: id } = await createScenario(body, signal);
    setTyped(NOTHING);
    go(['tests', 'scenarios', id]);
  });
  return (
    <details class="panel section">
      <summary>
        <h2>{tests.add}</h2>
      </summary>
      <form class="stack" onSubmit={submitting(making)}>
        <div class="fields">
          <NameField
            label={texts.agents.name}
            value={typed.name}
            change={(name) => setTyped({ ...typed, name })}
          />
          <ModeField value={typed.mode} choose={(mode) => setTyped({ ...typed, mode })} />
        </div>
        <UserFields value={typed.user} disabled={false} change={(user) => setTyped({ ...typed, user })} />
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
