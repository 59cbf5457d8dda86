/** How a remote service is asked for the words of one piece of audio. */
import type { ForWhom } from '../../../contracts/ports/parts.js';
import type { SpeechContext, SttPiece } from '../../../contracts/ports/speech/stt.js';
import type { TraceContext } from '../../../contracts/ports/trace.js';

/** `wav`: the piece as a WAV file, 16-bit mono. */
export type TranscribePiece = (
  wav: Buffer,
  options: {
    readonly language?: string;
    readonly context?: SpeechContext;
    readonly traceContext?: TraceContext;
    readonly whom?: ForWhom;
  },
  signal: AbortSignal,
) => Promise<SttPiece>;
