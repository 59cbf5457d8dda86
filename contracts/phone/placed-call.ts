/** A call that was placed, as reads and the event of its end show it. */
import type { PlacedCall } from '../ports/phone/placed-calls.js';
import type { PhoneCallEndedEvent } from '../schemas/post-call.js';

export const placedCallBody = (call: PlacedCall) => ({
  call_id: call.id,
  session_id: call.sessionId,
  agent_id: call.agentId,
  phone_number_id: call.numberId,
  provider: call.provider,
  from: call.from,
  to: call.to,
  state: call.state,
  reason: call.reason,
  answered_by: call.answeredBy,
  max_ring_seconds: call.maxRingSeconds,
  voicemail: call.voicemail && { action: call.voicemail.action, message: call.voicemail.message ?? null },
  created_at: call.createdAt.toISOString(),
  answered_at: call.answeredAt?.toISOString() ?? null,
  ended_at: call.endedAt?.toISOString() ?? null,
});

/** The body of the delivery (docs/contract/platform.md 6.8). */
export const placedCallEnded = (eventId: string, call: PlacedCall & { readonly sessionId: string }): string =>
  JSON.stringify({
    event: 'phone_call.ended',
    event_id: eventId,
    call: { ...placedCallBody(call), session_id: call.sessionId },
  } satisfies PhoneCallEndedEvent);
