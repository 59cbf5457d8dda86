/**
 * Calls placed at Telnyx, with its TeXML API.
 * https://developers.telnyx.com/api-reference/texml-rest-commands/initiate-an-outbound-call
 * https://developers.telnyx.com/api-reference/texml-rest-commands/update-call
 * https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/dial, …/conference
 * https://developers.telnyx.com/api-reference/callbacks/texml-call-answered
 * https://developers.telnyx.com/docs/voice/programmable-voice/texml-answering-machine
 */
import type { Credentials } from '../../../../contracts/ports/phone/phone.js';
import type { Dialling } from '../dialling.js';
import { textIn } from '../provider.js';
import { callChanges, DETECTIONS, formRequest, jsonHeaders } from './api.js';

const EVENTS = 'initiated ringing answered completed';

const authorizationOf = ({ api_key: key }: Credentials): string => `Bearer ${key}`;

const callsOf = ({ account_sid: account = '' }: Credentials): string =>
  `/v2/texml/Accounts/${encodeURIComponent(account)}/Calls`;

const callOf = (callId: string, credentials: Credentials): string =>
  `${callsOf(credentials)}/${encodeURIComponent(callId)}`;

export const telnyxDialling: Dialling = {
  apiUrl: 'https://api.telnyx.com',
  place: ({ from, to, ringSeconds, urls, detection }, credentials) => ({
    method: 'POST',
    path: callsOf(credentials),
    headers: jsonHeaders(authorizationOf(credentials)),
    body: JSON.stringify({
      ApplicationSid: credentials['application_sid'],
      From: from,
      To: to,
      Timeout: ringSeconds,
      Url: urls.answer,
      UrlMethod: 'POST',
      StatusCallback: urls.status,
      StatusCallbackMethod: 'POST',
      StatusCallbackEvent: EVENTS,
      ...(detection !== 'none' && {
        MachineDetection: DETECTIONS[detection],
        AsyncAmd: true,
        AsyncAmdStatusCallback: urls.machine,
        AsyncAmdStatusCallbackMethod: 'POST',
      }),
    }),
  }),
  // The documented answer lacks the call's id, which the first callback has.
  taken: (fields) =>
    textIn(fields, 'status') === ''
      ? undefined
      : { callId: textIn(fields, 'call_sid') || textIn(fields, 'sid') || undefined },
  ...callChanges('Texml', (callId, credentials, fields) =>
    formRequest(callOf(callId, credentials), authorizationOf(credentials), fields),
  ),
};
