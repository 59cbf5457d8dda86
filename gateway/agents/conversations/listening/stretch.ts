/** A stretch of the user's voice, or of the background: what is known of it while it is spoken, and when it has ended. */
import type { LiveHearing } from '../../../../actors/live-hearing.js';
import type { Ahead } from './ahead.js';
import type { JoinedStretches, StretchPart } from './stretch-group.js';

export interface Stretch {
  /** Undefined in the background. */
  readonly span: number | undefined;
  readonly chunks: Uint8Array[];
  samples: number;
  interimAt: number;
  /** Whether somebody waits for its words while it is spoken. */
  readonly isAwaited: boolean;
  /** Its last partial transcript. */
  text: string;
  /** Hears it while it is spoken; undefined in the background, and if the recogniser cannot. */
  readonly live?: LiveHearing | undefined;
}

/** A stretch that has ended, its voiced part, and that together with the stretches before it. */
export interface Ended {
  readonly stretch: Stretch;
  readonly ahead: Ahead | undefined;
  readonly part: StretchPart | undefined;
  readonly group: JoinedStretches | undefined;
}
