/**
 * The agent in a room of a LiveKit server, and the one user that it serves. Other participants (egress, a
 * supervisor) are neither heard nor spoken to. The library's state is polled every beat, which shows more than its
 * events do: for one, whether the user's media is up. actors/connection.ts decides the state of the user's
 * connection; the server handles signalling and media, so a participant counts as a link.
 *
 * Invariants: `connected` and `disconnected` alternate, and nothing is reported after `leave`; input from the network is
 * bounded; joining and leaving end in bounded time, whatever the server does.
 */
import type { RemoteParticipant, RemoteTrackPublication, Room } from '@livekit/rtc-node';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import { type Clock, systemClock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { withTimeout } from '../../contracts/time/timeouts.js';
import { connection, type ConnectionEffect, type ConnectionEvent } from '../../actors/connection.js';
import { type Effects, run, type RunningMachine } from '../../actors/run.js';
import type { DataReport, RoomArgs } from '../wire.js';
import { FRAME_MS } from '../playout.js';
import { SOURCES, userTrack } from '../user-track.js';
import { listenToData, type Received } from './incoming.js';
import { pressKeys } from './keys.js';
import { RoomListener, type ListenerEvents } from './listener.js';
import { RoomSender } from './outgoing.js';
import { loadRtc, type Rtc } from './rtc.js';
import type { Speaker } from './speaker.js';
import { RoomVoice } from './voice.js';

const { missedMs, roomJoinMs, roomLastWordsMs, roomLeaveMs } = CALL_TIMES;
/** Largest message of the user, and longest name of its topic. */
const MOST_MESSAGE_BYTES = 64 * 1024;
const MOST_TOPIC = 128;
/** The state of a participant whose media is connected. */
const ACTIVE = 2;
/** Beats after which a user whose client does not subscribe to the agent's voice counts as connected all the same. */
const UNHEARD_BEATS = 100;
/** Beats between two reports that the user's media is still lost. */
const MISSED_BEATS = missedMs / FRAME_MS;

export interface RoomEvents extends ListenerEvents {
  connected(is: boolean): void;
  /** The user has hung up. */
  left(): void;
  /** The user joined with its session's first token. */
  met(): void;
  /** Somebody joined with that token while the user was there, and so replaced it. */
  usurped(): void;
  /** The user's media is still lost (media/wire.ts). */
  missed(times: number, sid: string): void;
  data(data: Omit<DataReport, 'on'>): void;
  /** The user has pressed a key of the telephone. */
  key(key: string): void;
  /** The line of a user who came by telephone broke. */
  cut(): void;
  /** The agent is no longer in the room. The error says why, unless the room was simply closed. */
  over(error?: ServiceError): void;
  /** The call cannot continue because of an error on our side. */
  failed(error: unknown): void;
}

interface Parts {
  readonly rtc: Rtc;
  readonly room: Room;
  readonly voice: RoomVoice;
}

const failed = (cause: unknown): ServiceError =>
  cause instanceof ServiceError ? cause : new ServiceError('transport_failed', { cause });

/** Disconnects, and waits for that for a bounded time only. */
const disconnect = (room: Room): Promise<void> =>
  withTimeout(systemClock, roomLeaveMs, room.disconnect()).catch(() => undefined);

async function connect(rtc: Rtc, { url, token }: RoomArgs, signal: AbortSignal): Promise<Room> {
  const room = new rtc.Room();
  const dataStream = { maxPayloadByteLength: MOST_MESSAGE_BYTES };
  const connecting = room.connect(url, token, { autoSubscribe: false, dynacast: false, dataStream });
  try {
    await withTimeout(systemClock, roomJoinMs, connecting, signal);
    return room;
  } catch (error) {
    void connecting.then(() => disconnect(room)).catch(() => undefined);
    throw error;
  }
}

/** Resolves when the agent is in its room, with its track. Errors: `transport_failed`, the signal's reason. */
export async function joinRoom(args: RoomArgs, signal: AbortSignal): Promise<Parts> {
  try {
    const rtc = await loadRtc();
    const room = await connect(rtc, args, signal);
    const voice = await RoomVoice.publish(rtc, room, signal).catch(async (error: unknown) => {
      await disconnect(room);
      throw error;
    });
    return { rtc, room, voice };
  } catch (error) {
    signal.throwIfAborted();
    throw failed(error);
  }
}

/** Decided by kind: other participants could set the SIP service's attributes, too. */
const isTelephone = (rtc: Rtc, { kind }: RemoteParticipant): boolean => kind === rtc.ParticipantKind.SIP;

const IGNORED = (): void => undefined;

export class RoomParticipant {
  readonly speaker: Speaker;
  readonly outgoing: RoomSender;
  readonly #listener: RoomListener;
  readonly #client: RunningMachine<ConnectionEvent>;
  readonly #asked = new WeakSet<RemoteTrackPublication>();
  #user: RemoteParticipant | undefined;
  /** The last participant that was accepted as the user. */
  #last: RemoteParticipant | undefined;
  #usurper: RemoteParticipant | undefined;
  #usurped = false;
  /** The link number of the present or last user. */
  #link = 0;
  /** Whether the user's media was up at the last beat. */
  #up = false;
  #wasUp = false;
  /** Whether it has been up since the user that is here came. */
  #linkWasUp = false;
  #unheard = 0;
  /** Beats since the user's media was lost. */
  #missed = 0;
  #leaving: Promise<void> | undefined;

  constructor(
    private readonly args: RoomArgs,
    private readonly parts: Parts,
    private readonly events: RoomEvents,
    clock: Clock,
  ) {
    const { rtc, room, voice } = parts;
    const agent = room.localParticipant;
    if (!agent) throw new ServiceError('transport_failed');
    this.speaker = voice.speaker;
    this.outgoing = new RoomSender(
      agent,
      args.user.identity,
      () => voice.trackSid,
      () => this.#sound()?.sid,
    );
    this.#listener = new RoomListener(rtc, events);
    this.#client = run(connection, undefined, clock, this.#effects, (error) => events.failed(error));
    // A telephone sends no data.
    if (!args.phone) listenToData(rtc, room, (...received) => this.#received(...received));
    room.on(rtc.RoomEvent.DtmfReceived, (_code, key, from) => {
      if (from === this.#user && isTelephone(rtc, from)) this.#tell(() => events.key(key));
    });
    room.on(rtc.RoomEvent.Disconnected, (reason) => this.#lost(reason));
  }

  readonly #effects: Effects<ConnectionEffect> = {
    connected: () => this.#turn(true),
    disconnected: () => this.#turn(false),
    left: () => this.events.left(),
    // The server handles signalling and media.
    welcome: IGNORED,
    askToRejoin: IGNORED,
    closeLink: IGNORED,
    dismiss: IGNORED,
    ignore: IGNORED,
    release: IGNORED,
  };

  #turn(connected: boolean): void {
    this.outgoing.there(connected);
    this.events.connected(connected);
  }

  #received(...[from, topic, payload, isLong]: Parameters<Received>): void {
    const sender = from === this.args.user.identity && this.parts.room.remoteParticipants.get(from);
    if (!sender || topic.length > MOST_TOPIC || !this.#mayEnter(sender)) return;
    // A user who sends data is connected, whether it listens or not.
    this.#unheard = UNHEARD_BEATS;
    if (!this.#leaving) this.#connect();
    const tooLong = isLong || payload.length > MOST_MESSAGE_BYTES;
    this.#tell(() =>
      this.events.data({ topic, ...(tooLong ? { payload: new Uint8Array(), tooLong } : { payload }) }),
    );
  }

  #tell(event: () => void): void {
    if (!this.#leaving) event();
  }

  /** A deleted or closed room ends the call normally; any other reason means that the connection is lost for good. */
  #lost(reason: number): void {
    const { ROOM_DELETED, ROOM_CLOSED } = this.parts.rtc.DisconnectReason;
    const closed = reason === ROOM_DELETED || reason === ROOM_CLOSED;
    this.#tell(() => this.events.over(closed ? undefined : new ServiceError('transport_failed')));
  }

  /** Every 20 ms. */
  beat(): void {
    if (this.#leaving) return;
    const present = this.#present();
    this.#meet(present && this.#mayEnter(present) ? present : undefined);
    this.#connect();
    this.#miss();
    this.#listener.follow(this.#microphone());
    this.#listener.beat();
  }

  #present(): RemoteParticipant | undefined {
    const { room, rtc } = this.parts;
    const { remoteParticipants: others } = room;
    if (!this.args.phone) return others.get(this.args.user.identity);
    return [...others.values()].find((other) => isTelephone(rtc, other));
  }

  /**
   * Whether a participant is accepted as the user. A user that was met returns with a new token. The first token again, in place of a
   * user who was there, means somebody else; from then on the first token is refused.
   */
  #mayEnter(user: RemoteParticipant): boolean {
    if (user === this.#last) return true;
    if (user === this.#usurper) return false;
    const first = user.attributes['use'] === 'join';
    this.#usurped ||= first && this.#last !== undefined && this.#isPutOut(this.#last);
    if (first && this.#usurped) {
      this.#usurper = user;
      this.#tell(() => this.events.usurped());
      return false;
    }
    if (first) this.#tell(() => this.events.met());
    this.#last = user;
    return true;
  }

  /** Whether it was replaced: the library may give no reason if somebody joined with the same identity. */
  #isPutOut({ disconnectReason }: RemoteParticipant): boolean {
    const { UNKNOWN_REASON, DUPLICATE_IDENTITY } = this.parts.rtc.DisconnectReason;
    return [undefined, UNKNOWN_REASON, DUPLICATE_IDENTITY].includes(disconnectReason);
  }

  /** Notes the present user, if any. A user who comes back is a new participant to the library. */
  #meet(user: RemoteParticipant | undefined): void {
    if (user === this.#user) return;
    const { rtc } = this.parts;
    if (this.args.phone && this.#user) return this.#hungUp(this.#user);
    // A client that joins again may give an attempt up, and says that it leaves; it tries again, or its user is gone in time.
    const mayHangUp = this.#linkWasUp || !this.#wasUp;
    const hangsUp = mayHangUp && this.#user?.disconnectReason === rtc.DisconnectReason.CLIENT_INITIATED;
    const link = this.#link;
    if (hangsUp) this.#client.send({ type: 'leave', link });
    this.#look(false);
    this.#client.send({ type: 'gone', link });
    this.#user = user;
    this.#linkWasUp = false;
    this.#unheard = 0;
    if (user) this.#client.send({ type: 'join', link: (this.#link += 1), participant: user.sid ?? '' });
  }

  /** A telephone does not come back. One that was never answered does not count as leaving: the code that placed the call knows why. */
  #hungUp({ disconnectReason }: RemoteParticipant): void {
    const { MEDIA_FAILURE, SIP_TRUNK_FAILURE } = this.parts.rtc.DisconnectReason;
    const { rtc, room } = this.parts;
    const isFailure = disconnectReason === MEDIA_FAILURE || disconnectReason === SIP_TRUNK_FAILURE;
    // Who vanishes together with the server has not hung up.
    const isCut = isFailure || room.connectionState !== rtc.ConnectionState.CONN_CONNECTED;
    this.#look(false);
    this.#user = undefined;
    if (this.#wasUp) this.#tell(() => (isCut ? this.events.cut() : this.events.left()));
  }

  /** Presses keys on the user's telephone line; the SIP service sends them. */
  press(keys: string): Promise<void> {
    return pressKeys(keys, async (code, key) => {
      if (!this.#leaving) await this.parts.room.localParticipant?.publishDtmf(code, key);
    });
  }

  #connect(): void {
    const { room, rtc, voice } = this.parts;
    const up = room.connectionState === rtc.ConnectionState.CONN_CONNECTED;
    const active = up && this.#user?.info.state === ACTIVE && this.#isAnswered(this.#user);
    voice.beat(active);
    if (voice.lost) this.#tell(() => this.events.over(new ServiceError('transport_failed')));
    const listens = active && (voice.asked || (this.#unheard += 1) > UNHEARD_BEATS);
    if (listens || !active) this.#look(listens);
  }

  /** Reports that the user's media is still lost, since the library may have silently lost track of the room. Telephones never come back. */
  #miss(): void {
    this.#missed = this.#up || !this.#wasUp || this.args.phone ? 0 : this.#missed + 1;
    if (this.#missed === 0 || this.#missed % MISSED_BEATS > 0) return;
    const { room, rtc } = this.parts;
    const isSeen = this.#user !== undefined && room.connectionState === rtc.ConnectionState.CONN_CONNECTED;
    const sid = isSeen ? '' : (this.#last?.sid ?? '');
    this.#tell(() => this.events.missed(this.#missed / MISSED_BEATS, sid));
  }

  #isAnswered({ attributes }: RemoteParticipant): boolean {
    return !this.args.phone || attributes['sip.callStatus'] === 'active';
  }

  #look(up: boolean): void {
    if (up === this.#up) return;
    this.#up = up;
    this.#wasUp ||= up;
    this.#linkWasUp ||= up;
    this.#client.send({ type: up ? 'mediaUp' : 'mediaDown' });
  }

  /** The audio track that is the user. */
  #sound(): RemoteTrackPublication | undefined {
    const { KIND_AUDIO } = this.parts.rtc.TrackKind;
    const published = [...(this.#user?.trackPublications.values() ?? [])] as RemoteTrackPublication[];
    const sounds = published.filter(({ kind }) => kind === KIND_AUDIO);
    return userTrack(
      sounds.map((sound) => ({ sound, source: sound.source ?? SOURCES.unknown, sends: !sound.muted })),
    )?.sound;
  }

  /** The track of the user, to which it subscribes once. */
  #microphone() {
    const chosen = this.#sound();
    if (chosen && !this.#asked.has(chosen)) {
      this.#asked.add(chosen);
      chosen.setSubscribed(true);
    }
    return chosen?.track;
  }

  /** Leaves the room after writing the last packets, within a bounded time. Idempotent, never rejects. */
  leave(): Promise<void> {
    return (this.#leaving ??= this.#leave());
  }

  async #leave(): Promise<void> {
    this.#client.send({ type: 'close' });
    await withTimeout(systemClock, roomLastWordsMs, this.outgoing.written()).catch(() => undefined);
    this.#listener.follow(undefined);
    await disconnect(this.parts.room);
    await this.speaker.close();
  }
}
