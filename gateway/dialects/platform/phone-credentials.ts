/** The credentials of a phone number: which ones its provider has, and what each is for. */
import {
  CREDENTIAL_FORMS,
  type CredentialNames,
  PHONE_CREDENTIALS,
  type PhoneProvider,
} from '../../../contracts/phone/phone.js';
import type { Credentials, NumberSecrets } from '../../../contracts/ports/phone/phone.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { problem } from './errors.js';

const at = (name: string): Problem['loc'] => ['credentials', name];
const missing = (name: string): Problem => problem(at(name), `missing field credentials.${name}`, 'required');

/** The problem of a credential that does not have its form. */
const misspelt = ([name, value]: readonly [string, string]): Problem[] => {
  const [form, as] = CREDENTIAL_FORMS[name] ?? [];
  return !form || form.test(value) ? [] : [problem(at(name), `credentials.${name} ${as}`)];
};

/**
 * Problems of new credentials for a number that may have some already (`had`): names of other providers, none to verify
 * webhooks with, only some of those that the provider's API needs, or a malformed one.
 */
export function credentialProblems(
  provider: PhoneProvider,
  credentials: Credentials,
  had: { readonly verifies: boolean; readonly places: boolean },
): Problem[] {
  const { verifies, places }: CredentialNames = PHONE_CREDENTIALS[provider];
  const known: readonly string[] = [verifies, ...places];
  const lacks = (name: string): boolean => !(name in credentials);
  const isPartial = !had.places && !places.every(lacks);
  return [
    ...(had.verifies ? [] : [verifies].filter(lacks).map(missing)),
    ...(isPartial ? places.filter(lacks).map(missing) : []),
    ...Object.keys(credentials)
      .filter((name) => !known.includes(name))
      .map((name) => problem(at(name), `${provider} has no credential of that name`, 'unknown')),
    ...Object.entries(credentials).flatMap(misspelt),
  ];
}

/** Splits credentials in which `credentialProblems` found no problems. */
export function secretsOf(provider: PhoneProvider, credentials: Credentials): Partial<NumberSecrets> {
  const { [PHONE_CREDENTIALS[provider].verifies]: secret, ...api } = credentials;
  return { ...(secret !== undefined && { secret }), ...(Object.keys(api).length > 0 && { api }) };
}
