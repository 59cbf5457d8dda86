/** Which lines of the log are about a fault. */
import type { Body } from '../../fixtures/platform/agents.js';
import { type Fault, faultOf } from './faults.js';
import type { Row } from './rows.js';

/** Whether a line is about what fails. */
export const names = (line: Body, { part, named }: Fault): boolean =>
  line['part'] === part || (named?.test(JSON.stringify(line)) ?? false);

/** The line that a row wants; undefined if it is not there. */
export const wantedLine = (lines: readonly Body[], { fault, logged }: Row): Body | undefined =>
  lines.find((line) => names(line, faultOf(fault)) && logged.test(JSON.stringify(line)));
