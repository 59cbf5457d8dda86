/**
 * Names in /openapi.json. Generators of clients make the names of functions and classes from them: an id for each operation, and what
 * clients receive under its title, once, with references to it.
 */
import type { RouteDescription } from '../port.js';

const ARTICLES = new Set(['a', 'an', 'the']);
const POSSESSIVE = /['’]s?(?!\w)/g;

const wordsIn = (text: string): readonly string[] => text.match(/[A-Za-z0-9]+/g) ?? [];
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `Read a session's recording` → `readSessionRecording`. */
export function idFrom(summary: string): string {
  const words = wordsIn(summary.replaceAll(POSSESSIVE, '')).filter((word) => !ARTICLES.has(word));
  return words.map((word, index) => (index === 0 ? word.toLowerCase() : capital(word))).join('');
}

/** Gives each operation an id that no other has; a route that stands at several paths has that of the later ones in it. */
export function operationIds(): (description: RouteDescription, path: string) => string {
  const taken = new Set<string>();
  return ({ summary, operationId = idFrom(summary) }, path) => {
    const id = taken.has(operationId)
      ? `${operationId}At${wordsIn(path).map(capital).join('')}`
      : operationId;
    taken.add(id);
    return id;
  };
}

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords whose values are data. */
const DATA = new Set(['examples', 'default', 'enum', 'const']);
const NULL = 'null';

/** The schemas that have a title, as they are met. */
export class NamedSchemas {
  readonly #found = new Map<string, Schema>();

  /** By name, in the order of the names. */
  all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema with references in place of those in it that have a title. Throws where two schemas have the same one. */
  refer(schema: object): object {
    return this.#replaced(schema) as object;
  }

  #replaced(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#replaced(each));
    if (!isSchema(value)) return value;
    const parts = Object.entries(value).map(([key, part]) => [
      key,
      DATA.has(key) ? part : this.#replaced(part),
    ]);
    const schema = Object.fromEntries(parts) as Schema;
    // Elsewhere `title` is the name of a property.
    return typeof schema['title'] === 'string' ? this.#reference(schema['title'], schema) : schema;
  }

  #reference(title: string, schema: Schema): Schema {
    const types = [schema['type']].flat();
    const isNullable = types.includes(NULL);
    const [type] = types.filter((each) => each !== NULL);
    this.#keep(title, isNullable ? { ...schema, type } : schema);
    const reference = { $ref: `#/components/schemas/${title}` };
    return isNullable ? { anyOf: [reference, { type: NULL }] } : reference;
  }

  #keep(title: string, schema: Schema): void {
    const known = this.#found.get(title);
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas of /openapi.json are called ${title}`);
    this.#found.set(title, schema);
  }
}
