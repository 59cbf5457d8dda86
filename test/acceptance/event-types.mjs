/** Whether values fit a type of a package, as the TypeScript compiler sees it. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

// The gateway's own compiler: a client may bring one that has no interface for programs.
const ts = createRequire(new URL('../../package.json', import.meta.url))('typescript');

const OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
};

/**
 * The compiler's complaints about the values; none where all fit. Members that the type does not
 * know are no fault: servers may say more.
 */
export function misfits(values, { type, from }) {
  const path = fileURLToPath(new URL('./misfits.mts', import.meta.url));
  const source = [
    `import type { ${type} } from '${from}';`,
    `declare function fits<T extends ${type}>(value: T): void;`,
    ...values.map((value) => `fits(${JSON.stringify(value)});`),
  ].join('\n');
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(name, source, OPTIONS.target) : getSourceFile(name, ...rest);
  const program = ts.createProgram([path], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText, file, start }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
    const what = values[line - 2]?.type ?? file?.fileName ?? '';
    return `${what}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`.slice(0, 500);
  });
}
