/** How much of what several workspaces share one of them may have: the one rule of docs/operate/fair-admission.md. */

/** Two thirds of all places for a workspace alone, two fifths each for two, and always a rest for one more. */
export const SHARE = 2 / 3;

/**
 * Whether a workspace that has `held` places may have one more of the `free` ones: it has at most `share` of those that it
 * has and those that are free, and always the first.
 */
export const mayTake = (held: number, free: number, share: number): boolean =>
  free > 0 && held < share * (held + free);
