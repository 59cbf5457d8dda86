/** Capabilities of Moonshine (tiny), as data: the gateway reads it without loading the model. */
import type { SttCapabilities } from '../../../contracts/ports/speech/stt.js';

const capabilities: SttCapabilities = { languages: ['en'], maxPieceSeconds: 15, words: false };

export const moonshineDescription = { name: 'moonshine', capabilities } as const;
