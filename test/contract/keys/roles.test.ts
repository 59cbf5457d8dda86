/**
 * Keys do what their role allows and nothing else: every route of the gateway names a permission, and every role is tried
 * on every route over the wire, on both HTTP stacks.
 */
import { once } from 'node:events';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { randomIds } from '../../../contracts/ids.js';
import {
  allows,
  holds,
  type Permission,
  PERMISSIONS,
  type Role,
  ROLES,
  rolesOf,
} from '../../../contracts/permissions.js';
import type { Route, SocketRoute } from '../../../gateway/server/port.js';
import { ensureDefaultWorkspace } from '../../../storage/workspaces.js';
import { createKey } from '../../../storage/keys/keys.js';
import { exactly } from '../../fixtures/exactly.js';
import type { GatewayAddress } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import { type Platform, sharedPlatform, startPlatform } from '../../fixtures/platform/platform.js';
import { type DeclaredRoute, declaredRoutes } from '../../../gateway/declared-routes.js';
import { until } from '../../fixtures/until.js';

/** A workspace's new key. */
async function keyOf(of: Platform, role: Role, expiresAt: Date | null = null): Promise<string> {
  const { database, workspaceId } = of;
  return (await createKey(database.sql, randomIds, { workspaceId, name: role, role, expiresAt })).key;
}

/** A gateway, and a key of each role of a workspace. */
interface Keyed {
  readonly gateway: GatewayAddress;
  readonly keys: Readonly<Record<Role, string>>;
  /** Whether the workspace is the default one. */
  readonly isOperators: boolean;
  readonly platform: Platform;
}

async function keyed(platform: Platform): Promise<Keyed> {
  const keys = await Promise.all(ROLES.map(async (role) => [role, await keyOf(platform, role)] as const));
  const { database, gateway, workspaceId } = platform;
  const isOperators = (await ensureDefaultWorkspace(database.sql, randomIds)) === workspaceId;
  return { gateway, isOperators, platform, keys: Object.fromEntries(keys) as Record<Role, string> };
}

/** From here `/metrics` needs no key; the other system routes and the cluster's webhook never need one. */
const tried = declaredRoutes().filter(
  ({ dialect, permission }) => dialect !== 'system' && permission !== 'open',
);

t.test('a route without a permission does not compile', (t) => {
  const forgotten = { method: 'GET', path: '/forgotten', handler: async () => ({ status: 200 }) } as const;
  // @ts-expect-error It names no permission.
  const route: Route = forgotten;
  // @ts-expect-error It names no permission.
  const socket: SocketRoute = { path: '/forgotten', upgrade: async () => ({ refuse: { status: 404 } }) };
  t.notOk([route, socket].some((row) => 'permission' in row));
  t.end();
});

t.test('the permissions of each role', (t) => {
  const held = (role: Role) => tried.filter(({ permission }) => allows(role, permission));
  t.equal(held('full').length, tried.length);
  const billable = /audio|speech|tts|asr|realtime|chat|sessions$|preview|test$/;
  for (const { method, path } of held('read'))
    t.ok(method === 'GET' || !billable.test(path), `a reader does not change anything by ${method} ${path}`);
  t.ok(held('read').every(({ method, path }) => method === 'GET' || path.endsWith('/search')));
  // Reads that give something away: who has the address may hold a conversation.
  const own = tried.filter(
    ({ method, path, permission }) =>
      method === 'GET' && permission !== 'machine' && !path.includes('/convai/'),
  );
  t.ok(own.every(({ permission }) => allows('read', permission)));
  t.strictSame(
    held('machine')
      .map(({ path }) => path)
      .sort(),
    ['/nodes', '/v1/machine/history', '/v1/machine/models'],
  );
  t.notOk(held('speech').some(({ path }) => path.startsWith('/v1/agent')));
  t.ok(
    held('sessions').every(({ path }) =>
      /convai|^\/v1\/realtime\/calls|^\/v1\/agent\/(calls|phone-calls|sessions|chats|deliveries|redeliveries|stats|tests)/.test(
        path,
      ),
    ),
  );
  t.end();
});

