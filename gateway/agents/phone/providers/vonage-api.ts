/**
 * Calls placed at Vonage. Requests to its API carry a token signed with the application's key; all reports about a call,
 * including who has answered, come to one address.
 * https://developer.vonage.com/en/api/voice
 * https://developer.vonage.com/en/voice/voice-api/webhook-reference
 * https://developer.vonage.com/en/voice/voice-api/concepts/advanced-machine-detection
 * https://developer.vonage.com/en/voice/voice-api/concepts/text-to-speech
 * https://developer.vonage.com/en/voice/voice-api/ncco-reference (`connect`, `conversation`)
 * https://developer.vonage.com/en/getting-started/concepts/authentication
 */
import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type AnsweredBy, isSipAddress } from '../../../../contracts/phone/phone.js';
import type { CallState } from '../../../../contracts/phone/placed-states.js';
import type { Credentials } from '../../../../contracts/ports/phone/phone.js';
import { json } from '../../../server/replies.js';
import { type ApiRequest, CredentialError, type DialledReport, type Dialling } from '../dialling.js';
import { fieldsOf, incomingOf, textIn } from '../provider.js';
import { codeOf, jsonHeaders, rowOf } from './api.js';

const TOKEN_SECONDS = 300;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Errors: `CredentialError`. */
function keyOf({ private_key: pem = '' }: Credentials): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CredentialError('The private_key of the phone number is no key in PEM form');
  }
}

/** RFC 7519, by RS256. Errors: `CredentialError`. */
function authorizationOf(credentials: Credentials): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { application_id: credentials['application_id'], iat, exp: iat + TOKEN_SECONDS };
  const signed = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded({ ...claims, jti: randomUUID() })}`;
  return `Bearer ${signed}.${sign('sha256', Buffer.from(signed), keyOf(credentials)).toString('base64url')}`;
}

const request = (
  method: ApiRequest['method'],
  path: string,
  body: object,
  credentials: Credentials,
): ApiRequest => ({
  method,
  path,
  headers: jsonHeaders(authorizationOf(credentials)),
  body: JSON.stringify(body),
});

const callOf = (callId: string): string => `/v1/calls/${encodeURIComponent(callId)}`;

/** Numbers are written without their plus. */
const endpointOf = (address: string): object =>
  isSipAddress(address)
    ? { type: 'sip', uri: address }
    : { type: 'phone', number: address.replace(/^\+/, '') };

const transfer = (ncco: readonly object[]): object => ({
  action: 'transfer',
  destination: { type: 'ncco', ncco },
});

/** `status` */
const STATES: Readonly<Record<string, CallState>> = {
  started: 'queued',
  ringing: 'ringing',
  answered: 'answered',
  completed: 'ended',
  busy: 'busy',
  rejected: 'busy',
  unanswered: 'no_answer',
  timeout: 'no_answer',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** `status` of a leg that `connect` has dialled. */
const DIALLED: Readonly<Record<string, DialledReport['state']>> = {
  answered: 'answered',
  completed: 'answered',
  busy: 'busy',
  rejected: 'busy',
  unanswered: 'no_answer',
  timeout: 'no_answer',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** `status` as well. */
const ANSWERERS: Readonly<Record<string, AnsweredBy>> = { human: 'human', machine: 'machine' };

/** `sub_state`: the tone was heard, or did not come in time. */
const GREETED: ReadonlySet<string> = new Set(['beep_start', 'beep_timeout']);

/** Its names of languages, where they differ from BCP 47 with a region: it knows no `zh-CN`. */
const LANGUAGES: Readonly<Record<string, string>> = { 'zh-CN': 'cmn-CN' };

export const vonageDialling: Dialling = {
  apiUrl: 'https://api.nexmo.com',
  place: ({ from, to, ringSeconds, urls, detection }, credentials) =>
    request(
      'POST',
      '/v1/calls',
      {
        from: endpointOf(from),
        to: [endpointOf(to)],
        ringing_timer: ringSeconds,
        answer_url: [urls.answer],
        answer_method: 'POST',
        event_url: [urls.status],
        event_method: 'POST',
        // Detection runs beside the conversation, and reports the tone.
        ...(detection !== 'none' && {
          advanced_machine_detection: { behavior: 'continue', mode: 'default' },
        }),
      },
      credentials,
    ),
  taken(fields) {
    const call = incomingOf(textIn(fields, 'uuid'), '', '-');
    return call && { callId: call.callId };
  },
  hangUp: (callId, credentials) => request('PUT', callOf(callId), { action: 'hangup' }, credentials),
  say({ callId, message: text, language }, credentials) {
    const talk = { action: 'talk', text, language: rowOf(LANGUAGES, language) ?? language };
    return request('PUT', callOf(callId), transfer([talk]), credentials);
  },
  connect: (callId, { to, from, ringSeconds: timeout, urls }, credentials) => {
    const shown = from?.startsWith('+') ? { from: from.slice(1) } : {};
    const told = { eventType: 'synchronous', eventUrl: [urls.action], eventMethod: 'POST' };
    const ncco = [{ action: 'connect', ...shown, timeout, ...told, endpoint: [endpointOf(to)] }];
    return request('PUT', callOf(callId), transfer(ncco), credentials);
  },
  // The callback names the leg, and comes for each of its states.
  dialled(callback) {
    const fields = fieldsOf(callback) ?? {};
    if (!incomingOf(textIn(fields, 'uuid'), '', '-')) return undefined;
    const state = rowOf(DIALLED, textIn(fields, 'status'));
    return { callId: undefined, state, waits: state !== 'cancelled', asks: false };
  },
  join: (callId, { name }, credentials) => {
    const ncco = [{ action: 'conversation', name, startOnEnter: true, endOnExit: true }];
    return request('PUT', callOf(callId), transfer(ncco), credentials);
  },
  report(callback) {
    const fields = fieldsOf(callback) ?? {};
    const call = incomingOf(textIn(fields, 'uuid'), '', '-');
    if (!call) return undefined;
    const status = textIn(fields, 'status');
    const state = rowOf(STATES, status);
    const answeredBy = rowOf(ANSWERERS, status);
    return {
      callId: call.callId,
      ...(state && { state }),
      ...(answeredBy && { answeredBy, greeted: GREETED.has(textIn(fields, 'sub_state')) }),
      ...codeOf(textIn(fields, 'sip_code') || textIn(fields, 'detail')),
    };
  },
  ended: json(200, []),
};
