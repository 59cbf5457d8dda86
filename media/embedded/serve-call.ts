/**
 * The worker's side of calls: a job a call. Signalling, the microphone, voice activity and playout meet here; the job
 * ends when the gateway ends the call or goes.
 */
import { Decoder } from '@evan/opus';
import { join } from 'node:path';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { JobHandlers, JobValue } from '../../contracts/ports/jobs.js';
import { Ears, type VoiceDetector } from '../ears.js';
import type { Pacer } from '../pacer.js';
import { Pushed } from '../pushed.js';
import { Recorder } from '../recorder.js';
import { CALL_JOB, type CallArgs, type Command, type Report } from '../wire.js';
import { Microphone } from './microphone.js';
import { Room, type RoomNetwork } from './room.js';
import { OPUS_TYPE, readRtp } from './rtp.js';
import { Voice } from './voice.js';

/** Messages of a client that the gateway has not read yet; more are dropped. */
const MOST_DATA_BYTES = 1024 * 1024;

export interface MediaParts {
  readonly network: RoomNetwork;
  readonly pacer: Pacer;
  readonly complexity: number;
  /** The folder of recordings: one folder a session. */
  readonly recordings: string;
  /** One for each call. */
  detector(): VoiceDetector;
}

class ServedCall {
  readonly reports = new Pushed<Report>((report) => (report.on === 'data' ? report.payload.length : 0));
  readonly #room: Room;
  readonly #voice: Voice;
  readonly #ears: Ears;
  readonly #leavePacer: () => void;
  #microphone: Microphone;
  #recorder: Recorder | undefined;
  #connected = false;
  #closed = false;

  constructor(
    private readonly args: CallArgs,
    private readonly parts: MediaParts,
  ) {
    const { network, pacer, complexity } = parts;
    this.#ears = new Ears(parts.detector(), (report) => this.reports.push(report));
    this.#microphone = this.#newMicrophone();
    this.#room = new Room(args, network, {
      report: (report) => this.#note(report),
      packet: (bytes, type) => {
        const packet = readRtp(bytes, type);
        if (packet) this.#microphone.receive(packet);
      },
      renewed: (opusType) => {
        this.#microphone = this.#newMicrophone();
        this.#recorder?.renew();
        this.#voice.renew(opusType);
      },
    });
    const options = { ssrc: this.#room.ssrc, opusType: OPUS_TYPE, complexity };
    const played = (utterance: number, ms: number, ended: boolean): void =>
      void this.reports.push({ on: 'played', utterance, ms, ended });
    this.#voice = new Voice(options, played, (packet, opus) => {
      this.#room.speak(packet);
      this.#recorder?.agent(opus);
    });
    this.#leavePacer = pacer.join(() => this.#beat());
  }

  #newMicrophone(): Microphone {
    const decoder = new Decoder({ channels: 1, sample_rate: RECOGNITION_RATE });
    const heard = (samples: Int16Array): void => this.#ears.push(samples);
    return new Microphone(decoder, heard, (packet) => this.#recorder?.user(packet));
  }

  #note(report: Report): void {
    if (report.on === 'connected') this.#begin();
    if (report.on === 'disconnected') this.#connected = false;
    if (report.on !== 'data' || this.reports.bytes < MOST_DATA_BYTES) this.reports.push(report);
  }

  #begin(): void {
    this.#connected = true;
    const { sessionId, record } = this.args;
    if (!record || this.#recorder) return;
    this.#recorder = new Recorder(join(this.parts.recordings, sessionId), (role, reason) =>
      console.error(`the recording of a call's ${role} ends early: ${reason}`),
    );
    this.reports.push({ on: 'recording', at: Date.now() });
  }

  /** The user is heard, as silence at least, for as long as the call lasts. */
  #beat(): void {
    this.#recorder?.beat();
    this.#microphone.beat();
    this.#voice.beat(this.#connected);
  }

  take(command: Command): void {
    (this.#commands[command.op] as (command: Command) => void)(command);
  }

  readonly #commands: {
    readonly [Op in Command['op']]: (command: Extract<Command, { readonly op: Op }>) => void;
  } = {
    connect: (command) => this.#room.connect(command),
    signal: (command) => this.#room.signal(command),
    gone: ({ link }) => this.#room.gone(link),
    play: ({ utterance, pcm }) => this.#voice.playout.play(utterance, pcm),
    finish: ({ utterance }) => this.#voice.playout.finish(utterance),
    pause: () => this.#voice.playout.pause(),
    resume: () => this.#voice.playout.resume(),
    clear: () => this.#voice.playout.clear(),
    data: ({ topic, payload }) => this.#room.messages.message(topic, payload),
    show: (command) => this.#room.messages.show(command),
    attributes: ({ values }) => this.#room.attributes(values),
    end: () => this.close(),
  };

  /** Idempotent: the detector is given back once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leavePacer();
    this.#room.close();
    this.#ears.stop();
    this.reports.end();
  }

  /** Resolves when nothing of a closed call is left to be written. */
  async kept(): Promise<void> {
    await this.#recorder?.finish();
  }
}

/** Carries the commands to the call; the end of them ends it. */
async function follow(commands: AsyncIterable<JobValue>, call: ServedCall): Promise<void> {
  try {
    for await (const command of commands) call.take(command as Command);
  } finally {
    call.close();
  }
}

export const callJobs = (parts: MediaParts): JobHandlers => ({
  async *[CALL_JOB](args: CallArgs, commands, { signal }): AsyncGenerator<Report> {
    const call = new ServedCall(args, parts);
    const stop = (): void => call.close();
    signal.addEventListener('abort', stop, { once: true });
    const following = follow(commands, call);
    try {
      yield* call.reports;
      await following;
    } finally {
      signal.removeEventListener('abort', stop);
      call.close();
      await call.kept();
    }
  },
});
