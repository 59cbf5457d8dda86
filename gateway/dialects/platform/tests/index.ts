/** The routes of tests of agents: scenarios, suites of them, runs. */
import type { Route } from '../../../server/port.js';
import { keyedRoutes } from '../../../server/routes.js';
import type { TestParts } from './parts.js';
import { RUN_ROWS } from './run-rows.js';
import { SCENARIO_ROWS } from './scenarios.js';
import { SUITE_ROWS } from './suites.js';

export const testRoutes = (parts: TestParts): readonly Route[] =>
  keyedRoutes([...SCENARIO_ROWS, ...SUITE_ROWS, ...RUN_ROWS], parts);
