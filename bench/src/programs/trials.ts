/** Callers who try one thing each: every trial is a call of its own, a few of them at once. */
import { setTimeout as pause } from 'node:timers/promises';
import { Caller, type Said } from '../calls/caller.js';
import { answerTo, interrupts, isTalkedOver, speaksThrough, untilQuiet } from '../calls/exchanges.js';
import { Microphones } from '../calls/microphones.js';
import { FRAME_MS, waitFor } from '../calls/timing.js';
import { encodeUtterance, type Utterance } from '../calls/utterance.js';
import { DIRECT, inRoom, losing, Speakerphone, type Way } from '../calls/way.js';
import { WorstTurns } from '../calls/worst-turns.js';
import { failureOf } from '../clients/client.js';
import type { Outcome } from '../generator/protocol.js';
import { type Invite, makeSession } from '../servers/agents.js';
import type { Server } from '../servers/server.js';
import { NOTHING, type Program, timed } from './program.js';

/** What a caller says: 16-bit mono at the callers' rate. */
export interface Clip {
  readonly pcm: Uint8Array;
  /** All of it is the caller's voice, however loud the room is: else what can be heard of it. */
  readonly isWhole?: boolean;
}

export type Turn =
  /** Says it, and waits for the answer; if what was understood is read afterwards (the default), until the record has all of it. */
  | { readonly say: Clip; readonly isRead?: boolean }
  /** Waits until the agent has begun to speak and let the caller listen. */
  | { readonly listen: true }
  /** Sounds while the agent speaks, which is not to end its answer. */
  | { readonly through: Clip }
  /** Is to end its answer, and gets another one. */
  | { readonly interrupt: Clip }
  /** Waits until nothing was heard of the agent for so many ms. */
  | { readonly quiet: number };

export interface Trial {
  /** The agent's id. */
  readonly agent: string;
  readonly turns: readonly Turn[];
  /** By how many dB the agent's voice comes back quieter, by a speakerphone; else it does not. */
  readonly echoDb?: number;
  /** Share of the caller's packets that is lost. */
  readonly loss?: number;
  /** What the room sounds like whenever the caller says nothing, over and over, as `Clip.pcm`. */
  readonly room?: Uint8Array;
  readonly seed: number;
}

/** What was heard in a turn. Times are ms, NaN where there was no answer. */
export interface TurnHeard {
  /** From the last sound of the caller's voice to the first of the agent's. */
  readonly answer?: number;
  readonly isTalkedOver?: boolean;
  readonly kept?: boolean;
  readonly bargeIn?: number;
}

export interface TrialHeard {
  readonly session?: string;
  /** One for each turn of the trial, up to the one that could not be had. */
  readonly turns: readonly TurnHeard[];
  /** Why the call did not come about. */
  readonly failure?: string;
}

export interface TrialsTask {
  readonly server: Pick<Server, 'origin' | 'key' | 'name' | 'openai' | 'isNative' | 'pcmRate'>;
  readonly trials: readonly Trial[];
  readonly atOnce: number;
  /** Folder for recordings of the worst calls, and their file names; undefined keeps none. */
  readonly recordings?: { readonly folder: string; readonly name: string } | undefined;
}

/** After the call has come about, as a person who has to find words; in a room that sounds the agent hears that first. */
const BREATH_MS = 300;
const ROOM_MS = 1500;
/** The agent is let speak for so long before it is disturbed. */
const LISTEN_MS = 1200;
/** An agent that answers itself may never end. */
const LONGEST_MS = 25_000;
const BEGINS_MS = 10_000;
/** What the agent has still to hear and to answer, if it spoke too early. */
const OWED_MS = 2500;
const QUIET_MS = 1000;
/** A transcript may come behind the answer. */
const TRANSCRIPT_MS = 1000;

/** Encoded before the first call, since that would hold up the microphones of others. */
class Encoded {
  readonly #utterances = new Map<Uint8Array, Utterance>();

  constructor(trials: readonly Trial[]) {
    for (const { turns, room } of trials) {
      if (room) this.of({ pcm: room });
      for (const turn of turns)
        for (const clip of Object.values(turn)) if (typeof clip === 'object') this.of(clip);
    }
  }

  of({ pcm, isWhole = false }: Clip): Utterance {
    let utterance = this.#utterances.get(pcm);
    if (utterance === undefined) this.#utterances.set(pcm, (utterance = encodeUtterance(Buffer.from(pcm))));
    return isWhole ? { ...utterance, from: 0, to: utterance.packets.length * FRAME_MS } : utterance;
  }
}

function wayOf({ echoDb, loss, room, seed }: Trial, encoded: Encoded): Way {
  if (echoDb !== undefined) return new Speakerphone(echoDb);
  if (loss !== undefined) return losing(loss, seed);
  return room ? inRoom(encoded.of({ pcm: room }).packets) : DIRECT;
}

