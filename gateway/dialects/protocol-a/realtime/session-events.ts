/** Client events about the session itself and its responses (docs/contract/protocol-a.md 5.3 and 5.5). */
import { isSameFormat, isSameVoice } from '../../../../actors/realtime-settings.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { Fault } from './faults.js';
import { readOrder } from './orders.js';
import { showSession, shownText, updated } from './settings.js';
import type { ClientEventHandler, SessionState } from './state.js';

/** The whole session, for `session.created` and `session.updated`. */
export const sessionFields = ({ settings, id, expiresAt }: SessionState): object => ({
  session: showSession(settings, id, expiresAt),
});

/** As `sessionFields`, as JSON text, for settings that many sessions begin with. */
export const createdFields = ({ settings, id, expiresAt }: SessionState): string =>
  `"session":${shownText(settings, id, expiresAt)}`;

export const expiryFrom = (now: number): number => Math.floor((now + LIMITS.socket.connectionMs) / 1000);

export const update: ClientEventHandler = (
  { settings: present, input, parts, decide },
  { fields, eventId },
) => {
  const settings = updated(present, fields['session'], parts);
  if (input.bytes > 0 && !isSameFormat(settings.input, present.input)) {
    const message = 'The input format cannot change while audio waits in the buffer; commit or clear it';
    throw new Fault('unsupported_audio_format', message, 'session.audio.input.format');
  }
  decide({ type: 'update', settings, eventId, hasNewVoice: !isSameVoice(settings, present) });
};

export const respond: ClientEventHandler = (session, event) =>
  session.decide({ type: 'respond', order: readOrder(event, session) });

export const cancel: ClientEventHandler = ({ decide }, { fields, eventId }) => {
  const response = fields['response_id'] ?? undefined;
  if (response !== undefined && typeof response !== 'string')
    throw new Fault('invalid_event', 'response_id must be of type string', 'response_id');
  decide({ type: 'cancel', response, eventId });
};
