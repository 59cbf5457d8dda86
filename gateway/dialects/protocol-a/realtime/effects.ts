/** Performs the effects of a session's machine (actors/realtime.ts): one table row per effect, shared by all sessions. */
import type { RealtimeEffect } from '../../../../actors/realtime.js';
import type { HostedEffects } from '../../../../actors/run.js';
import { Fault, toldFault } from './faults.js';
import { ItemChanges } from './item-changes.js';
import { ItemTranscriptions } from './item-transcriptions.js';
import type { Settings } from './settings.js';
import { RealtimeSpeech } from './speaking.js';
import type { SessionState } from './state.js';

/** The side of a session that effects change. */
interface ChangingSession extends SessionState {
  apply(settings: Settings): void;
  /** Looks the voice up; frames of the client wait until it was found or refused. */
  findVoice(settings: Settings, eventId: string | null): void;
}

/** The parts of a session that perform its machine's effects; created with its first event. */
export class Performers {
  readonly transcriptions: ItemTranscriptions;
  readonly items: ItemChanges;
  readonly speaking: RealtimeSpeech;

  constructor(readonly session: ChangingSession) {
    this.transcriptions = new ItemTranscriptions(session);
    this.items = new ItemChanges(session, this.transcriptions);
    this.speaking = new RealtimeSpeech(session);
  }
}

export const EFFECTS: HostedEffects<Performers, RealtimeEffect> = {
  apply: ({ session }, { settings }) => session.apply(settings),
  findVoice: ({ session }, { settings, eventId }) => session.findVoice(settings, eventId),
  refuseUpdate: ({ session }, { error, eventId }) => session.events.error(error, eventId),
  add: ({ items }, { entry, isCommit }) => items.add(entry, isCommit),
  clear: ({ items }) => items.clear(),
  remove: ({ items }, { item }) => items.remove(item),
  truncate: ({ items }, truncation) => items.truncate(truncation),
  begin: ({ speaking }, { order }) => speaking.begin(order),
  stop: ({ speaking }) => speaking.stop(),
  finish: ({ speaking }, { ending }) => speaking.finish(ending),
  refuse: ({ session }, { code, eventId }) => session.events.error(toldFault(new Fault(code)), eventId),
  transcribe: ({ transcriptions }, { item }) => transcriptions.begin(item),
  abandon: ({ transcriptions }, { item }) => transcriptions.abandon(item),
  transcribed: ({ transcriptions }, { item, transcript }) => transcriptions.completed(item, transcript),
  untranscribed: ({ transcriptions }, { item, error }) => transcriptions.failed(item, error),
};
