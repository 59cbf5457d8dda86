/**
 * Speech on the socket `stream-input`: the text of a piece, then its audio with the times of its characters. Its first audio comes before
 * the rest is made, so it is for whoever waits for that, or for the times of words.
 */
import { BYTES_PER_SAMPLE, samplesOf } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import type { RemoteAddress } from '../remote/request.js';
import { objectIn, type SocketFrame } from '../remote/socket.js';
import type { SpeakingReader, SpeakingSocket } from '../remote/synthesis.js';
import { AlignedWords } from './alignment.js';
import { failureIn } from './failures.js';
import { queryOf, settingsOfVoice } from './options.js';

class StreamInputReader implements SpeakingReader {
  readonly #words = new AlignedWords();
  #samples = 0;
  /** Half of a sample, at the end of a frame. */
  #half: Buffer = Buffer.alloc(0);

  constructor(
    private readonly timing: boolean,
    private readonly rate: number,
    private readonly address: RemoteAddress,
  ) {}

  take(frame: SocketFrame): readonly TtsEvent[] | undefined {
    const said = objectIn(frame);
    const failure = failureIn(said, this.address);
    if (failure) throw failure;
    if (said['isFinal'] === true) return undefined;
    const audioMs = (this.#samples / this.rate) * 1000;
    const samples = this.#samplesIn(said['audio']);
    const words = this.timing ? this.#words.add(said['alignment'], audioMs) : [];
    return [...samples, ...words.map((word) => ({ kind: 'word' as const, word }))];
  }

  rest(): readonly TtsEvent[] {
    return this.timing ? this.#words.rest().map((word) => ({ kind: 'word', word })) : [];
  }

  #samplesIn(audio: unknown): TtsEvent[] {
    if (audio === null || audio === undefined || audio === '') return [];
    if (typeof audio !== 'string')
      throw new ServiceError('provider_failed', { message: 'The speech provider did not answer audio' });
    const bytes = Buffer.concat([this.#half, Buffer.from(audio, 'base64')]);
    this.#half = bytes.subarray(bytes.length - (bytes.length % BYTES_PER_SAMPLE));
    const samples = samplesOf(bytes);
    this.#samples += samples.length;
    return samples.length === 0 ? [] : [{ kind: 'audio', samples }];
  }
}

export const streamInput = (model: string): SpeakingSocket => ({
  suits: ({ timing = false, latency }) => timing || latency === 'low' || latency === 'balanced',
  requestFor: (request, sampleRate) => ({
    path: `/v1/text-to-speech/${encodeURIComponent(request.voice)}/stream-input?${queryOf(request, model, {
      format: 'pcm',
      sampleRate,
    })}`,
  }),
  framesOf: (request: TtsRequest) =>
    [{ text: ' ', ...settingsOfVoice(request) }, { text: `${request.text} `, flush: true }, { text: '' }].map(
      (frame) => JSON.stringify(frame),
    ),
  readerFor: ({ timing = false }, rate, address) => new StreamInputReader(timing, rate, address),
});
