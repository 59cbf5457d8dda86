/**
 * Synthesis by an operator's model folder on sherpa-onnx. The model runs on a thread of libuv's, one piece at a
 * time. Invariant: an abort leaves at once; the thread stops after the sentence it is in.
 */
import { setImmediate as turn } from 'node:timers/promises';
import sherpa, { type OfflineTts } from 'sherpa-onnx-node';
import { ServiceError } from '../../../contracts/errors.js';
import type { Language } from '../../../contracts/languages.js';
import type { TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/tts.js';
import { samplesOfFloats } from '../samples.js';
import { hasSound } from '../sound.js';
import { Turns } from '../turns.js';
import { ModelFolder } from './folder.js';
import { describeSherpaTts } from './tts-kinds.js';

const CHUNKS_PER_SECOND = 10;

/** Control characters and lone surrogates are nothing to a model, and its C strings end at a zero. */
// eslint-disable-next-line no-control-regex
const UNSPEAKABLE = /[\u0000-\u001f\u007f\p{Cs}]+/gu;

async function generate(
  tts: OfflineTts,
  text: string,
  sid: number,
  signal: AbortSignal,
): Promise<Int16Array> {
  const { samples } = await tts.generateAsync({
    text: text.replace(UNSPEAKABLE, ' '),
    sid,
    speed: 1,
    enableExternalBuffer: false,
    onProgress: () => !signal.aborted,
  });
  return samplesOfFloats(samples);
}

/** Loads the model. Throws, for the operator to read, where the folder is not one of a known kind. */
export async function createSherpaSpeech(path: string, languages?: readonly Language[]): Promise<TtsEngine> {
  const { description, speakers, model } = describeSherpaTts(new ModelFolder(path), languages);
  const tts = await sherpa.OfflineTts.createAsync({ model, maxNumSentences: 1 });
  const { sampleRate } = description.capabilities;
  if (tts.sampleRate !== sampleRate)
    throw new Error(`The model in ${path} speaks at ${tts.sampleRate} Hz, but says ${sampleRate}`);
  const turns = new Turns();
  const chunk = Math.floor(sampleRate / CHUNKS_PER_SECOND);
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    signal.throwIfAborted();
    const speaker = speakers.get(request.voice);
    if (speaker === undefined) throw new ServiceError('voice_not_found');
    if (!hasSound(request.text)) return;
    const samples = await turns.take(() => generate(tts, request.text, speaker, signal), signal);
    for (let at = 0; at < samples.length; at += chunk) {
      signal.throwIfAborted();
      yield { kind: 'audio', samples: samples.slice(at, at + chunk) };
      await turn();
    }
  }
  return { ...description, synthesize };
}
