/**
 * The voice library: the voices of the configured engines, which everybody hears and nobody changes, and
 * cloned ones, which belong to one workspace (docs/contract/decisions.md "Models and voices"; docs/contract/native.md
 * 5).
 */
import type { LanguageCode } from '../languages.js';
import type { ReferenceAudio } from './tts.js';

export const VISIBILITIES = ['public', 'unlist', 'private'] as const;
/** Kept and returned as the owner says it; a cloned voice is seen by its own workspace only, whatever it says. */
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
  /** Other ids that reach it, `alloy` among them. */
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

/** A voice as an engine is asked for it: its own, or reference audio to clone. */
export type SpeakingVoice =
  | Pick<OwnVoice, 'kind' | 'languages' | 'engine' | 'engineVoice'>
  | { readonly kind: 'cloned'; readonly references: readonly ReferenceAudio[] };

/** Voices as the speech pipeline asks for them: from memory where it can. */
export interface VoiceLibrary {
  /**
   * The voice behind an id or alias, as far as the workspace may use it; undefined where there is none.
   * Never falls back. Errors: `overloaded` where the database does not answer.
   */
  find(id: string, workspaceId: string): Promise<SpeakingVoice | undefined>;
}

export interface NewVoice {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly visibility: Visibility;
  readonly references: readonly ReferenceAudio[];
}

export type VoiceChanges = Partial<Pick<NewVoice, 'title' | 'description' | 'tags' | 'visibility'>>;

/** Voices as their owners see them: always what the database holds. */
export interface VoiceCatalogue {
  /** Whether any configured engine clones. */
  readonly clones: boolean;
  /** Voices of the configured engines, which every workspace has. */
  readonly own: readonly Voice[];
  /** In the library's order: engines as configured, then cloned ones, newest first. */
  list(workspaceId: string): Promise<readonly Voice[]>;
  read(id: string, workspaceId: string): Promise<Voice | undefined>;
  /** Errors: `cloning_unavailable`, `invalid_request` where the workspace has as many as it may. */
  create(voice: NewVoice, workspaceId: string): Promise<Voice>;
  /** False where the workspace has no such voice. Errors: `voice_read_only`. */
  change(id: string, workspaceId: string, changes: VoiceChanges): Promise<boolean>;
  remove(id: string, workspaceId: string): Promise<boolean>;
}

/** A cloned voice as it is stored. */
export type StoredVoice = Omit<NewVoice, 'references'> &
  Pick<VoiceRow, 'id' | 'author' | 'createdAt' | 'updatedAt'> & { readonly workspaceId: string };

/** The store of cloned voices; every method sees rows of the workspace only. */
export interface ClonedVoices {
  list(workspaceId: string): Promise<readonly StoredVoice[]>;
  read(id: string, workspaceId: string): Promise<StoredVoice | undefined>;
  /** Its reference audio, from a cache that other processes' changes reach. Errors: `overloaded`. */
  references(id: string, workspaceId: string): Promise<readonly ReferenceAudio[] | undefined>;
  /** Undefined where the workspace has as many as it may. */
  create(voice: NewVoice, workspaceId: string): Promise<StoredVoice | undefined>;
  change(id: string, workspaceId: string, changes: VoiceChanges): Promise<boolean>;
  remove(id: string, workspaceId: string): Promise<boolean>;
}
