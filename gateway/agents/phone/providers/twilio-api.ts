/**
 * Calls placed at Twilio.
 * https://www.twilio.com/docs/voice/api/call-resource
 * https://www.twilio.com/docs/voice/answering-machine-detection
 * https://www.twilio.com/docs/voice/twiml/dial (`action`, `DialCallStatus`), …/number (`statusCallback`), …/conference
 * https://www.twilio.com/docs/iam/api#authentication
 */
import type { Credentials } from '../../../../contracts/ports/phone/phone.js';
import type { Dialling } from '../dialling.js';
import { textIn } from '../provider.js';
import { callChanges, DETECTIONS, formRequest } from './api.js';

/** Each has a callback of its own; `completed` stands for every end. */
const EVENTS = ['initiated', 'ringing', 'answered', 'completed'];

const authorizationOf = ({ account_sid: user, auth_token: password }: Credentials): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const callsOf = ({ account_sid: account = '' }: Credentials): string =>
  `/2010-04-01/Accounts/${encodeURIComponent(account)}/Calls`;

/** Detection beside the conversation, which would otherwise be silent for seconds. */
const detecting = (how: string, url: string) =>
  [
    ['MachineDetection', how],
    ['AsyncAmd', 'true'],
    ['AsyncAmdStatusCallback', url],
  ] as const;

const callOf = (callId: string, credentials: Credentials): string =>
  `${callsOf(credentials)}/${encodeURIComponent(callId)}.json`;

const CALL_SID = /^CA[0-9a-f]{32}$/i;

export const twilioDialling: Dialling = {
  apiUrl: 'https://api.twilio.com',
  place: ({ from, to, ringSeconds, urls, detection }, credentials) =>
    formRequest(`${callsOf(credentials)}.json`, authorizationOf(credentials), [
      ['From', from],
      ['To', to],
      ['Timeout', String(ringSeconds)],
      ['Url', urls.answer],
      ['StatusCallback', urls.status],
      ...EVENTS.map((event) => ['StatusCallbackEvent', event] as const),
      ...(detection === 'none' ? [] : detecting(DETECTIONS[detection], urls.machine)),
    ]),
  taken(fields) {
    const callId = textIn(fields, 'sid');
    return CALL_SID.test(callId) ? { callId } : undefined;
  },
  ...callChanges('Twiml', (callId, credentials, fields) =>
    formRequest(callOf(callId, credentials), authorizationOf(credentials), fields),
  ),
};
