/**
 * What is sent to webhooks, in /openapi.json: post-call events, whose bodies are the schemas that contracts/sessions/post-call.ts makes
 * them by, and the question before a call.
 */
import { InitAnswerBody, InitQuestionBody } from '../../../contracts/schemas/conversation-init.js';
import { EVENT_BODIES } from '../../../contracts/schemas/post-call.js';
import { DELIVERY_EVENTS, type DeliveryEvent, GONE } from '../../../contracts/ports/sessions/deliveries.js';
import { eventIdHeader, signatureHeader } from '../../../contracts/sessions/webhook-headers.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { INIT_EVENT } from '../../../contracts/ports/sessions/conversation-init.js';
import { answers, jsonBody } from '../../server/openapi/openapi-parts.js';
import type { Dialect } from '../../server/port.js';

const SUMMARIES: Readonly<Record<DeliveryEvent, string>> = {
  'call.ended': 'A conversation has ended',
  'call.analyzed': 'Its analysis is made, or skipped; follows each `call.ended`',
  'phone_call.dial_finished':
    'The dialling of a placed call came out: it was answered, or is over. Once a call, before its `call.ended`',
  'phone_call.ended': 'A placed call has ended, whether it was answered or not',
};

type Described = NonNullable<Dialect['webhooks']>;

const signature = (vocabulary: Vocabulary) => ({
  name: signatureHeader(vocabulary),
  in: 'header' as const,
  description:
    'If the webhook has a secret: `t=<unix seconds>,v1=<hex>`, v1 the HMAC-SHA256 of `<t>.<body>`, made anew for each attempt.',
  schema: { type: 'string' },
});

const headers = (vocabulary: Vocabulary) => [
  {
    name: eventIdHeader(vocabulary),
    in: 'header' as const,
    required: true,
    description: 'The `event_id` of the body.',
    schema: { type: 'string' },
  },
  signature(vocabulary),
];

const question = (vocabulary: Vocabulary): Described[string] => ({
  summary: 'Somebody calls: with which variables does the agent begin?',
  description:
    'Before an inbound phone call is answered, and before calls of clients where `webhooks.conversation_init.web` is true. Nothing is ' +
    'repeated: without an answer in time the call goes on without it.',
  tags: ['agents'],
  auth: false,
  parameters: [signature(vocabulary)],
  requestBody: jsonBody(InitQuestionBody),
  responses: {
    ...answers(
      200,
      'Variables for the prompt, in at most 64 KiB; any other member is ignored',
      InitAnswerBody,
    ),
    500: { description: 'Anything else: the call goes on without' },
  },
});

export const platformWebhooks = (vocabulary: Vocabulary): Described => ({
  [INIT_EVENT]: question(vocabulary),
  ...Object.fromEntries(
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
  ),
});
