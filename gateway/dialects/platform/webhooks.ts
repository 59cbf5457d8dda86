/** Post-call events in /openapi.json: their bodies are the schemas that contracts/sessions/post-call.ts makes them by. */
import { EVENT_BODIES } from '../../../contracts/schemas/post-call.js';
import { DELIVERY_EVENTS, type DeliveryEvent, GONE } from '../../../contracts/ports/sessions/deliveries.js';
import { eventIdHeader, signatureHeader } from '../../../contracts/sessions/webhook-headers.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { jsonBody } from '../../server/openapi/openapi-parts.js';
import type { Dialect } from '../../server/port.js';

const SUMMARIES: Readonly<Record<DeliveryEvent, string>> = {
  'call.ended': 'A conversation has ended',
  'call.analyzed': 'Its analysis is made, or skipped; follows each `call.ended`',
  'phone_call.dial_finished':
    'The dialling of a placed call came out: it was answered, or is over. Once a call, before its `call.ended`',
  'phone_call.ended': 'A placed call has ended, whether it was answered or not',
};

const headers = (vocabulary: Vocabulary) => [
  {
    name: eventIdHeader(vocabulary),
    in: 'header' as const,
    required: true,
    description: 'The `event_id` of the body.',
    schema: { type: 'string' },
  },
  {
    name: signatureHeader(vocabulary),
    in: 'header' as const,
    description:
      'If the webhook has a secret: `t=<unix seconds>,v1=<hex>`, v1 the HMAC-SHA256 of `<t>.<body>`, made anew for each attempt.',
    schema: { type: 'string' },
  },
];

export const platformWebhooks = (vocabulary: Vocabulary): NonNullable<Dialect['webhooks']> =>
  Object.fromEntries(
    DELIVERY_EVENTS.map((event) => [
      event,
      {
        summary: SUMMARIES[event],
        tags: ['deliveries'],
        auth: false,
        parameters: headers(vocabulary),
        requestBody: jsonBody(EVENT_BODIES[event]),
        responses: {
          200: { description: 'Taken, as with any 2xx; the body is not read' },
          [GONE]: { description: 'Not wanted: it is not sent again' },
          500: { description: 'Anything else, or nothing within ten seconds: it is sent again' },
        },
      },
    ]),
  );
