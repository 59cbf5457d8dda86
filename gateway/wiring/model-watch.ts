/**
 * Takes up models that are added to MODELS_DIR and leaves those that are taken away, without a restart: looks at the folder, moves to
 * other children (role-children.ts), and tells the gateway processes (engine-news.ts). What cannot be used is told, and changes nothing.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../contracts/clock.js';
import { errorText } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import { CHECKOUT } from '../../contracts/places.js';
import { repeat } from '../../contracts/time/repeat.js';
import { type Config, modelChoice } from '../config.js';
import { addedMark } from '../config/model-folders.js';
import { publishEngines, withdrawEngines } from './engine-news.js';
import { checkModels } from './check-settings.js';
import { checkNames } from './check-names.js';
import { withLeaving } from './leaving-models.js';
import { ModelHolds } from './model-holds.js';
import type { RoleChildren } from './role-children.js';
import { areModelsUsed } from './speech-uses.js';

const LOOK_MS = 1000;
/** By then all gateways have moved, and tell whether they speak with what was taken away (speech-uses.ts). */
const QUIET_MS = 10_000;
/** A hold counts for a minute after it was touched. */
const TOUCH_MS = 10_000;

const COMMAND = fileURLToPath(new URL('ops/commands/run.mjs', CHECKOUT));

export interface ModelWatchParts {
  readonly config: Config;
  readonly children: RoleChildren;
  readonly runtimeFolder: string;
  /** Longest time that models which were taken away are held while somebody uses their children. */
  readonly drainMs: number;
  /** The configuration as it would be now. Errors: `ConfigError`. */
  readConfig(): Config;
  readonly clock: Clock;
  readonly log: Log;
}

const textOf = (config: Config): string => JSON.stringify(modelChoice(config));

export class ModelWatch {
  readonly #holds: ModelHolds;
  /** With the models that gateways use. */
  #config: Config;
  /** With those that children hold as well, since somebody may still speak or hear with them; and when it was last so. */
  #held: { readonly config: Config; readonly since: number; busyAt: number } | undefined;
  #seen: string | undefined;
  #stopLooking = (): void => undefined;
  #stopTouching = (): void => undefined;

  constructor(private readonly parts: ModelWatchParts) {
    this.#config = parts.config;
    this.#holds = new ModelHolds(parts.config.modelsDir);
  }

  /** Tells the gateways what there is, and looks from now on. Errors: those of the disk. */
  begin(): void {
    const { clock, log } = this.parts;
    this.#publish();
    const look = () => this.#look();
    this.#stopLooking = repeat(clock, LOOK_MS, look, (err) =>
      log.warn({ err }, 'MODELS_DIR was not looked at'),
    );
    this.#stopTouching = repeat(
      clock,
      TOUCH_MS,
      () => this.#hold(),
      () => undefined,
    );
  }

  async stop(): Promise<void> {
    this.#stopLooking();
    this.#stopTouching();
    await Promise.all([this.#holds.end(), withdrawEngines(this.parts.runtimeFolder)]);
  }

  async #look(): Promise<void> {
    const mark = await addedMark(this.#config.modelsDir);
    if (this.#seen === mark) return this.#letGo();
    const isNew = this.#seen !== undefined;
    this.#seen = mark;
    // What was there before the first look is in use, unless it came while this process was starting.
    if (isNew || this.#isOther()) await this.#change();
  }

  #isOther(): boolean {
    return textOf(this.parts.readConfig()) !== textOf(this.#config);
  }

  async #change(): Promise<void> {
    const { children, clock, log } = this.parts;
    try {
      const config = this.parts.readConfig();
      checkModels(config);
      checkNames(config);
      const held = withLeaving(config, this.#held?.config ?? this.#config);
      await children.change(held);
      this.#config = config;
      const isLeaving = textOf(held) !== textOf(config);
      const now = clock.monotonic();
      this.#held = isLeaving ? { config: held, since: now, busyAt: now } : undefined;
    } catch (error) {
      const problem = errorText(error);
      log.error({ problem }, 'models were added or removed, and cannot be used as they are');
      return this.#publish(problem);
    }
    this.#publish();
    await this.#hold();
    log.info(this.#names(), 'other models are in use');
    void this.#endLeft();
  }

  /** Moves to children without the models that were taken away, once nobody has used them for a while. */
  async #letGo(): Promise<void> {
    const { children, runtimeFolder, clock, drainMs } = this.parts;
    const held = this.#held;
    if (!held) return;
    const now = clock.monotonic();
    const isUsed = await areModelsUsed(runtimeFolder);
    if (isUsed || children.isBusyBut(this.#config)) held.busyAt = now;
    if (now - held.busyAt < QUIET_MS && now - held.since < drainMs) return;
    this.#held = undefined;
    await children.change(this.#config);
    this.#publish();
    void this.#endLeft();
  }

  #names() {
    const { models, turns, denoiser, pico } = this.#config;
    return { speak: models.tts, hear: models.stt, turns: turns?.folder, denoiser, pico };
  }

  #publish(problem?: string): void {
    const { children, runtimeFolder } = this.parts;
    const news = { choice: modelChoice(this.#config), sockets: children.sockets };
    publishEngines(runtimeFolder, { ...news, ...(problem !== undefined && { problem }) });
  }

  #hold(): Promise<void> {
    return this.#holds.hold(this.parts.children.places);
  }

  /** Files of models that were removed go once nobody reads them. */
  async #endLeft(): Promise<void> {
    await this.parts.children.endLeft();
    await this.#hold();
    const sweeping = spawn(process.execPath, [COMMAND, 'models', 'sweep'], { stdio: 'ignore' });
    sweeping.on('error', (err) => this.parts.log.warn({ err }, 'files of removed models were left'));
  }
}
