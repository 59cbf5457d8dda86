/** One cheap question to parts of the gateway, and what may come of it (start-checks.ts asks them). */
import type { Part, PartAnswer } from '../../contracts/ports/parts.js';

/** What works, and is probably a mistake all the same. `sentence`: follows the name of the part. */
export interface ConfigAdvice {
  readonly sentence: string;
  readonly setting: string;
}

/** A question that is asked for several parts at once. */
export interface PartCheck {
  readonly parts: readonly Part[];
  /** Asked also while it works: the gateway itself asks it nothing else. */
  readonly isRegular?: true;
  /** Resolves with what is odd about a part that works. Errors: whatever says that it does not. */
  ask(signal: AbortSignal): Promise<ConfigAdvice | undefined>;
}

/** A failure that is known in full. */
export class PartFailure extends Error {
  constructor(readonly told: PartAnswer) {
    super(told.did ?? told.outcome);
  }
}

/** A failure, and what is to be done about it. */
export class CheckFailure extends Error {
  constructor(reason: string, cause: unknown) {
    super(reason, { cause });
  }
}
