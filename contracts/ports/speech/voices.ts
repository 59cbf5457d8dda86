/**
 * The voice library: the voices of the configured engines, which everybody can use and nobody can change, and
 * cloned ones, which belong to one workspace (docs/contract/decisions.md "Models and voices"; docs/contract/native.md
 * 5).
 */
import type { LanguageCode } from '../../speech/languages.js';
import type { ReferenceAudio } from './tts.js';

export const VISIBILITIES = ['public', 'unlist', 'private'] as const;
/** Stored and returned as the owner set it; only its own workspace sees a cloned voice, regardless of this. */
export type Visibility = (typeof VISIBILITIES)[number];

interface VoiceRow {
  /** 32 lowercase hex. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly visibility: Visibility;
  /** The languages it can speak with the engines configured now. */
  readonly languages: readonly LanguageCode[];
  readonly titleLanguage: LanguageCode;
  /** Other ids of it, such as `alloy`. */
  readonly aliases: readonly string[];
  readonly author: { readonly id: string; readonly name: string };
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface OwnVoice extends VoiceRow {
  readonly kind: 'engine';
  /** The engine that speaks it, and the engine's name for it. */
  readonly engine: string;
  readonly engineVoice: string;
}

export interface ClonedVoice extends VoiceRow {
  readonly kind: 'cloned';
  readonly workspaceId: string;
}

export type Voice = OwnVoice | ClonedVoice;

/** A voice in a request to an engine: its own, or reference audio to clone. */
export type SpeakingVoice =
  | Pick<OwnVoice, 'kind' | 'languages' | 'engine' | 'engineVoice'>
  | { readonly kind: 'cloned'; readonly references: readonly ReferenceAudio[] };

/** Voices for the speech pipeline, from memory if possible. */
export interface VoiceLibrary {
  /**
   * The voice of an id or alias, if the workspace may use it; undefined if there is none.
   * Never falls back. Errors: `overloaded` if the database does not answer.
   */
  findVoice(id: string, workspaceId: string): Promise<SpeakingVoice | undefined>;
}

export interface NewVoice {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly visibility: Visibility;
  readonly references: readonly ReferenceAudio[];
}

export type VoiceChanges = Partial<Pick<NewVoice, 'title' | 'description' | 'tags' | 'visibility'>>;

/** Voices for their owners, always as in the database. */
export interface VoiceCatalogue {
  /** Whether any configured engine clones. */
  readonly clones: boolean;
  /** Voices of the configured engines, which every workspace has. */
  readonly own: readonly Voice[];
  /** In the library's order: engines as configured, then cloned ones, newest first. */
  list(workspaceId: string): Promise<readonly Voice[]>;
  read(id: string, workspaceId: string): Promise<Voice | undefined>;
  /** Errors: `cloning_unavailable`, `invalid_request` if the workspace has as many as it may. */
  create(voice: NewVoice, workspaceId: string): Promise<Voice>;
  /** False if the workspace has no such voice. Errors: `voice_read_only`. */
  change(id: string, workspaceId: string, changes: VoiceChanges): Promise<boolean>;
  remove(id: string, workspaceId: string): Promise<boolean>;
}

/** A cloned voice as stored. */
export type StoredVoice = Omit<NewVoice, 'references'> &
  Pick<VoiceRow, 'id' | 'author' | 'createdAt' | 'updatedAt'> & { readonly workspaceId: string };

/** The store of cloned voices; every method is limited to the workspace. */
export interface ClonedVoices {
  list(workspaceId: string): Promise<readonly StoredVoice[]>;
  read(id: string, workspaceId: string): Promise<StoredVoice | undefined>;
  /** Its reference audio, from a cache that is kept up to date with other processes. Errors: `overloaded`. */
  references(id: string, workspaceId: string): Promise<readonly ReferenceAudio[] | undefined>;
  /** Undefined if the workspace has as many as it may. */
  create(voice: NewVoice, workspaceId: string): Promise<StoredVoice | undefined>;
  change(id: string, workspaceId: string, changes: VoiceChanges): Promise<boolean>;
  remove(id: string, workspaceId: string): Promise<boolean>;
}
