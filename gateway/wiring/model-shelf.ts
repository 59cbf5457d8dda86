/**
 * The models that can be added to this machine, for the console (contracts/ports/model-shelf.ts). What is added, removed and checked is the
 * command's (model-command.ts); how far it is stands in a file beside the models, so that every gateway process of the machine, and
 * somebody's terminal, tell of the same.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type { Adding, ModelShelf, ModelState, Shelf, ShelfModel } from '../../contracts/ports/model-shelf.js';
import type { VoiceCatalogue } from '../../contracts/ports/speech/voices.js';
import { commandLine, isAlive } from '../../processes/process-table.js';
import type { Users } from '../../storage/agents/voices-in-use.js';
import type { Config, ModelChoice } from '../config.js';
import { catalogueFolder } from '../config/model-folders.js';
import { readEngines } from './engine-news.js';
import { complaintIn, runModels, type RunCommand } from './model-command.js';
import { NATURAL_VOICE } from './natural-voice.js';

/** An entry as `models list --json` tells it. */
interface Listed {
  readonly name: string;
  readonly task: string;
  readonly title?: string;
  readonly languages: readonly string[] | 'any';
  readonly licence: string;
  readonly lineage?: string;
  readonly about?: string;
  readonly bytes: number;
  readonly sources: readonly { readonly items: readonly { readonly bytes: number }[] }[];
  readonly here?: { readonly cpu: number; readonly isQuick: boolean };
}

/** The file of what is being added (ops/models/adding.mjs). */
interface Told {
  readonly name: string;
  readonly pid: number;
  readonly began: string;
  readonly bytes: number;
  readonly total: number;
  readonly problem?: string;
}

/** Settings that choose which models are used, where they are set. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  pico: ['TTS_ENGINES'],
  tts: ['SHERPA_TTS', 'TTS_ENGINES'],
  stt: ['SHERPA_STT', 'STT_ENGINES'],
  turns: [],
  denoise: [],
};

export interface ShelfParts {
  readonly config: Config;
  readonly runtimeFolder: string;
  readonly voices: Pick<VoiceCatalogue, 'own'>;
  /** The models that this process uses now. */
  choice(): ModelChoice;
  agentsWithVoices(voiceIds: readonly string[]): Promise<Users>;
  readonly clock: Clock;
  readonly log: Log;
}

const conflict = (message: string): ServiceError => new ServiceError('conflict', { message });

/** The nearest folder that exists. */
const existing = (folder: string): string => (existsSync(folder) ? folder : existing(dirname(folder)));

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

const isWithin = (place: string | undefined, folder: string): boolean =>
  place === folder || place?.startsWith(`${folder}/`) === true;

/** Folders and files of all models in use. */
const placesOf = ({ models, turns, denoiser, pico }: ModelChoice): readonly (string | undefined)[] => [
  ...models.tts,
  ...models.stt,
  ...[turns?.folder, denoiser, pico],
];

class InstalledShelf implements ModelShelf {
  #entries: Promise<readonly Listed[]> | undefined;
  #adding: RunCommand | undefined;

  constructor(private readonly parts: ShelfParts) {}

