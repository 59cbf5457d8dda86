/** Parts of a route's description in /openapi.json. */
import type { TSchema } from '../../../contracts/schemas/type.js';
import type { RouteDescription } from '../port.js';

/** The response of one status, as JSON; without a body if there is no schema. */
export const answers = (
  status: number,
  description: string,
  schema?: TSchema,
): RouteDescription['responses'] => ({
  [status]: schema ? { description, content: jsonBody(schema) } : { description },
});

export const jsonBody = (schema: TSchema): Record<string, TSchema> => ({ 'application/json': schema });

export const queryParameter = (
  name: string,
  schema: object,
  description?: string,
): NonNullable<RouteDescription['parameters']>[number] => ({
  name,
  in: 'query',
  schema,
  ...(description === undefined ? {} : { description }),
});

/** A query parameter for each property of an object's schema. */
export const queryParameters = (properties: Readonly<Record<string, TSchema>>) =>
  Object.entries(properties).map(([name, schema]) => queryParameter(name, schema));
