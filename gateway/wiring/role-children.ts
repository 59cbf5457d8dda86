/**
 * The children of all roles of a machine, as the models that are there want them. A role whose models have changed gets other
 * children, and those before end once they have nothing left to do.
 *
 * Invariants: others take over only when all of them are ready, else everything stays as it was; none is ended while it has work, for
 * as long as a drain may take.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { BUILT } from '../../contracts/places.js';
import { withTimeout } from '../../contracts/time/timeouts.js';
import { type Supervision, superviseRole } from '../../processes/supervisor/supervise.js';
import type { Config } from '../config.js';
import { engineRoles } from './engines.js';
import { environmentOf, type RoleName, type RoleRow, ROLES, type RoleSockets } from './roles.js';

/** Longest wait for children with other models: one loads its first model before it counts as ready. */
const READY_MS = 60_000;
/** By then every gateway process of the machine has moved to the others. */
const MOVED_MS = 5000;
const LOOK_MS = 250;

export interface RoleChildrenParts {
  readonly socketFolder: string;
  /** Longest time that children with work are waited for. */
  readonly drainMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface Running {
  readonly role: RoleName;
  /** Environment and models: what it runs with. */
  readonly key: string;
  /** Numbers of its children: from `from`, `count` of them. */
  readonly from: number;
  readonly count: number;
  readonly places: readonly string[];
  readonly children: Supervision;
}

/** The roles that a configuration wants. Errors: `ConfigError`. */
export function rolesOf(config: Config): ReadonlySet<RoleName> {
  const carrier = config.livekit ? 'room' : 'media';
  const roles = new Set<RoleName>(['encode', carrier, ...engineRoles(config)]);
  if (config.turns) roles.add('turns');
  if (config.denoiser !== undefined) roles.add('denoise');
  return roles;
}

const worker = (name: string): URL => new URL(`gateway/workers/${name}.js`, BUILT);

/** Tells a model from another one that was put into its place; being removed does not change it. */
function markOf(place: string): string {
  const folders = [place, dirname(place)];
  const files = folders.flatMap((folder) =>
    ['.model.json', '.removed.json'].map((name) => join(folder, name)),
  );
  const manifest = files.find((file) => existsSync(file));
  return manifest === undefined ? '' : String(statSync(manifest).mtimeMs);
}

function keyOf(role: RoleName, config: Config): string {
  const row: RoleRow = ROLES[role];
  const places = row.models?.(config) ?? [];
  return JSON.stringify([environmentOf(row, config), places.map((place) => [place, markOf(place)])]);
}

export class RoleChildren {
  readonly #running = new Map<RoleName, Running>();
  readonly #left = new Set<Running>();
  /** All that were started and have not been ended, also those that are not ready. */
  readonly #all = new Set<Running>();
  /** Roles of which a killed supervisor left nothing any more. */
  readonly #swept = new Set<RoleName>();
  #stopped = false;

  constructor(private readonly parts: RoleChildrenParts) {}

  get sockets(): RoleSockets {
    return Object.fromEntries([...this.#running].map(([role, { children }]) => [role, children.sockets]));
  }

  /** Folders and files of models that children may still read. */
  get places(): readonly string[] {
    return [...new Set([...this.#all].flatMap(({ places }) => places))];
  }

  /** Starts what the configuration wants, without waiting until it is ready. Errors: `ConfigError`, those of `superviseRole`. */
  async start(config: Config): Promise<void> {
    const begun = await Promise.all([...rolesOf(config)].map((role) => this.#begin(role, config)));
    for (const each of begun) this.#running.set(each.role, each);
  }

  /**
   * Moves to the children that the configuration wants; those that are left run on until `endLeft`. Errors: `ConfigError`, and one
   * that names the role whose children did not become ready.
   */
  async change(config: Config): Promise<void> {
    const wanted = rolesOf(config);
    const other = [...wanted].filter((role) => this.#running.get(role)?.key !== keyOf(role, config));
    const begun = await Promise.all(other.map((role) => this.#begin(role, config)));
    try {
      await Promise.all(begun.map((each) => this.#ready(each)));
    } catch (error) {
      await Promise.all(begun.map((each) => this.#end(each)));
      throw error;
    }
    for (const [role, each] of this.#running)
      if (other.includes(role) || !wanted.has(role)) {
        this.#running.delete(role);
        this.#left.add(each);
      }
    for (const each of begun) this.#running.set(each.role, each);
  }

  /** Whether children that `change` would leave have work. Errors: `ConfigError`. */
  isBusyBut(config: Config): boolean {
    const wanted = rolesOf(config);
    const stays = (role: RoleName, key: string) => wanted.has(role) && keyOf(role, config) === key;
    return [...this.#running.values()].some(
      ({ role, key, children }) => !stays(role, key) && children.busy(),
    );
  }

  /** Ends those that were left, each once it has nothing to do. Never rejects. */
  async endLeft(): Promise<void> {
    const left = [...this.#left];
    this.#left.clear();
    await Promise.all(left.map((each) => this.#endIdle(each)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#all].map((each) => this.#end(each)));
  }

  async #begin(role: RoleName, config: Config): Promise<Running> {
    const { socketFolder, log } = this.parts;
    const row: RoleRow = ROLES[role];
    const count = row.count(config);
    const from = this.#freeFrom(role, count);
    const isFirst = !this.#swept.has(role);
    this.#swept.add(role);
    const children = await superviseRole({
      ...{ role, count, socketFolder, log },
      entry: worker(row.worker),
      nice: row.nice,
      env: environmentOf(row, config),
      ...(isFirst ? {} : { from }),
    });
    const places = row.models?.(config) ?? [];
    const begun = { role, key: keyOf(role, config), from, count, places, children };
    this.#all.add(begun);
    if (this.#stopped) await this.#end(begun);
    return begun;
  }

  /** The least number from which no child of the role has one. */
  #freeFrom(role: RoleName, count: number): number {
    const taken = new Set([...this.#all].filter((each) => each.role === role).map(({ from }) => from));
    let from = 0;
    while (taken.has(from)) from += count;
    return from;
  }

  #ready({ role, children }: Running): Promise<void> {
    const late = new Error(`the children of ${role} were not ready within ${READY_MS / 1000} s`);
    return withTimeout(this.parts.clock, READY_MS, children.ready(), undefined, () => late);
  }

  async #endIdle(each: Running): Promise<void> {
    const { drainMs, clock, log } = this.parts;
    const from = clock.monotonic();
    await this.#pause(MOVED_MS);
    while (each.children.busy() && clock.monotonic() - from < drainMs) await this.#pause(LOOK_MS);
    await this.#end(each);
    log.info(
      { role: each.role, ms: Math.round(clock.monotonic() - from) },
      'workers with models of before have ended',
    );
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.parts.clock.after(ms, resolve));
  }

  async #end(each: Running): Promise<void> {
    await each.children.stop();
    this.#all.delete(each);
  }
}
