/** The simulated user of a scenario: a script, or the language model with a goal. */
import { useRef } from 'preact/hooks';
import { Field } from '../../parts/basics.js';
import { texts } from '../../texts.js';

const { tests } = texts;

/** Either `lines` or `goal`; the gateway refuses both at once. */
export interface User {
  readonly lines?: readonly string[];
  readonly goal?: string;
  readonly persona?: string;
}

interface Props {
  readonly value: User;
  readonly change: (user: User) => void;
}

const Long = ({
  label,
  help,
  rows,
  text,
  type,
}: {
  readonly label: string;
  readonly help: string;
  readonly rows: number;
  readonly text: string;
  readonly type: (text: string) => void;
}) => (
  <Field label={label} help={help}>
    {(tied) => (
      <textarea
        {...tied}
        rows={rows}
        value={text}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
    )}
  </Field>
);

/** The script as typed, with empty lines, which are not sent to the gateway. */
const Script = ({ value, change }: Props) => (
  <Long
    label={tests.lines}
    help={tests.linesHelp}
    rows={4}
    text={(value.lines ?? []).join('\n')}
    type={(text) => change({ lines: text.split('\n') })}
  />
);

const Goal = ({ value, change }: Props) => (
  <>
    {(['goal', 'persona'] as const).map((name) => (
      <Long
        key={name}
        label={tests[name]}
        help={tests.userHelp[name]}
        rows={2}
        text={value[name] ?? ''}
        type={(text) => change({ ...value, [name]: text })}
      />
    ))}
  </>
);

/** Switching from one kind to the other and back restores what was typed. */
export function UserFields({ value, disabled, change }: Props & { readonly disabled: boolean }) {
  const isScript = value.lines !== undefined;
  const other = useRef<User>(isScript ? { goal: '' } : { lines: [] });
  const turn = () => {
    const next = other.current;
    other.current = value;
    change(next);
  };
  return (
    <fieldset class="group wide" disabled={disabled}>
      <legend>{tests.user}</legend>
      <div class="fields">
        <Field label={tests.speaks}>
          {(tied) => (
            <select {...tied} value={isScript ? 'script' : 'goal'} onChange={turn}>
              <option value="script">{tests.script}</option>
              <option value="goal">{tests.model}</option>
            </select>
          )}
        </Field>
      </div>
      {isScript ? <Script value={value} change={change} /> : <Goal value={value} change={change} />}
    </fieldset>
  );
}
