/** What a provider's webhooks are verified with, and its API is asked with: typed blind, and kept by nobody but the gateway. */
import { labelOf } from '../../form/form.js';
import { bodySchema, type CredentialNames } from '../../form/schema.js';
import { Field } from '../../parts/basics.js';
import { texts } from '../../texts.js';

const { phone } = texts;

/** Of each provider, as the gateway's own schema has them. */
export type Providers = Readonly<Record<string, CredentialNames>>;

export async function loadProviders(): Promise<Providers> {
  const { properties } = await bodySchema('/v1/agent/phone-numbers', 'post');
  return properties?.['credentials']?.['x-by-provider'] ?? {};
}

export const NO_CREDENTIALS: CredentialNames = { verifies: '', places: [] };

export type Secrets = Readonly<Record<string, string>>;

/** Those that were typed, of this provider. */
export const typedOf = ({ verifies, places }: CredentialNames, secrets: Secrets): Secrets =>
  Object.fromEntries(
    [verifies, ...places]
      .map((name) => [name, secrets[name]?.trim() ?? ''])
      .filter(([, secret]) => secret !== ''),
  );

export const SecretFields = ({
  names: { verifies, places },
  secrets,
  change,
  isNew,
}: {
  readonly names: CredentialNames;
  readonly secrets: Secrets;
  readonly change: (secrets: Secrets) => void;
  /** Whether there are none yet. */
  readonly isNew: boolean;
}) => (
  <>
    {[verifies, ...places].map((name) => (
      <Field key={name} label={labelOf([name])} help={name === verifies ? phone.verifies : phone.places}>
        {(tied) => (
          <input
            {...tied}
            type="password"
            autocomplete="off"
            required={isNew && name === verifies}
            value={secrets[name] ?? ''}
            onInput={({ currentTarget }) => change({ ...secrets, [name]: currentTarget.value })}
          />
        )}
      </Field>
    ))}
  </>
);
