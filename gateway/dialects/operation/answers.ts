/** Answers and descriptions that the routes for operators and owners share. */
import { type TSchema, Type } from '../../../contracts/schemas/type.js';
import { failuresAs } from '../../server/openapi/openapi-errors.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';

export const uncached = (body: object, status = 200) => json(status, body, { 'cache-control': 'no-store' });

export const failures = failuresAs(Type.Object({ status: Type.Integer(), message: Type.String() }));

export const described = (summary: string, description: string, schema: TSchema) => ({
  summary,
  description,
  tags: ['Operation'],
  responses: { ...answers(200, summary, schema), ...failures(401) },
});
