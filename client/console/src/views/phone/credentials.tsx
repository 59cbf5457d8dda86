/** Credentials that verify a provider's webhooks and open its API: hidden while typed, and kept only by the gateway. */
import { labelOf } from '../../form/form.js';
import { bodySchema, type CredentialNames } from '../../form/schema.js';
import { Field } from '../../parts/basics.js';
import { texts } from '../../texts.js';

const { phone } = texts;

/** Names of the credentials of each provider, from the gateway's own schema. */
export type Providers = Readonly<Record<string, CredentialNames>>;

export async function loadProviders(): Promise<Providers> {
  const { properties } = await bodySchema('/v1/agent/phone-numbers', 'post');
  return properties?.['credentials']?.['x-by-provider'] ?? {};
}

export const NO_CREDENTIALS: CredentialNames = { verifies: '', places: [] };

export type Secrets = Readonly<Record<string, string>>;

/** The credentials of this provider that were typed. */
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
  /** Whether the number has no credentials yet. */
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
