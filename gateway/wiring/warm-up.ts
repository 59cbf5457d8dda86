/**
 * Loads the embedded models that a conversation needs beside voices (recogniser, turn model, noise reduction) once an agent
 * is published, so that the first turn after a start is as fast as the tenth. Beside the start, not before it: a
 * gateway that only speaks neither waits for them nor gives them its memory. A call that comes earlier waits for the
 * rest of the loading, as its words queue behind it.
 */
import { bytesOf, RECOGNITION_RATE } from '../../contracts/audio.js';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { NOBODY } from '../../contracts/ports/jobs.js';
import type { Denoiser } from '../../contracts/ports/speech/denoiser.js';
import type { TurnModel } from '../../contracts/ports/speech/turns.js';
import { repeat } from '../../contracts/time/repeat.js';
import { moonshineDescription } from '../../engines/backends/moonshine/description.js';
import { sttInChild } from '../../engines/child-engines.js';
import type { Transcriber } from '../../engines/long-audio.js';
import type { Sql } from '../../storage/postgres/sql.js';
import type { Children } from './children.js';
import type { RoleSockets } from './roles.js';

/** Between two looks whether an agent is published yet. */
const LOOK_MS = 5000;

export interface WarmUpOptions {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  /** One for each child process of the embedded recogniser. */
  readonly recognisers: readonly Transcriber[];
  readonly turns: Pick<TurnModel, 'prepare'> | undefined;
  readonly denoiser: Denoiser | undefined;
}

/** The embedded recogniser, once for each of its processes; none if it is not used. */
export const embeddedRecognisers = (sockets: RoleSockets, children: Children): readonly Transcriber[] =>
  (sockets.stt ?? []).map(() => sttInChild(children.pool('stt'), moonshineDescription));

/** A second of a hum: silence would not reach the recogniser. */
const hum = (): Int16Array =>
  Int16Array.from({ length: RECOGNITION_RATE }, (_, at) => Math.round(8000 * Math.sin(at / 12)));

async function* piecesOf(samples: Int16Array): AsyncGenerator<Int16Array> {
  yield samples;
}

const forever = new AbortController().signal;

async function listenTo(recogniser: Transcriber): Promise<void> {
  for await (const segment of recogniser.transcribe(piecesOf(hum()), {}, forever)) void segment;
}

async function loadAll({ recognisers, turns, denoiser, clock, log }: WarmUpOptions): Promise<void> {
  const began = clock.monotonic();
  turns?.prepare();
  await denoiser?.denoise({ chunks: [bytesOf(hum())], sampleRate: RECOGNITION_RATE }, NOBODY, forever);
  await Promise.all(recognisers.map(listenTo));
  log.info({ ms: Math.round(clock.monotonic() - began) }, 'the models of conversations are loaded');
}

/** Watches for the first published agent, then loads. The result stops watching. */
export function warmUp(options: WarmUpOptions): () => void {
  const { sql, clock, log } = options;
  let loading = false;
  const look = async (): Promise<void> => {
    const [row] = loading
      ? []
      : await sql<{ any: boolean }[]>`select exists (select from agent_versions) as any`;
    if (!row?.any) return;
    loading = true;
    stop();
    await loadAll(options);
  };
  const stop = repeat(clock, LOOK_MS, look, (error) =>
    log.warn({ err: error }, 'the models of conversations are not loaded yet'),
  );
  return () => stop();
}