const REFUSED = { message: /role "\w+" may not .* role .*full/ };

/** The body of a 403 in each protocol. */
const SHAPES: Readonly<Record<string, object>> = {
  'protocol-a': { error: { code: 403, type: 'invalid_request_error', metadata: undefined, ...REFUSED } },
  'protocol-b': {
    detail: {
      type: 'authorization_error',
      code: 'missing_permissions',
      status: 'missing_permissions',
      request_id: /./,
      ...REFUSED,
    },
  },
};
const NATIVE_SHAPE = { status: 403, ...REFUSED };

const addressOf = ({ path }: DeclaredRoute): string => path.replaceAll(/\{\w+\??\}/g, 'x1');

async function request(gateway: GatewayAddress, route: DeclaredRoute, key: string) {
  const response = await fetch(gateway.base + addressOf(route), {
    method: route.method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(route.method === 'GET' || route.method === 'DELETE' ? {} : { body: '{}' }),
  });
  return { status: response.status, body: await response.text() };
}

/** The status of a refused upgrade, or the first frame; empty if the socket closes without one. */
async function connect(gateway: GatewayAddress, route: DeclaredRoute, key: string): Promise<number | string> {
  const socket = new WebSocket(gateway.base.replace('http', 'ws') + addressOf(route), {
    headers: { authorization: `Bearer ${key}` },
  });
  try {
    return await new Promise<number | string>((resolve, reject) => {
      socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
      socket.on('message', (data: Buffer) => resolve(data.toString()));
      // Ends sockets that wait for text; the others answer an unreadable frame.
      socket.on('open', () => socket.send(route.path.includes('input') ? '{"text":""}' : '{'));
      socket.on('close', () => resolve(''));
      socket.on('error', reject);
    });
  } finally {
    socket.on('error', () => undefined).terminate();
  }
}

const IN_BAND = /missing_permissions|auth_error/;

/** The bodies of refusals, each once, by the dialect: those of one role differ in nothing but the id of the request. */
class Refusals {
  readonly #bodies = new Map<string, Set<string>>();

  add(dialect: string, body: string): void {
    const bodies = this.#bodies.get(dialect) ?? new Set();
    this.#bodies.set(dialect, bodies.add(body.replace(/(?<="request_id":")[^"]+/, 'x')));
  }

