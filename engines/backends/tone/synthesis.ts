/**
 * Text to tones. Deterministic, and cheap enough for benchmarks to see everything else: a symbol is one
 * copy of a prepared waveform. Runs in the gateway's process.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { MOST_BYTES, SYMBOL_SAMPLES, symbolsOf, TAIL_SYMBOLS, timesOfWords, waveforms } from './code.js';
import { toneSpeechDescription } from './description.js';

/** Chunks: first 100 ms, to be there soon, then 400 ms, which cost no more to pass on. */
const FIRST_SYMBOLS = 5;
const CHUNK_SYMBOLS = 20;

const isSpeakable = (text: string): boolean => /[^\p{P}\p{Z}\p{C}]/u.test(text);

function chunkOf(symbols: Uint8Array): Int16Array {
  const samples = new Int16Array(symbols.length * SYMBOL_SAMPLES);
  for (let index = 0; index < symbols.length; index += 1)
    samples.set(waveforms()[symbols[index]!]!, index * SYMBOL_SAMPLES);
  return samples;
}

async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
  signal.throwIfAborted();
  if (!isSpeakable(request.text)) return;
  const bytes = Buffer.from(request.text);
  if (bytes.length > MOST_BYTES) {
    throw new ServiceError('invalid_request', { message: 'The text is too long for one utterance' });
  }
  if (request.timing) {
    for (const word of timesOfWords(request.text)) yield { kind: 'word', word };
  }
  const symbols = symbolsOf(bytes);
  for (let at = 0, end = FIRST_SYMBOLS; at < symbols.length; at = end, end += CHUNK_SYMBOLS) {
    signal.throwIfAborted();
    yield { kind: 'audio', samples: chunkOf(symbols.subarray(at, end)) };
  }
  yield { kind: 'audio', samples: new Int16Array(TAIL_SYMBOLS * SYMBOL_SAMPLES) };
}

/** Errors of `synthesize`: `invalid_request` for more than 64 KiB of text. */
export const createToneSpeech = (): TtsEngine => ({ ...toneSpeechDescription, synthesize });
