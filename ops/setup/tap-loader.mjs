/**
 * What test files import as tap: the bundle beside it, with the code that V8 compiled of it before (transpile.mjs copies this file to
 * where Node finds it). Compiling is a third of tap's start, which each of some hundreds of processes would pay again. Another
 * version of Node, or other flags of V8, refuse that code and compile the bundle as ever.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const file = fileURLToPath(new URL('../@tapjs/tap.cjs', import.meta.url));
const compiled = `${file}.compiled`;

const script = new vm.Script(
  // Strict, as the modules of the bundle are by themselves.
  `(function (exports, require, module, __filename, __dirname) {'use strict';${fs.readFileSync(file, 'utf8')}\n})`,
  {
    filename: file,
    cachedData: fs.existsSync(compiled) ? fs.readFileSync(compiled) : undefined,
    importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  },
);
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file));

/** Keeps the code of all functions that have run so far, for the processes to come. */
export const keepCompiled = () => fs.writeFileSync(compiled, script.createCachedData());

export default module.exports.default;
export const { test } = module.exports;
