/**
 * Calls placed and transferred at Plivo. A call continues with a document that Plivo fetches from an address. Plivo detects machines
 * but not their tone, so the document with the message itself waits for the end of the greeting.
 * https://docs.plivo.com/docs/voice/api/call/make-a-call
 * https://docs.plivo.com/docs/voice/api/call/machine-detection
 * https://www.plivo.com/docs/voice/detailed-reference/api/call/hangup-a-call/
 * https://docs.plivo.com/docs/voice/xml/wait
 * https://docs.plivo.com/docs/voice/use-cases/dial-status-reporting
 * https://docs.plivo.com/docs/voice/api/call/transfer-a-call
 * https://docs.plivo.com/docs/voice/xml/dial (`action`, `callbackUrl`), …/conference
 */
import { type AnsweredBy, isSipAddress } from '../../../../contracts/phone/phone.js';
import type { CallState } from '../../../../contracts/phone/placed-states.js';
import type { Credentials } from '../../../../contracts/ports/phone/phone.js';
import type { ApiRequest, DialledReport, Dialling } from '../dialling.js';
import { formOf, incomingOf, textIn, xmlReply, xmlText } from '../provider.js';
import { codeOf, HANG_UP, jsonHeaders, rowOf } from './api.js';

const authorizationOf = ({ auth_id: user, auth_token: password }: Credentials): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const callsOf = ({ auth_id: account = '' }: Credentials): string =>
  `/v1/Account/${encodeURIComponent(account)}/Call/`;

const callOf = (callId: string, credentials: Credentials): string =>
  `${callsOf(credentials)}${encodeURIComponent(callId)}/`;

/** Numbers are written without their plus. */
const plain = (address: string): string => address.replace(/^\+/, '');

/** `CallStatus` */
const STATES: Readonly<Record<string, CallState>> = {
  ringing: 'ringing',
  'in-progress': 'answered',
  completed: 'ended',
  busy: 'busy',
  'no-answer': 'no_answer',
  timeout: 'no_answer',
  cancel: 'cancelled',
  failed: 'failed',
};

/** `DialAction`: state of a dialled leg. Its end is left to the callback to `action`, which says more. */
const DIAL_ACTIONS: Readonly<Record<string, CallState>> = { answer: 'answered', connected: 'answered' };

/** `DialStatus` */
const DIALLED: Readonly<Record<string, DialledReport['state']>> = {
  completed: 'answered',
  busy: 'busy',
  'no-answer': 'no_answer',
  timeout: 'no_answer',
  failed: 'failed',
  cancel: 'cancelled',
};

/** `Machine` */
const ANSWERERS: Readonly<Record<string, AnsweredBy>> = { true: 'machine', false: 'human' };

/** Continues the call with the document at that address. */
const goOn = (callId: string, url: string, credentials: Credentials): ApiRequest => ({
  method: 'POST',
  path: callOf(callId, credentials),
  headers: jsonHeaders(authorizationOf(credentials)),
  body: JSON.stringify({ legs: 'aleg', aleg_url: url, aleg_method: 'POST' }),
});

/** The greeting has ended after two seconds of silence. */
const GREETING = '<Wait length="60" silence="true" minSilence="2000"/>';

export const plivoDialling: Dialling = {
  apiUrl: 'https://api.plivo.com',
  place: ({ from, to, ringSeconds, urls, detection }, credentials) => ({
    method: 'POST',
    path: callsOf(credentials),
    headers: jsonHeaders(authorizationOf(credentials)),
    body: JSON.stringify({
      from: plain(from),
      to: plain(to),
      ring_timeout: ringSeconds,
      answer_url: urls.answer,
      answer_method: 'POST',
      ring_url: urls.status,
      ring_method: 'POST',
      hangup_url: urls.status,
      hangup_method: 'POST',
      ...(detection !== 'none' && {
        machine_detection: 'true',
        machine_detection_url: urls.machine,
        machine_detection_method: 'POST',
      }),
    }),
  }),
  // The answer names only the request; the first callback names the call.
  taken: (fields) => (textIn(fields, 'request_uuid') === '' ? undefined : { callId: undefined }),
  hangUp: (callId, credentials) => ({
    method: 'DELETE',
    path: callOf(callId, credentials),
    headers: [['authorization', authorizationOf(credentials)]],
  }),
  say: ({ callId, url }, credentials) => goOn(callId, url, credentials),
  message: ({ message, language }) =>
    xmlReply(`${GREETING}<Speak language="${xmlText(language)}">${xmlText(message)}</Speak><Hangup/>`),
  connect: (callId, { urls }, credentials) => goOn(callId, urls.document, credentials),
  join: (callId, { url }, credentials) => goOn(callId, url, credentials),
  dial({ to, from, ringSeconds, urls }) {
    const kind = isSipAddress(to) ? 'User' : 'Number';
    const callerId = from?.startsWith('+') ? ` callerId="${plain(from)}"` : '';
    return xmlReply(
      `<Dial action="${xmlText(urls.action)}" method="POST" timeout="${ringSeconds}"${callerId} ` +
        `callbackUrl="${xmlText(urls.status)}" callbackMethod="POST"><${kind}>${xmlText(plain(to))}</${kind}></Dial>`,
    );
  },
  meet: ({ name }) =>
    xmlReply(
      `<Conference startConferenceOnEnter="true" endConferenceOnExit="true">${xmlText(name)}</Conference>`,
    ),
  dialled(callback) {
    const form = formOf(callback);
    const call = incomingOf(form.get('CallUUID') ?? '', '', '-');
    if (!call) return undefined;
    const state = rowOf(DIALLED, form.get('DialStatus') ?? '') ?? 'failed';
    return { callId: call.callId, state, waits: form.get('CallStatus') === 'in-progress', asks: true };
  },
  report(callback) {
    const form = formOf(callback);
    const call = incomingOf(form.get('CallUUID') ?? '', '', '-');
    if (!call) return undefined;
    const dialled = form.get('DialAction');
    const state =
      dialled === null ? rowOf(STATES, form.get('CallStatus') ?? '') : rowOf(DIAL_ACTIONS, dialled);
    const answeredBy = rowOf(ANSWERERS, (form.get('Machine') ?? '').toLowerCase());
    return {
      callId: call.callId,
      ...(dialled !== null && { parentId: call.callId }),
      ...(state && { state }),
      ...(answeredBy && { answeredBy, greeted: true }),
      ...codeOf(form.get('HangupCauseCode') ?? ''),
    };
  },
  ended: HANG_UP,
};
