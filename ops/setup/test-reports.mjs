/** What a run of tests says of its files: a line each, and the details of what failed. */
import { inspect } from 'node:util';
import { inSources, sourcePlace } from './source-places.mjs';

/** The diagnostics that are shown of a failing assertion, in this order. */
const SHOWN = [
  'diff',
  'error',
  'message',
  'expired',
  'found',
  'wanted',
  'code',
  'signal',
  'exitCode',
  'stack',
];

const indent = (text) => text.trimEnd().replace(/^/gm, '      ');
const shown = (value) => (typeof value === 'string' ? inSources(value) : inspect(value, { depth: 5 }));

function where({ fileName, lineNumber, columnNumber = 1 }) {
  const { file, line } = sourcePlace({ file: fileName, line: lineNumber, column: columnNumber });
  return ` (${file}:${line})`;
}

/** One failing assertion in words: its full name, where it stands, and what was different. */
function describeFailure({ fullname, name, diag }) {
  const at = diag?.at?.fileName ? where(diag.at) : '';
  const keys = diag?.diff ? ['diff', 'stack'] : SHOWN;
  const details = keys
    .filter((key) => diag?.[key] !== undefined && diag[key] !== null)
    .map((key) => indent(key === 'diff' ? diag[key] : `${key}: ${shown(diag[key])}`));
  return [`    not ok ${fullname || name}${at}`, ...details].join('\n');
}

const describeSkip = ({ name, skip }) => `    skipped ${name}${skip === true ? '' : `: ${skip}`}`;

/** A file, from what its process said of it (test-process.mjs) and its counts (counts.mjs). */
export function describeFile({ name, fails, skips, ms }, { passed, failed, skipped, fault }) {
  const numbers = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`];
  return [
    `${failed ? 'FAILED' : 'ok'} ${name}: ${numbers.filter(Boolean).join(', ')} (${(ms / 1000).toFixed(1)} s)`,
    ...(fault ? [`    ${fault}`] : []),
    ...fails.map(describeFailure),
    ...skips.map(describeSkip),
  ].join('\n');
}
