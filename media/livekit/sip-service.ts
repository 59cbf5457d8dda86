/**
 * The SIP service of a LiveKit server or cluster, over its API (docs/sip.md). The service itself (livekit-sip) is a separate
 * process; without it, or without Redis, the server answers each request with an error.
 */
import type { SipCallError, SipClient } from 'livekit-server-sdk';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import { systemClock } from '../../contracts/clock.js';
import { errorText, ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { isSipAddress } from '../../contracts/phone/phone.js';
import { IDENTITIES } from '../../contracts/ports/calls/calls.js';
import { type Ask, asked, askingNobody } from '../../contracts/ports/parts.js';
import type {
  SipCaller,
  SipLeg,
  SipNumber,
  SipReferral,
  SipRefusal,
  SipService,
} from '../../contracts/ports/phone/sip.js';
import type { LivekitServer } from './room-service.js';
import { roomToken, sipToken } from './tokens.js';
import { keepNumbers, userOf } from './sip-numbers.js';

/** Requests are sent once, without failover, as a repeated one could call somebody twice. */
const ONCE = { requestTimeout: 5, failover: false } as const;
const CALLER_GONE: SipReferral = { state: 'cancelled', reason: 'The caller hung up' };
/** Time beyond the ringing timeout; the service answers within it. */
const MORE_SECONDS = 10;
/** Longest wait of a caller for an agent. */
const WAIT_SECONDS = CALL_TIMES.roomJoinMs / 1000;
const { reason: MOST_REASON } = LIMITS.phone;

/** Loaded when needed, as it costs 20 MB. */
const livekit = () => import('livekit-server-sdk');
const protocol = () => import('@livekit/protocol');

const failed = (cause: unknown): ServiceError => new ServiceError('transport_failed', { cause });

/** Outcome of a call by the SIP status of the other side (RFC 3261, 21); any other status means failed. */
const STATES: Readonly<Record<number, SipRefusal['state']>> = {
  408: 'no_answer',
  480: 'no_answer',
  486: 'busy',
  487: 'no_answer',
  600: 'busy',
  603: 'busy',
};

type Refused = Partial<Pick<SipCallError, 'sipStatusCode' | 'sipStatus' | 'code' | 'status'>>;

/** The reason in words, for the owner of the number. */
function reasonOf(error: unknown): string {
  const { sipStatusCode: code, sipStatus: status = '' } = error as Refused;
  const told = code === undefined ? errorText(error) : `The SIP server answered ${code} ${status}`;
  return told.replace(/\s+/g, ' ').trim().slice(0, MOST_REASON);
}

/** As above, for a REFER: 603 may come from the called person, or from a carrier that does not transfer calls. */
const REFERRED: Readonly<Record<number, SipReferral>> = {
  ...Object.fromEntries(Object.entries(STATES).map(([code, state]) => [code, { state }])),
  603: { state: 'refused', reason: 'The SIP server answered 603 Decline' },
};

/** `rang`: the ringing timeout has passed; the service then fails with an error without a SIP status. */
function refusalOf(error: unknown, rang: boolean): SipRefusal {
  const { sipStatusCode } = error as Refused;
  const state = STATES[sipStatusCode ?? 0];
  if (state) return { state };
  if (sipStatusCode === undefined && rang) return { state: 'no_answer' };
  return { state: 'failed', reason: reasonOf(error) };
}

const REFUSALS = new Set([400, 409, 412]);

/** A number that the server refuses is its owner's problem (`conflict`); any other error is `transport_failed`. */
function keepingFailed(error: unknown): ServiceError {
  const { status = 0 } = error as Refused;
  if (!REFUSALS.has(status)) return failed(error);
  return new ServiceError('conflict', { message: `The LiveKit server does not take it: ${reasonOf(error)}` });
}

/** What asks about telephones, and about that room. */
type Client = (room?: string) => Promise<SipClient>;

async function keep(
  numbers: readonly SipNumber[],
  client: Client,
  agentName: string,
): Promise<ReadonlyMap<string, ServiceError>> {
  const { RoomAgentDispatch, RoomConfiguration, SIPMediaEncryption } = await protocol();
  const roomOf = (numberId: string) =>
    new RoomConfiguration({
      // A caller who hangs up does not come back.
      emptyTimeout: WAIT_SECONDS,
      departureTimeout: 1,
      maxParticipants: 1,
      agents: [new RoomAgentDispatch({ agentName, metadata: JSON.stringify({ number: numberId }) })],
    });
  // Audio is encrypted if the carrier offers it.
  const mediaEncryption = SIPMediaEncryption.SIP_MEDIA_ENCRYPT_ALLOW;
  const trunk = { ringingTimeout: WAIT_SECONDS, mediaEncryption };
  const parts = { store: await client(), agentName, roomOf, trunk };
  const failures = await keepNumbers(numbers, parts).catch((error: unknown) => {
    throw failed(error);
  });
  return new Map([...failures].map(([id, error]) => [id, keepingFailed(error)]));
}

async function callerIn(room: string, server: LivekitServer): Promise<SipCaller | undefined> {
  const [{ RoomServiceClient }, { ParticipantInfo_Kind: Kind }] = await Promise.all([livekit(), protocol()]);
  const { url, key, secret } = server;
  const rooms = new RoomServiceClient(url, key, secret, { ...ONCE, token: roomToken(server, room) });
  const all = await rooms.listParticipants(room).catch((error: unknown) => {
    throw failed(error);
  });
  const found = all.find(({ kind }) => kind === Kind.SIP);
  if (!found) return undefined;
  const { identity, attributes } = found;
  const number = attributes['sip.phoneNumber'] ?? '';
  return { identity, number, rings: attributes['sip.callStatus'] === 'ringing' };
}

/**
 * Route to the carrier's server; without a transport the service chooses one. With `tls` the audio is encrypted as well (SRTP):
 * its keys travel in the signalling, so one is of little use without the other.
 */
async function routeOf(server: string) {
  const { SIPMediaConfig, SIPMediaEncryption, SIPTransport } = await protocol();
  const [hostname = '', transport = 'auto'] = server.toLowerCase().split(';transport=');
  const encryption = SIPMediaEncryption.SIP_MEDIA_ENCRYPT_REQUIRE;
  return {
    trunk: {
      hostname,
      transport: SIPTransport[`SIP_TRANSPORT_${transport.toUpperCase()}` as keyof typeof SIPTransport],
    },
    ...(transport === 'tls' && { media: new SIPMediaConfig({ encryption }) }),
  };
}

async function dial(leg: SipLeg, client: Client): Promise<SipRefusal | undefined> {
  const { room, from, to, ringSeconds, server, username, password } = leg;
  const { SIPOutboundConfig } = await protocol();
  const { trunk: route, ...media } = await routeOf(server);
  const trunk = new SIPOutboundConfig({ ...route, authUsername: username, authPassword: password });
  const how = {
    fromNumber: userOf(from),
    participantIdentity: IDENTITIES.user,
    waitUntilAnswered: true,
    ringingTimeout: ringSeconds,
    timeout: ringSeconds + MORE_SECONDS,
    ...media,
  };
  const sip = await client();
  const end = systemClock.monotonic() + ringSeconds * 1000;
  return sip.createSipParticipant('', userOf(to), room, how, trunk).then(
    () => undefined,
    (error: unknown) => refusalOf(error, systemClock.monotonic() >= end),
  );
}

async function refer(
  room: string,
  to: string,
  ringSeconds: number,
  { caller, client }: { readonly caller: Promise<SipCaller | undefined>; readonly client: Client },
): Promise<SipReferral | undefined> {
  const end = systemClock.monotonic() + ringSeconds * 1000;
  try {
    const { identity } = (await caller) ?? {};
    if (identity === undefined) return CALLER_GONE;
    const how = { ringingTimeout: ringSeconds, timeout: ringSeconds + MORE_SECONDS };
    await (await client(room)).transferSipParticipant(room, identity, targetOf(to), how);
    return undefined;
  } catch (error) {
    const { sipStatusCode = 0 } = error as Refused;
    return REFERRED[sipStatusCode] ?? refusalOf(error, systemClock.monotonic() >= end);
  }
}

/** The target in the form that REFER needs. */
const targetOf = (to: string): string => (isSipAddress(to) ? to : `tel:${to}`);

/** `ask`: told what came of each request that calls nobody. */
export function createSipService(
  server: LivekitServer,
  agentName: string,
  ask: Ask = askingNobody,
): SipService {
  const client: Client = async (room) => {
    const { SipClient } = await livekit();
    return new SipClient(server.url, server.key, server.secret, { ...ONCE, token: sipToken(server, room) });
  };
  return {
    keep: (numbers) => asked(ask(), () => keep(numbers, client, agentName)),
    caller: (room) => asked(ask(), () => callerIn(room, server)),
    dial: (leg) => dial(leg, client),
    refer: (room, to, ringSeconds) =>
      refer(room, to, ringSeconds, { caller: callerIn(room, server), client }),
  };
}
