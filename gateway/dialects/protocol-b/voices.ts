/** Protocol B's voice listings (protocol-b.md section 6): all of them, a page of them, one of them. */
import { ServiceError } from '../../../contracts/errors.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import { callerOf } from './auth.js';
import type { ProtocolBParts } from './parts.js';
import { json } from './replies.js';
import { entityOf } from './voice-entity.js';
import { pageOf, voiceQuery } from './voice-search.js';

export async function listVoices(request: HttpRequest, parts: ProtocolBParts): Promise<Reply> {
  const { workspaceId } = await callerOf(request, parts);
  const voices = await parts.voices.list(workspaceId);
  return json({ voices: voices.map((voice) => entityOf(voice, parts.vocabulary)) });
}

export async function searchVoices(request: HttpRequest, parts: ProtocolBParts): Promise<Reply> {
  const { workspaceId } = await callerOf(request, parts);
  const query = voiceQuery(request.query);
  const { voices, total, next } = pageOf(await parts.voices.list(workspaceId), query);
  return json({
    voices: voices.map((voice) => entityOf(voice, parts.vocabulary)),
    has_more: next !== undefined,
    total_count: total,
    next_page_token: next ?? null,
  });
}

/** By its id or an alias. Errors: `voice_not_found` (404). */
export async function readVoice(request: HttpRequest, parts: ProtocolBParts): Promise<Reply> {
  const { workspaceId } = await callerOf(request, parts);
  const voice = await parts.voices.read(request.params['voice_id'] ?? '', workspaceId);
  if (voice) return json(entityOf(voice, parts.vocabulary));
  throw new ServiceError('voice_not_found', { status: 404, message: 'Voice not found', param: 'voice_id' });
}
