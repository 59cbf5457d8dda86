/** Controls that show names instead of the schema's ids. */
import { useLoad } from '../hooks.js';
import { Check } from '../parts/basics.js';
import { useContext } from 'preact/hooks';
import { FormContext, Labelled, labelOf, type NodeProps } from './form.js';
import { texts } from '../texts.js';

export interface Option {
  readonly id: string;
  readonly name: string;
}

type Load = (signal: AbortSignal) => Promise<readonly Option[]>;

/** Adds chosen ids that are not among the options, so that they are shown as well. */
const withUnknown = (options: readonly Option[], chosen: readonly string[]): readonly Option[] => [
  ...options,
  ...chosen.filter((id) => !options.some((option) => option.id === id)).map((id) => ({ id, name: id })),
];

export const pickOne =
  (load: Load) =>
  ({ schema, path, value, change }: NodeProps) => {
    const { data = [] } = useLoad(load, []);
    const chosen = typeof value === 'string' ? value : '';
    return (
      // No bounds: the length of a chosen id is of no interest.
      <Labelled schema={schema} path={path} bounds="">
        {(tied) => (
          <select {...tied} value={chosen} onChange={({ currentTarget }) => change(currentTarget.value)}>
            {withUnknown(data, [chosen]).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Labelled>
    );
  };

export const pickSome =
  (load: Load) =>
  ({ path, value, change }: NodeProps) => {
    const { data = [] } = useLoad(load, []);
    const { disabled } = useContext(FormContext);
    const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
    const options = withUnknown(data, chosen);
    return (
      <fieldset class="group wide">
        <legend>{labelOf(path)}</legend>
        {options.length === 0 && <p class="help">{texts.form.noneYet}</p>}
        {options.map(({ id, name }) => (
          <Check
            key={id}
            label={name}
            checked={chosen.includes(id)}
            disabled={disabled}
            onChange={(on) => change(on ? [...chosen, id] : chosen.filter((each) => each !== id))}
          />
        ))}
      </fieldset>
    );
  };
