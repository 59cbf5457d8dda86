/** The models that can be added to the machine that answers: what there is, what is in place, what is being added. */

export const MODEL_STATES = ['absent', 'added', 'in_use', 'leaving'] as const;
/** `added`: in place, and not in use (yet); `leaving`: removed, and in use for a moment yet. */
export type ModelState = (typeof MODEL_STATES)[number];

export interface ShelfModel {
  readonly name: string;
  /** `pico` and `tts` speak, `stt` transcribes, `turns` hears ends of turns, `denoise` removes noise. */
  readonly task: string;
  readonly title: string;
  /** `any`: it detects the language, or needs none. */
  readonly languages: readonly string[] | 'any';
  readonly licence: string;
  /** What it was made of, where that is known. */
  readonly lineage: string | null;
  /** Address of a page about it. */
  readonly about: string | null;
  readonly downloadBytes: number;
  readonly diskBytes: number;
  readonly state: ModelState;
  /** Seconds of a core for a second of speech on this machine, about; null: never measured. */
  readonly cpu: number | null;
  /** Whether that is quick enough for calls. */
  readonly isQuick: boolean | null;
  /** Settings that are set and choose which models are used. */
  readonly decidedBy: readonly string[];
}

/** What is being added, or the last that failed. */
export interface Adding {
  readonly name: string;
  readonly began: Date;
  /** That have come, of `total`, about. */
  readonly bytes: number;
  readonly total: number;
  /** Why it failed; null: it goes on. */
  readonly problem: string | null;
}

export interface Shelf {
  readonly models: readonly ShelfModel[];
  /** The natural voice that is offered to whoever has none; null where one is in use. */
  readonly offered: string | null;
  readonly adding: Adding | null;
  /** Why nothing can be added or removed here, and what to do; null: it can. */
  readonly fixed: string | null;
  /** Why the last change of models has no effect. */
  readonly problem: string | null;
}

export interface ModelShelf {
  /** Errors: one that says why the catalogue cannot be read. */
  read(): Promise<Shelf>;
  /** Begins to add it. Errors: `not_found`; `conflict`, where another one is being added, or nothing can be. */
  add(name: string): Promise<Adding>;
  /** Errors: `conflict` where it is not being added. */
  cancel(name: string): Promise<void>;
  /**
   * Errors: `not_found`, `conflict`: it is not in place, settings name it, or, unless `isSure`, agents speak with it, whose names the
   * message has.
   */
  remove(name: string, isSure: boolean): Promise<void>;
}
