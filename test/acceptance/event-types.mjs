/** Whether values fit a type of a package, as the TypeScript compiler sees it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('node_modules', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/typescript/lib/tsc.js', import.meta.url));
const FILE = 'misfits.mts';

const FLAGS = {
  strict: 'true',
  noEmit: 'true',
  skipLibCheck: 'true',
  target: 'es2023',
  module: 'nodenext',
  lib: 'es2023,dom,dom.iterable',
  types: '',
  pretty: 'false',
};
const ARGUMENTS = Object.entries(FLAGS).flatMap(([name, value]) => [`--${name}`, value]);

/** What the compiler says of a source that finds the packages of this folder. */
function compiled(source) {
  const cwd = mkdtempSync(join(tmpdir(), 'types-'));
  try {
    symlinkSync(PACKAGES, join(cwd, 'node_modules'));
    writeFileSync(join(cwd, FILE), source);
    const { status, stdout, stderr } = spawnSync(process.execPath, [TSC, ...ARGUMENTS, FILE], {
      cwd,
      encoding: 'utf8',
    });
    return status === 0 ? '' : stdout + stderr;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** A complaint, and the lines that explain it. */
const COMPLAINT = /^\S.*(?:\n\s.*)*/gm;
const LINE = /^misfits\.mts\((\d+),/;

/**
 * The compiler's complaints about the values; none where all fit. Members that the type does not
 * know are no fault: servers may say more.
 */
export function misfits(values, { type, from }) {
  const source = [
    `import type { ${type} } from '${from}';`,
    `declare function fits<T extends ${type}>(value: T): void;`,
    ...values.map((value) => `fits(${JSON.stringify(value)});`),
  ].join('\n');
  return [...compiled(source).matchAll(COMPLAINT)].map(([said]) => {
    // Two lines come before the values, and lines are counted from 1.
    const value = values[Number(LINE.exec(said)?.[1]) - 3];
    return `${value?.type ?? ''}: ${said}`.slice(0, 500);
  });
}
