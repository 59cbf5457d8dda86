/**
 * TypeScript to JavaScript file by file, without looking at types: what a start needs, in a fifth of the time and
 * without the packages that hold types. `npm test` and `npm run check` build with tsc, which writes the same.
 *
 * `node transpile.mjs CONFIG FILE…`: a process of its own, because the compiler would stay in the gateway's memory.
 */
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** `file`'s place below `outDir`, as JavaScript. */
const outputOf = (file, { rootDir, outDir }) =>
  path.join(outDir, path.relative(rootDir, file)).replace(/\.ts$/, '.js');

/** The options of a tsconfig. tsc sees in package.json that sources are modules; here it is said. */
function optionsOf(configFile) {
  const { compilerOptions } = JSON.parse(fs.readFileSync(configFile, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, path.dirname(configFile));
  return { ...options, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
}

function transpileFile(file, options) {
  const { outputText, sourceMapText, diagnostics } = ts.transpileModule(fs.readFileSync(file, 'utf8'), {
    fileName: file,
    compilerOptions: options,
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0) {
    const said = diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    console.error(`${file}: ${said.join('\n')}`);
    process.exit(1);
  }
  const output = outputOf(file, options);
  const name = path.basename(output);
  const source = path.relative(path.dirname(output), file).split(path.sep).join('/');
  const map = JSON.stringify({ ...JSON.parse(sourceMapText), file: name, sources: [source] });
  fs.mkdirSync(path.dirname(output), { recursive: true });
  fs.writeFileSync(output, outputText);
  fs.writeFileSync(`${output}.map`, map);
}

const [, , configFile, ...files] = process.argv;
const options = optionsOf(configFile);
for (const file of files) transpileFile(file, options);
