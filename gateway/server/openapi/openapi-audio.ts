/** Audio responses in /openapi.json, the same for every dialect. */
import { Type } from '../../../contracts/schemas/type.js';

export const BYTES = Type.String({ format: 'binary' });

export const AUDIO_CONTENT = {
  'audio/mpeg': BYTES,
  'audio/wav': BYTES,
  'audio/pcm': BYTES,
  'audio/ogg': BYTES,
} as const;