/** One call. */
class Call {
  readonly said: Said[] = [];

  constructor(
    readonly caller: Caller,
    private readonly encoded: Encoded,
  ) {}

  take(turn: Turn): Promise<TurnHeard> {
    if ('say' in turn) return this.#say(turn.say, turn.isRead);
    if ('listen' in turn) return this.#listen();
    if ('quiet' in turn) return untilQuiet(this.caller, turn.quiet, LONGEST_MS).then(() => ({}));
    return 'through' in turn ? this.#through(turn.through) : this.#interrupt(turn.interrupt);
  }

  async #speak(clip: Clip): Promise<Said> {
    const said = await this.caller.say(this.encoded.of(clip));
    this.said.push(said);
    return said;
  }

  async #say(clip: Clip, isRead = true): Promise<TurnHeard> {
    const said = await this.#speak(clip);
    const first = await answerTo(this.caller, said);
    const talkedOver = isTalkedOver(this.caller, said);
    if (isRead) await waitFor(() => this.caller.hasTranscript, TRANSCRIPT_MS);
    if (isRead && talkedOver) await pause(OWED_MS).then(() => untilQuiet(this.caller, QUIET_MS, LONGEST_MS));
    return { answer: (first ?? Number.NaN) - said.to, isTalkedOver: talkedOver };
  }

  async #listen(): Promise<TurnHeard> {
    const { heard } = this.caller;
    const since = performance.now() - LISTEN_MS;
    const first = await waitFor(() => heard.firstFrom(since), BEGINS_MS);
    if (first !== undefined) await pause(LISTEN_MS);
    return {};
  }

  async #through(clip: Clip): Promise<TurnHeard> {
    return { kept: await speaksThrough(this.caller, () => this.#speak(clip)) };
  }

  async #interrupt(clip: Clip): Promise<TurnHeard> {
    const { bargeIn, answer = Number.NaN } = await interrupts(this.caller, await this.#speak(clip));
    return { bargeIn, answer };
  }
}

/** A turn after which the others mean nothing: an agent that is silent can be neither disturbed nor interrupted. */
const isLast = ({ answer, kept }: TurnHeard): boolean => Number.isNaN(answer) || kept === false;

const took = ({ turns }: TrialHeard): number => {
  const longest = Math.max(0, ...turns.map(({ answer = 0 }) => answer));
  return Number.isNaN(longest) || turns.some(({ isTalkedOver: is }) => is) ? Infinity : longest;
};

export class Trials implements Program {
  readonly #callers = new Set<Caller>();
  readonly #microphones = new Microphones(this.#callers);

  async run(params: unknown): Promise<Outcome> {
    const { trials, atOnce, server, recordings } = params as TrialsTask;
    const worst = recordings && new WorstTurns();
    const told: TrialHeard[] = [];
    const encoded = new Encoded(trials);
    const waiting = [...trials.entries()];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        told[next[0]] = await this.#try(server as Server, next[1], (invite, trial) =>
          this.#converse(invite, trial, encoded, worst),
        );
    };
    this.#microphones.open();
    this.#microphones.takeLateness();
    const { seconds, cpu } = await timed(() => Promise.all(Array.from({ length: atOnce }, worker)));
    const lateness = this.#microphones.takeLateness();
    if (recordings) worst?.write(recordings.folder, recordings.name);
    const due = new Float64Array(trials.length);
    return { ...NOTHING, due, lateness, failures: failuresOf(told), seconds, cpu, told };
  }

  async #try(
    server: Server,
    trial: Trial,
    converse: (invite: Invite, trial: Trial) => Promise<TurnHeard[]>,
  ): Promise<TrialHeard> {
    let session: string | undefined;
    try {
      const invite = await makeSession(server, trial.agent);
      session = invite.session_id;
      return { session, turns: await converse(invite, trial) };
    } catch (error) {
      return { ...(session !== undefined && { session }), turns: [], failure: failureOf(error) };
    }
  }

  async #converse(
    invite: Invite,
    trial: Trial,
    encoded: Encoded,
    worst: WorstTurns | undefined,
  ): Promise<TurnHeard[]> {
    const caller = await Caller.join(invite, wayOf(trial, encoded));
    this.#callers.add(caller);
    const turns: TurnHeard[] = [];
    const call = new Call(caller, encoded);
    try {
      await pause(trial.room ? ROOM_MS : BREATH_MS);
      for (const turn of trial.turns) {
        const heard = await call.take(turn);
        turns.push(heard);
        if (isLast(heard)) break;
      }
      worst?.offer(took({ turns }), call.said, caller.heard.frames);
    } finally {
      this.#callers.delete(caller);
      caller.leave();
    }
    return turns;
  }
}

function failuresOf(told: readonly TrialHeard[]): Record<string, number> {
  const failures: Record<string, number> = {};
  for (const { failure } of told) if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1;
  return failures;
}
