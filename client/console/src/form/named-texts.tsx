/** Texts that replace others, by the names of these: a field for each that is set, called by what it replaces, and a choice of the rest. */
import { useContext, useState } from 'preact/hooks';
import { Field } from '../parts/basics.js';
import { texts } from '../texts.js';
import { type Control, FormContext, labelOf, type NodeProps } from './form.js';

const { form } = texts;

type Named = Readonly<Record<string, string>>;

const namedIn = (value: unknown): Named =>
  typeof value === 'object' && value !== null ? (value as Named) : {};

const without = (all: Named, name: string): Named =>
  Object.fromEntries(Object.entries(all).filter(([each]) => each !== name));

/** Widgets of others have names of their own for their words. */
function Another({ add }: { readonly add: (name: string) => void }) {
  const { disabled } = useContext(FormContext);
  const [name, setName] = useState('');
  return (
    <div class="item">
      <div class="grow">
        <Field label={form.replaceByName} help={form.replaceByNameHelp}>
          {(tied) => (
            <input
              {...tied}
              disabled={disabled}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <button
        class="button"
        type="button"
        disabled={disabled || name === ''}
        onClick={() => {
          add(name);
          setName('');
        }}
      >
        {form.add}
      </button>
    </div>
  );
}

/** `standard`: the texts in use where none is set. Others that are set are shown by their names. */
export const replaceTexts =
  (standard: Named): Control =>
  ({ path, value, change }: NodeProps) => {
    const { disabled } = useContext(FormContext);
    const set = namedIn(value);
    const left = Object.entries(standard).filter(([name]) => !Object.hasOwn(set, name));
    return (
      <fieldset class="group wide">
        <legend>{labelOf(path)}</legend>
        <p class="help">{form.replaceHelp}</p>
        {Object.entries(set).map(([name, text]) => (
          <div class="item" key={name}>
            <div class="grow">
              <Field label={form.insteadOf(standard[name] ?? name)}>
                {(tied) => (
                  <input
                    {...tied}
                    disabled={disabled}
                    value={text}
                    onInput={({ currentTarget }) => change({ ...set, [name]: currentTarget.value })}
                  />
                )}
              </Field>
            </div>
            <button
              class="button"
              type="button"
              disabled={disabled}
              aria-label={form.backTo(standard[name] ?? name)}
              onClick={() => change(without(set, name))}
            >
              {form.remove}
            </button>
          </div>
        ))}
        {left.length > 0 && (
          <Field label={form.replace}>
            {(tied) => (
              <select
                {...tied}
                disabled={disabled}
                value=""
                onChange={({ currentTarget }) => change({ ...set, [currentTarget.value]: '' })}
              >
                <option value="">{form.replaceNone}</option>
                {left.map(([name, text]) => (
                  <option key={name} value={name}>
                    {text}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Another add={(name) => change({ ...set, [name]: '' })} />
      </fieldset>
    );
  };
