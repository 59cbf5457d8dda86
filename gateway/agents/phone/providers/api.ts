/** Common parts of the providers' APIs and callbacks; most of them follow Twilio. */
import { type AnsweredBy, isSipAddress, type Voicemail } from '../../../../contracts/phone/phone.js';
import type { CallState } from '../../../../contracts/phone/placed-states.js';
import type { Credentials } from '../../../../contracts/ports/phone/phone.js';
import type {
  ApiRequest,
  CallReport,
  DialledLeg,
  DialledReport,
  Dialling,
  OutgoingCall,
  Room,
} from '../dialling.js';
import { formOf, incomingOf, type Webhook, xmlReply, xmlText } from '../provider.js';

type FormFields = readonly (readonly [name: string, value: string])[];

export const jsonHeaders = (authorization: string): ApiRequest['headers'] => [
  ['authorization', authorization],
  ['content-type', 'application/json'],
  ['accept', 'application/json'],
];

export const formRequest = (path: string, authorization: string, fields: FormFields): ApiRequest => ({
  method: 'POST',
  path,
  headers: [
    ['authorization', authorization],
    ['content-type', 'application/x-www-form-urlencoded'],
    ['accept', 'application/json'],
  ],
  body: new URLSearchParams(fields as [string, string][]).toString(),
});

/** `CallStatus`; also the end of a dialled leg. */
const STATES: Readonly<Record<string, CallState>> = {
  queued: 'queued',
  initiated: 'queued',
  ringing: 'ringing',
  answered: 'answered',
  'in-progress': 'answered',
  completed: 'ended',
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'failed',
  canceled: 'cancelled',
};

/** `AnsweredBy` */
const ANSWERERS: Readonly<Record<string, AnsweredBy>> = {
  human: 'human',
  machine_start: 'machine',
  machine_end_beep: 'machine',
  machine_end_silence: 'machine',
  machine_end_other: 'machine',
  fax: 'machine',
  unknown: 'unknown',
};

const CODE = /^[\w .-]{1,64}$/;

/** A provider's code for the failure of a call; nothing if it is no code. */
export const codeOf = (code: string): Pick<CallReport, 'code'> => (CODE.test(code) ? { code } : {});

export const rowOf = <T>(rows: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(rows, name) ? rows[name] : undefined;

function reportOf(callback: Webhook): CallReport | undefined {
  const form = formOf(callback);
  const of = (name: string): string => form.get(name) ?? '';
  const call = incomingOf(of('CallSid'), of('From'), of('To') || '-');
  if (!call) return undefined;
  const state = rowOf(STATES, of('CallStatus'));
  const answeredBy = rowOf(ANSWERERS, of('AnsweredBy'));
  const greeted = of('AnsweredBy').startsWith('machine_end');
  const parent = incomingOf(of('ParentCallSid'), '', '-')?.callId;
  return {
    callId: call.callId,
    ...(parent !== undefined && { parentId: parent }),
    ...(greeted && { greeted }),
    ...(state && { state }),
    ...(answeredBy && { answeredBy }),
    ...codeOf(of('ErrorCode') || of('SipResponseCode')),
  };
}

export const HANG_UP = xmlReply('<Hangup/>');

/** `MachineDetection` */
export const DETECTIONS: Readonly<Record<Exclude<OutgoingCall['detection'], 'none'>, string>> = {
  at_once: 'Enable',
  after_greeting: 'DetectMessageEnd',
};

/** The document by which a transferred call continues. A caller's name that is no number is not sent. */
function dialDocument({ to, from, ringSeconds, urls }: DialledLeg): string {
  const kind = isSipAddress(to) ? 'Sip' : 'Number';
  const callerId = from?.startsWith('+') ? ` callerId="${xmlText(from)}"` : '';
  return (
    `<?xml version="1.0" encoding="UTF-8"?><Response>` +
    `<Dial action="${xmlText(urls.action)}" timeout="${ringSeconds}"${callerId}>` +
    `<${kind} statusCallback="${xmlText(urls.status)}" statusCallbackEvent="answered">${xmlText(to)}</${kind}></Dial></Response>`
  );
}

/** The document that puts a call into a room. */
const roomDocument = ({ name }: Room): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Response><Dial>` +
  `<Conference beep="false" startConferenceOnEnter="true" endConferenceOnExit="true">${xmlText(name)}</Conference></Dial></Response>`;

/** `DialCallStatus` */
const DIALLED: Readonly<Record<string, DialledReport['state']>> = {
  completed: 'answered',
  answered: 'answered',
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'failed',
  canceled: 'cancelled',
};

function dialledOf(callback: Webhook): DialledReport | undefined {
  const form = formOf(callback);
  const call = incomingOf(form.get('CallSid') ?? '', '', '-');
  if (!call) return undefined;
  const state = rowOf(DIALLED, form.get('DialCallStatus') ?? '') ?? 'failed';
  const waits = rowOf(STATES, form.get('CallStatus') ?? '') === 'answered';
  return { callId: call.callId, state, waits, asks: true };
}

/** The document by which a call continues that a machine has answered. */
const said = ({ message = '', language = '' }: Pick<Voicemail, 'message' | 'language'>): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Response><Say voice="alice" language="${xmlText(language)}">` +
  `${xmlText(message)}</Say><Hangup/></Response>`;

/** What is done to a call in progress, by changing it: its state, or the document in `field` by which it continues. */
export const callChanges = (
  field: string,
  change: (callId: string, credentials: Credentials, fields: FormFields) => ApiRequest,
) =>
  ({
    // Twilio: `canceled` would have no effect on a call answered meanwhile.
    hangUp: (callId, credentials) => change(callId, credentials, [['Status', 'completed']]),
    say: ({ callId, ...text }, credentials) => change(callId, credentials, [[field, said(text)]]),
    connect: (callId, leg, credentials) => change(callId, credentials, [[field, dialDocument(leg)]]),
    join: (callId, room, credentials) => change(callId, credentials, [[field, roomDocument(room)]]),
    dialled: dialledOf,
    report: reportOf,
    ended: HANG_UP,
  }) satisfies Partial<Dialling>;