  async read(): Promise<Shelf> {
    const news = await readEngines(this.parts.runtimeFolder);
    const choice = this.parts.choice();
    const models = (await this.#catalogue()).map((entry) => this.#shown(entry, choice));
    const hasNatural = choice.models.tts.length > 0;
    const isThere = models.some(({ name }) => name === NATURAL_VOICE);
    return {
      models,
      offered: isThere && !hasNatural ? NATURAL_VOICE : null,
      adding: (await this.#told()) ?? null,
      fixed: this.#fixed(),
      problem: news?.problem ?? null,
    };
  }

  async add(name: string): Promise<Adding> {
    const entry = await this.#entryOf(name);
    this.#checkChangeable();
    const before = await this.#told();
    if (before?.problem === null) throw conflict(`${before.name} is being added; one at a time`);
    if (this.#stateOf(entry, this.parts.choice()) !== 'absent') throw conflict(`${name} is in place already`);
    const began = new Date(this.parts.clock.now());
    const total = downloadOf(entry);
    const pid = this.#begin(name);
    // Told before the command itself does, so that whoever looks at once sees it.
    await this.#write({ name, pid, began: began.toISOString(), bytes: 0, total });
    return { name, began, bytes: 0, total, problem: null };
  }

  async cancel(name: string): Promise<void> {
    const told = await this.#raw();
    if (told?.name !== name || told.problem !== undefined || !isAdding(told))
      throw conflict(`${name} is not being added`);
    process.kill(told.pid, 'SIGTERM');
  }

  async remove(name: string, isSure: boolean): Promise<void> {
    const entry = await this.#entryOf(name);
    this.#checkChangeable();
    if (!existsSync(join(this.#folderOf(name), '.model.json'))) throw conflict(`${name} is not in place`);
    this.#checkUnnamed(name);
    if (!isSure) await this.#checkUnused(entry);
    const { code, complaint } = await runModels(this.parts.config.modelsDir, ['remove', name]).ended;
    if (code !== 0) throw conflict(complaintIn(complaint));
  }

  stop(): void {
    this.#adding?.child.kill('SIGTERM');
  }

  /** The number of its process. */
  #begin(name: string): number {
    const { config, clock, log } = this.parts;
    const command = runModels(config.modelsDir, ['add', name]);
    this.#adding = command;
    const stopTimer = clock.after(LIMITS.models.addMs, () => command.child.kill('SIGTERM'));
    void command.ended.then(async ({ code, complaint }) => {
      stopTimer();
      if (this.#adding === command) this.#adding = undefined;
      if (code === 0) return log.info({ model: name }, 'a model was added');
      const problem = complaintIn(complaint) || 'it was cancelled';
      log.warn({ model: name, problem }, 'a model was not added');
      await this.#note(name, code, problem);
    });
    return command.child.pid ?? 0;
  }

  /** What the command itself could not write down. A cancelled one leaves nothing. */
  async #note(name: string, code: number, problem: string): Promise<void> {
    const isCancelled = code > 128;
    if (isCancelled) return rm(this.#file, { force: true });
    if ((await this.#raw())?.problem !== undefined) return;
    const began = new Date(this.parts.clock.now()).toISOString();
    await this.#write({ name, pid: 0, began, bytes: 0, total: 0, problem });
  }

  async #write(told: Told): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true })
      .then(() => writeFile(this.#file, JSON.stringify(told)))
      .catch(() => undefined);
  }

  get #file(): string {
    return join(catalogueFolder(this.parts.config.modelsDir), '.adding.json');
  }

  #folderOf(name: string): string {
    return join(catalogueFolder(this.parts.config.modelsDir), name);
  }

  async #raw(): Promise<Told | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => undefined);
    return text === undefined || text === '' ? undefined : (JSON.parse(text) as Told);
  }

  async #told(): Promise<Adding | undefined> {
    const told = await this.#raw();
    if (!told) return undefined;
    const { name, began, bytes, total } = told;
    const problem = told.problem ?? (isAdding(told) ? null : 'it was interrupted');
    return { name, began: new Date(began), bytes: Math.min(bytes, total), total, problem };
  }

  /** Read once: what there is does not change, nor how quick the machine is. */
  #catalogue(): Promise<readonly Listed[]> {
    this.#entries ??= this.#list();
    this.#entries.catch(() => (this.#entries = undefined));
    return this.#entries;
  }

  async #list(): Promise<readonly Listed[]> {
    const { code, output, complaint } = await runModels(this.parts.config.modelsDir, ['list', '--json'])
      .ended;
    if (code !== 0) throw new ServiceError('conflict', { message: complaintIn(complaint) });
    return JSON.parse(output) as readonly Listed[];
  }

  async #entryOf(name: string): Promise<Listed> {
    const entry = (await this.#catalogue()).find((each) => each.name === name);
    if (entry) return entry;
    throw new ServiceError('not_found');
  }

  #stateOf({ name }: Listed, choice: ModelChoice): ModelState {
    const folder = this.#folderOf(name);
    const isUsed = placesOf(choice).some((place) => isWithin(place, folder));
    if (!existsSync(join(folder, '.model.json'))) return isUsed ? 'leaving' : 'absent';
    return isUsed ? 'in_use' : 'added';
  }

  #shown(entry: Listed, choice: ModelChoice): ShelfModel {
    const { name, task, title = name, languages, licence, lineage = null, about = null, bytes, here } = entry;
    return {
      ...{ name, task, title, languages, licence, lineage, about },
      downloadBytes: downloadOf(entry),
      diskBytes: bytes,
      state: this.#stateOf(entry, choice),
      cpu: here?.cpu ?? null,
      isQuick: here?.isQuick ?? null,
      decidedBy: (CHOICES[task] ?? []).filter((variable) => process.env[variable]),
    };
  }

  #fixed(): string | null {
    const { modelsDir } = this.parts.config;
    if (isWritable(existing(catalogueFolder(modelsDir)))) return null;
    return (
      `MODELS_DIR (${modelsDir}) cannot be written: give the gateway a volume there, ` +
      'or add the model as the image is built'
    );
  }

  #checkChangeable(): void {
    const fixed = this.#fixed();
    if (fixed !== null) throw conflict(fixed);
  }

  /** Settings that name a model keep it. */
  #checkUnnamed(name: string): void {
    const { sherpaTts, sherpaStt, modelRoutes } = this.parts.config;
    const named = {
      SHERPA_TTS: sherpaTts,
      SHERPA_STT: sherpaStt,
      MODEL_ROUTES: Object.values(modelRoutes).flat(),
    };
    for (const [setting, names] of Object.entries(named))
      if (names.some((each) => each === name || each === `sherpa/${name}`))
        throw conflict(`${setting} names ${name}: take it out of there, and start the gateway again`);
  }

  async #checkUnused({ name, task }: Listed): Promise<void> {
    const engine = task === 'pico' ? 'pico' : `sherpa/${name}`;
    const own = this.parts.voices.own.filter((voice) => voice.kind === 'engine' && voice.engine === engine);
    if (own.length === 0) return;
    const { names, count } = await this.parts.agentsWithVoices(own.map(({ id }) => id));
    if (count === 0) return;
    const others = count > names.length ? ` and ${count - names.length} more` : '';
    throw conflict(
      `Agents speak with it: ${names.join(', ')}${others}. With sure=true it is removed, and the default voice speaks for them`,
    );
  }
}

const downloadOf = ({ sources }: Listed): number =>
  sources[0]?.items.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;

/** Whether the process that a file names is alive, and adds that model. */
function isAdding({ pid, name }: Told): boolean {
  if (pid < 2 || !isAlive(pid)) return false;
  const words = commandLine(pid);
  return words.includes('add') && words.includes(name);
}

export const openModelShelf = (parts: ShelfParts): ModelShelf & { stop(): void } => new InstalledShelf(parts);
