/** The name of something. */
import { Field } from './basics.js';

export const NameField = ({
  label,
  value,
  disabled = false,
  change,
}: {
  readonly label: string;
  readonly value: string;
  readonly disabled?: boolean;
  readonly change: (name: string) => void;
}) => (
  <Field label={label}>
    {(tied) => (
      <input
        {...tied}
        required
        disabled={disabled}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    )}
  </Field>
);
