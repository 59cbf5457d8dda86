/** Which adapter serves, and what is said of a binding that does not load. */
import t from '../../fixtures/tap.js';
import { loadBinding } from '../../../gateway/server/adapters/bindings.js';
import { stacks, startEdge } from '../../fixtures/edge/edge.js';
import { folderOf } from '../../fixtures/folders.js';

void t.test('auto takes the binding if it loads, else node, and one line says which', async (t) => {
  const native = stacks(() => undefined).includes('uws');
  for (const stack of ['auto', 'uws'] as const) {
    const server = await startEdge(stack, []);
    t.teardown(() => server.close());
    t.equal(server.stack, native ? 'uws' : 'node');
    const said = server.opening;
    t.equal(said.length, 1);
    t.match(
      said[0]?.message,
      native
        ? /: uWebSockets\.js \d+\.\d+\.\d+(, adapted to the older glibc of this machine)?$/
        : /: node; no uWebSockets\.js .*loads here/,
    );
    t.equal(said[0]?.level, stack === 'uws' && !native ? 'warn' : 'info');
    t.notOk(said[0]?.details.err, 'without a stack trace');
    t.notMatch(said[0]?.message, /\n/);
  }
});

/** The second number of glibc 2.x; undefined on another C library. */
function glibc(): number | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const minor = /^2\.(\d+)/.exec(header.glibcVersionRuntime ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}

void t.test('a glibc of 2.36 or 2.37 loads a copy of the binding, wherever there is room for it', (t) => {
  const { TMPDIR } = process.env;
  t.teardown(() => (TMPDIR === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = TMPDIR)));
  process.env['TMPDIR'] = folderOf(t);
  const minor = glibc();
  const isOld = minor !== undefined && minor < 38;
  // Elsewhere node serves.
  if (minor !== undefined && minor >= 36) {
    t.equal(loadBinding().isAdapted, isOld);
    t.equal(loadBinding({ cacheFolder: '/dev/null/cache' }).isAdapted, isOld, 'the folder takes no files');
  } else t.same(stacks(t.comment).includes('uws'), process.platform === 'darwin');
  t.end();
});

void t.test('why a binding does not load is a line', (t) => {
  t.throws(
    () => loadBinding({ name: 'no-such-package' }),
    /no uWebSockets\.js for Node v\d+.* loads here \(no-such-package is not installed\)$/,
  );
  t.throws(() => loadBinding({ name: 'typescript' }), /\d has no uws_\w+\.node\)$/);
  t.end();
});
