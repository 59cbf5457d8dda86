/** How `doctor` looks at what the gateway needs besides the machine: its database, models and engines, and the servers that settings name. */
import { systemClock } from '../../contracts/clock.js';
import { openDatabase } from '../../storage/postgres/database.js';
import { checkEmbedded } from '../../storage/embedded.js';
import { originOf } from '../../contracts/ports/parts.js';
import { findFfmpegs } from '../../codecs/decode/binaries.js';
import { createRoomService } from '../../media/livekit/room-service.js';
import type { Config } from '../config.js';
import { mendedBy, ROWS, sentenceOf } from '../server/parts/sentences.js';
import { checkModels } from '../wiring/check-settings.js';
import { checkNames } from '../wiring/check-names.js';
import { engineRoles } from '../wiring/engines.js';
import { bucketChecks } from '../wiring/recordings.js';
import { askPart, configuredChecks } from '../wiring/start-checks.js';
import type { PartCheck } from '../wiring/part-check.js';
import { livekitPart } from '../wiring/parts.js';
import { type Look, Wrong } from './findings.js';

async function lookAtServer({
  databaseUrl: url = '',
  databaseDirectUrl: directUrl,
}: Config): Promise<string> {
  const database = await openDatabase({ url, directUrl, connections: 1, patienceMs: 0, slow: true });
  try {
    const [row] = await database.sql<
      { version: string }[]
    >`select current_setting('server_version') as version`;
    return `Postgres ${row?.version ?? ''} at ${originOf(url) ?? 'DATABASE_URL'}`;
  } finally {
    await database.close();
  }
}

const lookAtEmbedded = ({ dataDir }: Config): string =>
  `embedded, in ${dataDir}${checkEmbedded(dataDir) === 'made' ? '' : ', which the first start makes'}`;

export const databaseLook = (config: Config): Look => ({
  check: 'postgres',
  setting: config.databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL',
  look: () => (config.databaseUrl === undefined ? lookAtEmbedded(config) : lookAtServer(config)),
});

/** Whether all files of models are there that these settings need. */
export function hasModels(config: Config): boolean {
  try {
    checkModels(config);
    return true;
  } catch {
    return false;
  }
}

export const modelsLook = (config: Config): Look => ({
  check: 'models',
  setting: 'MODELS_DIR',
  look() {
    checkModels(config);
    return `all in ${config.modelsDir}`;
  },
});

export const enginesLook = (config: Config): Look => ({
  check: 'engines',
  setting: 'TTS_ENGINES',
  look() {
    engineRoles(config);
    checkNames(config);
    return `speech by ${config.ttsEngines.join(', ')}; recognition by ${config.sttEngines.join(', ')}`;
  },
});

export const ffmpegLook = ({ ffmpegPath }: Config): Look => ({
  check: 'ffmpeg',
  setting: 'FFMPEG_PATH',
  look() {
    const [first] = findFfmpegs(ffmpegPath);
    if (first !== undefined) return first;
    throw new Wrong(
      'None is there: uploads other than WAV, MP3 and the like cannot be decoded; set FFMPEG_PATH',
    );
  },
});

/** Asks a server that settings name, as a start does. */
const partLook = (checked: PartCheck): Look[] =>
  checked.parts.map((part) => ({
    check: part.kind === 'model' ? 'language model' : part.kind,
    async look() {
      const { told, advice } = await askPart(checked, systemClock);
      const { outcome } = told;
      if (ROWS[outcome].fails) throw new Wrong(sentenceOf(part, told), mendedBy(part, told));
      if (advice) throw new Wrong(`${part.address ?? part.name} ${advice.sentence}`, advice.setting);
      return `${part.address ?? part.name} answers`;
    },
  }));

const WITHOUT_MODEL: Look = {
  check: 'language model',
  look: () => 'none: agents use builtin-dialogue, unless LLM_BASE_URL is set',
};

/** Doctor's alone: a running gateway learns it from the connection of its agent worker. */
const livekitChecks = ({ livekit }: Config): readonly PartCheck[] =>
  livekit ? [{ parts: [livekitPart(livekit)], ask: () => createRoomService(livekit).tryKey() }] : [];

/** The servers that settings name. */
export async function partLooks(config: Config): Promise<readonly Look[]> {
  const checks = [...configuredChecks(config), ...(await bucketChecks(config)), ...livekitChecks(config)];
  const first = config.llmUrl === undefined ? [WITHOUT_MODEL] : [];
  return [...first, ...checks.flatMap(partLook)];
}
