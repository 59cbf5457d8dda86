/** The subset of JSON Schema that the interface description uses and the form needs. */
import { ask } from '../api.js';

export interface CredentialNames {
  /** Credential that verifies the provider's webhooks. */
  readonly verifies: string;
  /** Further credentials that placing calls needs; empty if the provider places none. */
  readonly places: readonly string[];
}

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly readOnly?: boolean;
  /** For objects of several types: the fields of each, by `type`. */
  readonly 'x-fields'?: Readonly<Record<string, readonly string[]>>;
  /** For the credentials of a telephone number: the names that each provider uses. */
  readonly 'x-by-provider'?: Readonly<Record<string, CredentialNames>>;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let description: Promise<Description> | undefined;

/** The schema of a request's body, from the gateway's own description. It is read once; after a failure, again. */
export async function bodySchema(path: string, method: string): Promise<Schema> {
  description ??= ask<Description>('openapi.json');
  try {
    const operation = (await description).paths[path]?.[method];
    return operation?.requestBody?.content['application/json']?.schema ?? {};
  } catch (error) {
    description = undefined;
    throw error;
  }
}

export type Kind = 'object' | 'values' | 'list' | 'choice' | 'check' | 'number' | 'text';

const KINDS: Readonly<Record<string, Kind>> = {
  object: 'object',
  array: 'list',
  boolean: 'check',
  integer: 'number',
  number: 'number',
};

export function kindOf({ type, enum: options, properties }: Schema): Kind {
  if (options) return 'choice';
  const name = typeof type === 'string' ? type : type?.find((each) => each !== 'null');
  const kind = KINDS[name ?? ''] ?? 'text';
  return kind === 'object' && !properties ? 'values' : kind;
}

export const isNullable = ({ type }: Schema): boolean => Array.isArray(type) && type.includes('null');

/** Initial value of a new entry in a list. */
export function emptyOf(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  const kind = kindOf(schema);
  if (kind === 'object') {
    const wanted = Object.entries(schema.properties ?? {}).filter(
      ([name, part]) => schema.required?.includes(name) || part.default !== undefined,
    );
    return Object.fromEntries(wanted.map(([name, part]) => [name, emptyOf(part)]));
  }
  if (kind === 'values') return {};
  return kind === 'list' ? [] : kind === 'check' ? false : kind === 'choice' ? schema.enum?.[0] : '';
}
