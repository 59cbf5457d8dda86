/** Client events about the session itself and its responses (protocol-a.md sections 5.3 and 5.5). */
import { LIMITS } from '../../../../contracts/limits.js';
import { Fault } from './faults.js';
import { readOrder } from './orders.js';
import { type Settings, showSession, updated } from './settings.js';
import type { Handler, SessionState } from './state.js';

/** The whole session, as `session.created` and `session.updated` carry it. */
export const sessionFields = ({ settings, id, expiresAt }: SessionState): object => ({
  session: showSession(settings, id, expiresAt),
});

export const expiryFrom = (now: number): number => Math.floor((now + LIMITS.socket.connectionMs) / 1000);

const isSameInput = ({ input: one }: Settings, { input: other }: Settings): boolean =>
  one.format === other.format && one.sampleRate === other.sampleRate;

export const update: Handler = (session, { fields }) => {
  const settings = updated(session.settings, fields['session'], session.parts.vocabulary);
  if (session.input.bytes > 0 && !isSameInput(settings, session.settings)) {
    const message = 'The input format cannot change while audio waits in the buffer; commit or clear it';
    throw new Fault('unsupported_audio_format', message, 'session.audio.input.format');
  }
  session.settings = settings;
  session.events.send('session.updated', sessionFields(session));
};

export const respond: Handler = (session, event) =>
  session.decide({ type: 'respond', order: readOrder(event, session) });

export const cancel: Handler = ({ decide }, { fields, eventId }) => {
  const response = fields['response_id'] ?? undefined;
  if (response !== undefined && typeof response !== 'string')
    throw new Fault('invalid_event', 'response_id must be of type string', 'response_id');
  decide({ type: 'cancel', response, eventId });
};