  check(t: Test): void {
    for (const [dialect, bodies] of this.#bodies)
      for (const body of bodies) exactly(t, JSON.parse(body), SHAPES[dialect] ?? NATIVE_SHAPE, dialect);
  }
}

async function isSocketRight(
  { gateway, keys, isOperators }: Keyed,
  route: DeclaredRoute,
  role: Role,
): Promise<boolean> {
  const answer = await connect(gateway, route, keys[role]);
  if (holds({ role, isOperators }, route.permission))
    return typeof answer === 'string' && !IN_BAND.test(answer);
  return route.dialect === 'protocol-b' ? IN_BAND.test(String(answer)) : answer === 403;
}

async function isAnswerRight(
  { gateway, keys, isOperators }: Keyed,
  route: DeclaredRoute,
  role: Role,
  refusals: Refusals,
) {
  const { status, body } = await request(gateway, route, keys[role]);
  if (holds({ role, isOperators }, route.permission)) return status < 500 && status !== 401 && status !== 403;
  if (status === 403) refusals.add(route.dialect, body);
  return status === 403;
}

/** `full` may do everything, which all other tests show: in the short form it is tried where no other role may. */
const rolesTried = ({ permission }: DeclaredRoute): readonly Role[] =>
  shortOrLong(rolesOf(permission).length > 1, false) ? ROLES.filter((role) => role !== 'full') : ROLES;

/** Tries the roles on a route. Returns those that it lets through or refuses against its permission. */
async function wronged(at: Keyed, route: DeclaredRoute, refusals: Refusals): Promise<string[]> {
  const tries = rolesTried(route).map(async (role) => {
    const isRight =
      route.method === 'SOCKET'
        ? await isSocketRight(at, route, role)
        : await isAnswerRight(at, route, role, refusals);
    return isRight ? [] : [`${role}: ${route.method} ${route.path}`];
  });
  return (await Promise.all(tries)).flat();
}

/** The first of those that are refused in the same way. */
const kinds = new Map(
  tried
    .toReversed()
    .map((route) => [`${route.dialect} ${route.permission} ${route.method === 'SOCKET'}`, route]),
);
/** The second stack passes on requests and answers, and knows nothing of roles: in the short form one route of each kind. */
const STACKS = { default: tried, node: shortOrLong([...kinds.values()], tried) };

/** Tries all roles on all of these routes. */
async function rolesHold(t: Test, at: Keyed, routes: readonly DeclaredRoute[]): Promise<void> {
  const refusals = new Refusals();
  const wrong: string[] = [];
  for (const route of routes) wrong.push(...(await wronged(at, route, refusals)));
  t.strictSame(wrong, [], 'each route lets through whom it should, and refuses all others');
  refusals.check(t);
}

/** What does not depend on the stack beyond that. */
const CASES: Readonly<Record<string, (t: Test, at: Keyed) => Promise<void>>> = {
  '/v1/key shows a key of any role its permissions, and refuses anything else': async (
    t,
    { gateway, isOperators, keys, platform },
  ) => {
    const { workspaceId } = platform;
    const ask = (key: string) =>
      fetch(`${gateway.base}/v1/key`, { headers: { authorization: `Bearer ${key}` } });
    for (const role of ROLES) {
      const answer = await ask(keys[role]);
      t.equal(answer.headers.get('cache-control'), 'no-store');
      const permissions = Object.keys(PERMISSIONS).filter((name) =>
        holds({ role, isOperators }, name as Permission),
      );
      const said = { key_id: /^key_/, workspace_id: workspaceId, role, permissions };
      exactly(t, await answer.json(), said, role);
    }
    t.equal((await ask('sk_unknown')).status, 401);
    t.equal((await ask(await keyOf(platform, 'full', new Date(Date.now() - 1000)))).status, 401);
    t.equal((await fetch(`${gateway.base}/v1/key`)).status, 401);
  },

  'figures of all workspaces are for the operator: full keys of the default workspace, and role machine':
    async (t, { gateway, isOperators, keys, platform }) => {
      const { sql } = platform.database;
      const status = async (path: string, key: string) => {
        const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '203.0.113.9' };
        return (await fetch(gateway.base + path, { headers })).status;
      };
      const operator = await ensureDefaultWorkspace(sql, randomIds);
      const made = { workspaceId: operator, name: 'operator', expiresAt: null };
      const { key } = await createKey(sql, randomIds, { ...made, role: 'full' });
      const { key: reader } = await createKey(sql, randomIds, { ...made, role: 'read' });
      for (const path of ['/nodes', '/v1/machine/history', '/v1/machine/models']) {
        t.equal(await status(path, key), 200, path);
        t.equal(await status(path, keys.machine), 200, path);
        t.equal(await status(path, reader), 403, path);
        t.equal(await status(path, keys.full), isOperators ? 200 : 403, path);
      }
    },

  'lists that need no key take a key of any role': async (t, { gateway, keys }) => {
    for (const path of ['/v1/audio/voices', '/v1/audio/models', '/v1/models'])
      for (const role of ROLES) {
        const answer = await fetch(gateway.base + path, {
          headers: { authorization: `Bearer ${keys[role]}` },
        });
        t.equal(answer.status, 200, `${role} ${path}`);
      }
  },

