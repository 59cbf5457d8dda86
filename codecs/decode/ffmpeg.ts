/**
 * Decodes with an ffmpeg binary (binaries.ts) through fluent-ffmpeg, under limits.
 *
 * fluent-ffmpeg uses one command for the whole process, and asks it for its formats before each new kind of
 * job. Here the command is always `sh limited.sh … binary`, and the formats are filled in.
 */
import { PassThrough } from 'node:stream';
import createCommand, { type FfmpegCommand } from 'fluent-ffmpeg';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { limitedArgs, PROCESS_LIMITS } from './limits.js';
import {
  CANNOT_RUN,
  type DecoderExit,
  type DecoderProcess,
  isRefusal,
  LIMITED_SCRIPT,
  spawnOptions,
  type StartDecoder,
} from './process.js';
import { DEMUXERS } from './sniff.js';

const SHELL = '/bin/sh';
const STDERR_LINES = 20;
const OUTPUT_FORMAT = 'wav';

/** Starts decoders with this binary. */
export const ffmpegDecoder =
  (binary: string): StartDecoder =>
  (file, demuxer) => {
    const command = commandFor(binary, file, demuxer);
    // It must not close by itself: fluent-ffmpeg takes a closed output for a reader that has left.
    const pcm = new PassThrough({ autoDestroy: false, emitClose: false });
    return running(command, pcm);
  };

function commandFor(binary: string, file: string, demuxer: string): FfmpegCommand {
  const { nice: niceness, addressSpaceKiB } = PROCESS_LIMITS;
  return Object.assign(createCommand({ niceness, stdoutLines: STDERR_LINES }), OVERRIDES)
    .setFfmpegPath(SHELL)
    .input(file)
    .inputOptions(
      ...[LIMITED_SCRIPT, ...limitedArgs({ addressSpaceKiB }), binary],
      ...['-nostdin', '-hide_banner', '-v', 'error', '-threads', '1'],
      ...['-protocol_whitelist', 'file', '-f', demuxer],
    )
    .outputOptions(
      ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-map_metadata', '-1', '-threads', '1'],
      ...['-c:a', 'pcm_s16le', '-ar', String(RECOGNITION_RATE), '-f', OUTPUT_FORMAT],
    );
}

type Ring = { get(): string };
type Ended = (error?: unknown, output?: Ring, said?: Ring) => void;
/** The library keeps its process under a name that its types lack. */
interface Spawned {
  readonly ffmpegProc?: { readonly pid?: number | undefined };
}

type Spawn = (this: FfmpegCommand, args: unknown, options: object, started: unknown, ended: Ended) => void;

const { _spawnFfmpeg: spawnFfmpeg } = createCommand.prototype as unknown as { _spawnFfmpeg: Spawn };

const NOTHING: Ring = { get: () => '' };

/**
 * Answers fluent-ffmpeg's queries for formats without a process; a missing one shows when the binary runs. Also
 * repairs its handling of a process that the system refuses: it throws outside of its callbacks, or ends without
 * the output rings, which throws too. The rings are added here, and a thrown error is passed on after the child's own.
 */
const OVERRIDES: object = {
  _spawnFfmpeg(this: FfmpegCommand, ...[args, options, started, ended]: Parameters<Spawn>): void {
    const end: Ended = (error, output = NOTHING, said = NOTHING) => ended(error, output, said);
    try {
      spawnFfmpeg.call(this, args, { ...options, ...spawnOptions() }, started, end);
    } catch (error) {
      setImmediate(end, error);
    }
  },
  availableFormats: (done: (error: null, formats: object) => void): void => {
    const inputs = Object.values(DEMUXERS).map((name) => [name, { canDemux: true }]);
    done(null, { ...Object.fromEntries(inputs), [OUTPUT_FORMAT]: { canDemux: true, canMux: true } });
  },
  availableEncoders: (done: (error: null, encoders: object) => void): void => done(null, {}),
};

function running(command: FfmpegCommand, pcm: PassThrough): DecoderProcess {
  let killed = false;
  const exited = new Promise<DecoderExit>((resolve) => {
    command.on('start', () => killed && command.kill('SIGKILL'));
    command.on('end', () => resolve({ orderly: true, incapable: false, refused: false }));
    command.on('error', (error: Error, _output, said) => {
      const exit = exitOf(error, said ?? '');
      // The output of a command that was not spawned does not end by itself; that of any other may still bring data.
      if (exit.refused || (!exit.orderly && exit.incapable)) pcm.end();
      resolve(exit);
    });
  });
  command.pipe(pcm);
  return {
    pcm,
    exited,
    pid: () => (command as Spawned).ffmpegProc?.pid,
    kill() {
      killed = true;
      command.kill('SIGKILL');
    },
  };
}

const LACKS = /decoder[^\n]* not found|unknown (input format|decoder)|no decoder/i;

/** Reads how the process ended from the message, the only place where fluent-ffmpeg reports it. */
function exitOf(error: Error, said: string): DecoderExit {
  if (isRefusal(error)) return { orderly: false, incapable: false, refused: true };
  const code = /exited with code (\d+)/.exec(error.message)?.[1];
  const killed = /killed with signal/.test(error.message);
  const missing = code === undefined ? !killed : CANNOT_RUN.has(Number(code));
  return { orderly: code !== undefined, incapable: missing || LACKS.test(said), refused: false };
}
