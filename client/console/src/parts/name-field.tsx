/** The name of something new. */
import { Field } from './basics.js';

export const NameField = ({
  label,
  value,
  change,
}: {
  readonly label: string;
  readonly value: string;
  readonly change: (name: string) => void;
}) => (
  <Field label={label}>
    {(tied) => (
      <input {...tied} required value={value} onInput={({ currentTarget }) => change(currentTarget.value)} />
    )}
  </Field>
);