  'an expired key is refused, and says so': async (t, { gateway, platform }) => {
    const key = await keyOf(platform, 'full', new Date(Date.now() - 1000));
    const denied = await fetch(`${gateway.base}/v1/agent/agents`, {
      headers: { authorization: `Bearer ${key}` },
    });
    t.equal(denied.status, 401);
    t.same(await denied.json(), { status: 401, message: 'Token expired' });
    const b = await fetch(`${gateway.base}/compat/elevenlabs/v1/voices`, {
      headers: { 'xi-api-key': key },
    });
    t.equal(b.status, 401);
    exactly(t, await b.json(), { detail: { status: 'invalid_api_key', message: 'Token expired' } });
  },

  'secrets that a key has issued permit no more than the key, and end with it': async (
    t,
    { gateway, platform },
  ) => {
    const { database, workspaceId } = platform;
    const { sql } = database;
    const { id, key } = await createKey(sql, randomIds, { workspaceId, name: 'issuer', role: 'speech' });
    const authorization = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const issue = async (path: string) =>
      (await (
        await fetch(gateway.base + path, { method: 'POST', headers: authorization, body: '{}' })
      ).json()) as Record<string, string>;
    const secret = (await issue('/compat/v1/realtime/client_secrets'))['value'] ?? '';
    const [first, second] = await Promise.all(
      [1, 2].map(() => issue('/compat/elevenlabs/v1/single-use-token/tts_websocket')),
    );
    const base = gateway.base.replace('http', 'ws');
    const realtime = async (): Promise<number> => {
      const socket = new WebSocket(`${base}/compat/v1/realtime`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      const refused = new Promise<number>((resolve) =>
        socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode)),
      );
      const status = await Promise.race([refused, once(socket, 'open').then(() => 101)]);
      const closed = status === 101 && once(socket, 'close');
      socket.on('error', () => undefined).close();
      await closed;
      return status;
    };
    const spoken = async (token = ''): Promise<string> => {
      const address = `${base}/compat/elevenlabs/v1/text-to-speech/default/stream-input?single_use_token=${token}`;
      const socket = new WebSocket(address);
      socket.on('open', () => socket.send('{"text":""}'));
      const [data] = (await Promise.race([once(socket, 'message'), once(socket, 'close')])) as [unknown];
      socket.terminate();
      return String(data);
    };
    t.equal(await realtime(), 101);
    await sql`update api_keys set role = 'read' where id = ${id}`;
    // A secret is released a moment after its socket has closed; until then it is refused as in use.
    const freed = () => realtime().then((status) => (status === 401 ? undefined : status));
    t.equal(await until('the secret is free again', freed), 403);
    t.match(await spoken(first?.['token']), /missing_permissions/);
    await sql`update api_keys set role = 'speech', expires_at = now() - interval '1 second' where id = ${id}`;
    t.equal(await realtime(), 401);
    t.match(await spoken(second?.['token']), /invalid_api_key/);
  },

  'the interface description documents the refusal of roles': async (t, { gateway }) => {
    const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    const told = ({ method, path }: DeclaredRoute): boolean =>
      /role .*full/.test(
        paths[path.replaceAll('?}', '}')]?.[method.toLowerCase()]?.responses['403']?.description ?? '',
      );
    const untold = tried.filter((route) => route.method !== 'SOCKET' && !told(route));
    t.strictSame(untold, []);
  },
};

for (const [stack, routes] of Object.entries(STACKS)) {
  t.test(`roles on the wire (${stack})`, async (t) => {
    const at = await keyed(
      await (stack === 'node' ? startPlatform(t, { HTTP_STACK: stack }) : sharedPlatform(t)),
    );
    await rolesHold(t, at, routes);
    if (stack === 'node' && routes.length < tried.length) return;
    for (const [name, run] of Object.entries(CASES)) t.test(name, (t) => run(t, at));
  });
}
