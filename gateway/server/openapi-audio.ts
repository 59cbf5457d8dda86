/** Audio in /openapi.json, as every dialect sends it. */
import { Type } from '../../contracts/schemas/type.js';

export const BYTES = Type.String({ format: 'binary' });

export const AUDIO_CONTENT = {
  'audio/mpeg': BYTES,
  'audio/wav': BYTES,
  'audio/pcm': BYTES,
  'audio/ogg': BYTES,
} as const;
