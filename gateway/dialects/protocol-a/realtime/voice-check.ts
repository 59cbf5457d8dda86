/** Checks that a session's voice can speak, before there is text to speak. */
import { type ErrorCode, ServiceError } from '../../../../contracts/errors.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { ProtocolAParts } from '../parts.js';
import { Fault, toldError } from './faults.js';
import type { Settings } from './settings.js';

const VOICE_ERRORS: readonly ErrorCode[] = ['voice_not_found', 'cloning_unavailable'];

/** Errors: `Fault` for a voice that the model does not have, `ServiceError` if the check itself failed. */
export async function checkVoice(
  { kind, model, voice }: Settings,
  caller: Pick<Caller, 'workspaceId'>,
  { speech }: Pick<ProtocolAParts, 'speech'>,
): Promise<void> {
  if (kind !== 'realtime') return;
  try {
    await speech.checkVoice({ model: model.id, voice }, caller);
  } catch (error) {
    if (!(error instanceof ServiceError && VOICE_ERRORS.includes(error.code))) throw error;
    throw new Fault('invalid_voice', toldError(error).message, 'session.audio.output.voice');
  }
}
