/** The scenarios, in the order in which they run. */
import type { Scenario } from './scenario.js';
import speech from './speech.js';

export const SCENARIOS: readonly Scenario[] = [speech];
