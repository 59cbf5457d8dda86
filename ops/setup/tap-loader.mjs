/**
 * The module that test files import as tap (transpile.mjs copies this file to where Node finds it). Loads the bundle with code that
 * V8 has compiled before, since compiling is a third of tap's start, which each of some hundreds of processes would repeat. With
 * another version of Node, or other flags of V8, the code is rejected and the bundle compiled as usual.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const file = fileURLToPath(new URL('../@tapjs/tap.cjs', import.meta.url));
const compiled = `${file}.compiled`;

const script = new vm.Script(
  // Strict mode, which the modules of the bundle have by themselves.
  `(function (exports, require, module, __filename, __dirname) {'use strict';${fs.readFileSync(file, 'utf8')}\n})`,
  {
    filename: file,
    cachedData: fs.existsSync(compiled) ? fs.readFileSync(compiled) : undefined,
    importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  },
);
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file));

/** Stores the compiled code of all functions that have run so far, for later processes. */
export const keepCompiled = () => fs.writeFileSync(compiled, script.createCachedData());

/** The test that is the process. */
export const whole = module.exports.default;
let current = whole;
/** From now on the tests of a file belong to this one (test-batch.mjs). */
export const runAs = (test) => (current = test);

/** What files know as tap: the test that is theirs. */
export default new Proxy(whole, {
  get(_whole, key) {
    const value = current[key];
    return typeof value === 'function' ? value.bind(current) : value;
  },
  set(_whole, key, value) {
    current[key] = value;
    return true;
  },
});
