/** What an incident promises (ops/monitoring/incidents.mjs), looked for in a recording. */
import type { Incident } from '../../fixtures/monitoring.js';
import { beganAfter, endedAfter, type Judged, type Sign, SIGNS, type Times } from './judge.js';
import { truthOf } from './promtool.js';
import type { HealthBody, Recorder, Second } from './recorder.js';

/** `…` in a line stands for anything. */
export const patternOf = (line: string): RegExp =>
  new RegExp(line.split('…').map((text) => RegExp.escape?.(text) ?? escaped(text)).join('.*'));
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
