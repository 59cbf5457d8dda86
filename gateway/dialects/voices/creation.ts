/** Makes a new voice of a body: checks the sizes of its files, and that each of them is audio. */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { Decode } from '../../../contracts/ports/speech/codec.js';
import type { NewVoice } from '../../../contracts/ports/speech/voices.js';
import type { VoiceUpload } from './bodies.js';
import { checked } from './checked.js';
import { Creation } from './schema.js';

const { references: count, referenceBytes, referencesBytes } = LIMITS.voice;

const checkFields = checked(Creation);

const refuse = (message: string, param: string): never => {
  throw new ServiceError('invalid_request', { message, param });
};

function checkFiles(files: readonly Uint8Array[]): void {
  if (files.length === 0) refuse('missing field voices', 'voices');
  if (files.length > count.max) refuse(`voices must have ${count.min} to ${count.max} items`, 'voices');
  const sum = files.reduce((bytes, file) => bytes + file.length, 0);
  if (sum <= referencesBytes && files.every(({ length }) => length <= referenceBytes)) return;
  throw new ServiceError('audio_too_large', { param: 'voices' });
}

/** Requires one text per file, or none at all. */
function checkTexts(texts: readonly string[], files: readonly Uint8Array[]): void {
  if (texts.length > 0 && texts.length !== files.length)
    refuse('texts must have one item for each of voices, or none', 'texts');
}

/** Decodes the beginning of each file. Errors: `audio_unreadable`, `engine_busy`. */
async function checkAudio(
  files: readonly Uint8Array[],
  caller: Caller,
  decode: Decode,
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) {
    let samples = 0;
    for await (const part of decode(file, caller, signal)) {
      samples += part.length;
      if (samples > 0) break;
    }
    if (samples === 0) throw new ServiceError('audio_unreadable', { param: 'voices' });
  }
}

/** Errors: `invalid_request`, `audio_too_large`, `audio_unreadable`, `engine_busy`. */
export async function newVoice(
  { fields, files }: VoiceUpload,
  caller: Caller,
  decode: Decode,
  signal: AbortSignal,
): Promise<NewVoice> {
  const { title, description = '', tags = [], texts = [], visibility = 'public' } = checkFields(fields);
  checkFiles(files);
  checkTexts(texts, files);
  await checkAudio(files, caller, decode, signal);
  const references = files.map((audio, index) => ({ audio, text: texts[index] ?? '' }));
  return { title, description, tags, visibility, references };
}
