/** Client events about the input audio buffer (docs/contract/protocol-a.md 5.3 and 5.5). */
import type { AppendResult, IncomingAudio, TakenAudio } from '../../../../actors/incoming-audio.js';
import { BYTES_PER_SAMPLE } from '../../../../contracts/audio.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { memoryExhausted } from '../../../../contracts/ports/accounts/memory.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { DecodedBase64 } from '../../../server/frames/long-json.js';
import { textField } from './client-events.js';
import { Fault } from './faults.js';
import { audioItem } from './items.js';
import type { Settings } from './settings.js';
import type { ClientEventHandler, SessionState } from './state.js';

const isPcm = ({ input }: Settings): boolean => input.format === 'pcm';

const TOO_MUCH_AUDIO = `At most ${LIMITS.realtime.bufferedAudioBytes / 2 ** 20} MiB of audio may wait; nothing was added`;

/** Errors: `Fault` without audio. */
function appendedOf(input: IncomingAudio, fields: PlainObject, budgetBytes: number): AppendResult {
  const { audio } = fields;
  if (!(audio instanceof DecodedBase64)) return input.append(textField(fields, 'audio'), budgetBytes);
  return audio.bytes ? input.add(audio.bytes, budgetBytes) : 'malformed';
}

/** Adds audio, without an answer or an event for the machine. An append beyond the budget is dropped; earlier audio stays. */
export const append: ClientEventHandler = ({ input, conversation }, { fields }) => {
  const appended = appendedOf(input, fields, conversation.audioBudget);
  if (appended === 'taken') return;
  if (appended === 'exhausted') throw memoryExhausted();
  if (appended === 'full') throw new Fault('conversation_too_large', TOO_MUCH_AUDIO, 'audio');
  throw new Fault('invalid_event', 'audio is not base64', 'audio');
};

/**
 * Takes the turn that waits in the buffer. Of PCM, half a sample at its end stays behind: the client may go on within that
 * sample.
 */
export const takeTurn = ({ input, settings }: Pick<SessionState, 'input' | 'settings'>): TakenAudio =>
  isPcm(settings) ? input.take() : input.takeFile();

/** Rule 6. Errors: `Fault` if the handshake had options for synthesis. */
export function refuseTranscription({ client }: SessionState): void {
  if (client.hasOptionHeaders) throw new Fault('unsupported_native_options');
}

export const commit: ClientEventHandler = (session) => {
  const { input, conversation, events, settings, decide } = session;
  refuseTranscription(session);
  if (input.bytes < (isPcm(settings) ? BYTES_PER_SAMPLE : 1))
    throw new Fault('input_audio_buffer_commit_empty');
  const { transcription } = settings;
  if (transcription && conversation.isFull)
    throw new Fault('conversation_too_large', undefined, 'input_audio_buffer');
  const audio = takeTurn(session);
  const item = audioItem(events.id('item'), transcription ? audio : undefined);
  decide({ type: 'commit', entry: { item, audio, transcription } });
};

export const clear: ClientEventHandler = ({ decide }) => decide({ type: 'clear' });
