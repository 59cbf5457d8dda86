/** How much audio smart-turn uses, in a module of its own: gateways ask for it, and need none of the tables for features. */

/** The last seconds of what was said; more is not used. */
export const SECONDS = 8;
