/** Answers of protocol B's REST: JSON, and the ids of a synthesis or a transcription. */
import type { HttpRequest, Reply, ReplyBody } from '../../server/port.js';
import { requestIds } from './errors.js';

export const json = (value: unknown): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** With the request's id, under the names that clients read. */
export const identified = (
  { generationId }: HttpRequest,
  headers: Readonly<Record<string, string>>,
  body: ReplyBody,
): Reply => ({ status: 200, headers: { ...headers, ...requestIds(generationId) }, body });
