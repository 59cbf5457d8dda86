/**
 * Speech in the client's format, as a remote engine encodes it: its bytes are passed on, neither decoded, encoded nor measured, which
 * would cost twenty times as much (ops/adr/0066-pass-through.md). So the whole text is one request.
 *
 * Invariant: what needs samples takes the usual way: times, another loudness, a speed or a format that the engine does not have, texts
 * that are longer than services take, and symbols that are a silence.
 */
import { changesLevel } from '../codecs/gain.js';
import type { OutputFormat } from '../contracts/audio.js';
import { LIMITS } from '../contracts/limits.js';
import type { TtsEngine } from '../contracts/ports/speech/tts.js';
import { hasSound } from './backends/sound.js';
import type { SpokenPart } from './composite-voice.js';
import { levelOf } from './loudness.js';
import { paceOf } from './pace.js';
import { isWhole, preparedVoiceOf, type SpeechJob, spokenOf } from './speaking.js';
import { PAUSE, type Pause } from './text/text-source.js';
import type { SelectedVoice } from './voice-selection.js';

const isSame = (one: OutputFormat, other: OutputFormat): boolean =>
  one.format === other.format &&
  one.sampleRate === other.sampleRate &&
  one.mp3Bitrate === other.mp3Bitrate &&
  one.opusBitrate === other.opusBitrate;

/** Whether the engine itself gives all that the request asks of the sound. */
function isAsAsked({ capabilities }: TtsEngine, { request, timeline }: SpeechJob): boolean {
  const { output, speed, standIn } = request;
  return (
    timeline === undefined &&
    standIn === undefined &&
    !changesLevel(levelOf(capabilities, request)) &&
    paceOf(capabilities, speed).stretch === 1 &&
    (capabilities.encodes ?? []).some((format) => isSame(format, output))
  );
}

/** Whether the speech of this request is `encodedBy` the engine of its first voice, as far as that is known before all of its parts are. */
export const maybeEncodedBy = ({ engine }: SelectedVoice, job: SpeechJob): boolean =>
  engine.encoded !== undefined &&
  isWhole(job.request) &&
  job.request.text.length <= LIMITS.remote.passedText &&
  isAsAsked(engine, job);

/** What is spoken of all parts, in their lines. */
const textOf = (parts: readonly SpokenPart[]): string =>
  parts.reduce((before, part) => {
    const { text } = spokenOf(part, part.selected);
    return before === '' || text === '' ? before + text : `${before}${part.goesOn ? ' ' : '\n'}${text}`;
  }, '');

/** The encoded speech of all parts; undefined if another voice speaks any of them, or none is heard. Errors of the speech: the engine's. */
export function encodedBy(
  selected: SelectedVoice,
  all: readonly (SpokenPart | Pause)[],
  job: SpeechJob,
): AsyncIterable<Uint8Array> | undefined {
  const { engine, voice } = selected;
  const parts = all.filter((each) => each !== PAUSE);
  const text = textOf(parts);
  const isAlone = parts.every((part) => part.selected.engine === engine && part.selected.voice === voice);
  if (!isAlone || !hasSound(text)) return undefined;
  job.request.trace?.engine(engine.name);
  const { options } = preparedVoiceOf(selected, 1, job);
  return engine.encoded?.({ ...options, text }, job.request.output, job.signal);
}
