/** Which endpoint answers a request: patterns, methods, the prefixes of dialects. */
import t from '../../../fixtures/tap.js';
import { parametersOf, Router } from '../../../../gateway/server/router.js';
import { dialect, get, json, post } from '../../../fixtures/edge/edge.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

const ok = async (): Promise<ReturnType<typeof json>> => json(200, {});
const fallback = dialect('fallback', [], []);

function find(router: Router, method: string, path: string): { pattern: string; params: object } | undefined {
  const match = router.find(method, path);
  return (
    match.endpoint && { pattern: match.endpoint.pattern, params: parametersOf(match.endpoint, match.values) }
  );
}

void t.test('routes', async (t) => {
  const router = new Router(
    [
      dialect(
        'a',
        ['/a'],
        [
          get('/a/{id}', ok),
          get('/a/fixed', ok),
          post('/a/fixed', ok),
          get('/a/{id}/tail', ok),
          get('/a/both/{x}', ok),
          post('/v/{voice?}/stream', ok),
          post('/v/{voice?}', ok),
          get('/slash/', ok),
        ],
      ),
      dialect('ab', ['/a/b', '/compat'], []),
    ],
    fallback,
  );

  const found: readonly [string, string, string | undefined, object?][] = [
    ['GET', '/a/fixed', '/a/fixed', {}],
    ['GET', '/a/x', '/a/{id}', { id: 'x' }],
    ['GET', '/a/x%2Fy', '/a/{id}', { id: 'x/y' }],
    ['GET', '/a/fixed/tail', '/a/{id}/tail', { id: 'fixed' }],
    ['GET', '/a/both/tail', '/a/both/{x}', { x: 'tail' }],
    ['GET', '/a/', undefined],
    ['GET', '/a', undefined],
    ['GET', '/a/x/', undefined],
    ['GET', '//a/x', undefined],
    ['POST', '/v//stream', '/v/{voice?}/stream', { voice: '' }],
    ['POST', '/v/1/stream', '/v/{voice?}/stream', { voice: '1' }],
    ['POST', '/v/stream', '/v/{voice?}', { voice: 'stream' }],
    ['POST', '/v/', '/v/{voice?}', { voice: '' }],
    ['POST', '/v', '/v/{voice?}', { voice: '' }],
    ['POST', '/v//', undefined],
    ['GET', '/slash/', '/slash/', {}],
    ['GET', '/slash', undefined],
    ['GET', `/${'/'.repeat(60_000)}`, undefined],
  ];
  for (const [method, path, pattern, params] of found) {
    const name = `${method} ${path.slice(0, 40)}`;
    t.strictSame(find(router, method, path), pattern && { pattern, params }, name);
  }

  t.test('a slash or a /v1 too many: no route, but the one that was meant, and its dialect', async (t) => {
    const versioned = new Router([dialect('a', ['/v1/a'], [get('/v1/a/{id}', ok)])], fallback);
    for (const path of ['/v1//a/x', '//v1/a/x', '/v1/v1/a/x', '/v1/v1//a///x', '/v1/v1/v1/a/x']) {
      const {
        endpoint,
        dialect: asked,
        meant,
      } = versioned.find('GET', path) as {
        endpoint?: object;
        dialect?: { name: string };
        meant?: string;
      };
      t.strictSame([endpoint, asked?.name, meant], [undefined, 'a', '/v1/a/{id}'], path);
    }
    for (const path of ['/v1/v1x/a/x', '/v1/v1/b', '//', `/${'/'.repeat(60_000)}`])
      t.notOk('meant' in versioned.find('GET', path), path.slice(0, 40));
  });
  t.test('a path that only another method answers says which', async (t) => {
    const match = router.find('DELETE', '/a/fixed');
    t.strictSame(match.endpoint ? [] : [...match.allowed].sort(), ['GET', 'POST']);
  });
  t.test('the longest prefix owns what matches nothing', async (t) => {
    t.equal(router.dialectOf('/a/zzz').name, 'a');
    t.equal(router.dialectOf('/a/b/c').name, 'ab');
    t.equal(router.dialectOf('/a/bc').name, 'a');
    t.equal(router.dialectOf('/elsewhere').name, 'fallback');
  });
  t.test('bad percent-encoding is the client’s error', async (t) => {
    throwsExactly(t, () => find(router, 'GET', '/a/%zz'), { code: 'invalid_request', param: 'id' });
  });
  t.test('two routes for the same request are refused at start', async (t) => {
    const twice = dialect('x', [], [get('/a/{x}', ok), get('/a/{y}', ok)]);
    t.throws(() => new Router([twice], fallback), /GET \/a\/\{y\}/);
  });
});
