/** The language of the speech to transcribe; kept in the address. */
import { setQuery } from '../router.js';
import { texts } from '../texts.js';
import { Field } from './basics.js';

const { listen } = texts;

export const LanguageField = ({ value }: { readonly value: string }) => (
  <Field label={listen.language} help={listen.languageHelp}>
    {(tied) => (
      <input
        {...tied}
        maxLength={2}
        value={value}
        onChange={({ currentTarget }) => setQuery({ language: currentTarget.value.trim().toLowerCase() })}
      />
    )}
  </Field>
);
