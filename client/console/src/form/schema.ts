/** The part of JSON Schema that the interface description uses, and what the form needs of it. */
import { ask } from '../api.js';

export interface CredentialNames {
  /** What the provider's webhooks are verified with. */
  readonly verifies: string;
  /** What calls are placed with beside that; none where no calls are placed. */
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
  /** Of what there are several types of: the fields of each, by its `type`. */
  readonly 'x-fields'?: Readonly<Record<string, readonly string[]>>;
  /** Of a telephone number's credentials: those that each provider has. */
  readonly 'x-by-provider'?: Readonly<Record<string, CredentialNames>>;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let description: Promise<Description> | undefined;

/** Of the body of a request, as the gateway itself describes it. Read once; asked for again where that has failed. */
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

/** What something new of the list begins with. */
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
