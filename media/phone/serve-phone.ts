/**
 * Phone calls: the worker's side. The gateway process reads and writes the provider's frames; the worker handles the audio
 * of both directions, its timing, and how much of it was heard.
 */
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { SampleRecording } from '../recording.js';
import { type Carrier, type CallHost, serve, ServedCall, type ServedParts } from '../served-call.js';
import { type LineCommand, type LineReport, PHONE_JOB, type PhoneArgs, type PlayedReport } from '../wire.js';
import { PhoneReceiver } from './receiver.js';
import { EchoGate } from './echo-gate.js';
import { Marks } from './marks.js';
import { PhoneVoice } from './voice.js';

type Handlers = {
  readonly [Op in LineCommand['op']]: (command: Extract<LineCommand, { readonly op: Op }>) => void;
};

export class PhoneCarrier implements Carrier<LineCommand> {
  readonly #receiver: PhoneReceiver;
  readonly #voice: PhoneVoice;
  readonly #marks: Marks;
  readonly #echo: EchoGate;
  #recording: SampleRecording | undefined;
  /** The agent's frames that were sent and are not due yet: they are recorded as they are heard, not as they are sent. */
  #sent: Int16Array[] = [];

  constructor(
    { format, heard = format, isPaced }: PhoneArgs,
    private readonly parts: Pick<ServedParts, 'complexity'>,
    private readonly call: CallHost<LineReport>,
  ) {
    this.#receiver = new PhoneReceiver(
      heard,
      (samples) => {
        const { sound, watched } = this.#echo.hear(samples);
        call.samples(sound, watched);
        this.#kept()?.user(samples);
      },
      isPaced,
    );
    this.#voice = new PhoneVoice(
      format,
      call.playout,
      (audio, utterance) =>
        call.report({ on: 'speak', audio, ...(utterance !== undefined && { utterance }) }),
      (samples) => {
        this.#echo.said(samples);
        this.#sent.push(samples);
      },
      () => call.report({ on: 'pressed' }),
    );
    this.#echo = new EchoGate(this.#voice.ahead);
    this.#marks = new Marks(
      (mark) => call.report({ on: 'mark', mark }),
      (played) => call.report(played),
      format.silent && this.#voice.ahead,
    );
    // A line that sends audio has been answered.
    call.report({ on: 'connected' });
  }

  #kept(): SampleRecording | undefined {
    const recorder = this.call.recorder();
    return recorder && (this.#recording ??= new SampleRecording(recorder, this.parts.complexity));
  }

  beat(_connected: boolean, passed: number): boolean {
    this.#receiver.beat(passed, this.call.isVoiced());
    this.#record(passed - 1, 1);
    const spoke = this.#voice.beat();
    this.#record(1, 0);
    this.#echo.beat();
    this.#marks.beat(this.#voice.hasLeft);
    return spoke;
  }

  /** Records what was heard in so many beats, of which the last was so many ago. */
  #record(beats: number, ago: number): void {
    for (const [place, samples] of this.#sent.splice(0, beats).entries())
      this.#kept()?.agent(samples, ago + beats - 1 - place);
  }

  played(played: PlayedReport): void {
    this.#marks.left(played);
  }

  clearAudio(): void {
    this.#voice.drop();
    this.#sent = [];
    this.call.report({ on: 'clearAudio' });
    this.#marks.dropped();
  }

  take(command: LineCommand): void {
    (this.#commands[command.op] as (command: LineCommand) => void)(command);
  }

  readonly #commands: Handlers = {
    hear: ({ audio, order }) => this.#receiver.hear(audio, order),
    marked: ({ mark }) => this.#marks.came(mark),
    press: ({ keys }) => this.#voice.press(keys),
    hold: ({ on }) => this.#voice.hold(on),
    told: ({ topic, payload }) => this.call.report({ on: 'data', topic, payload }),
    hungUp: () => this.call.report({ on: 'left' }),
  };

  message(): void {
    // A telephone shows nothing.
  }

  show(): void {
    // As above.
  }

  attributes(): void {
    // As above.
  }

  close(): void {
    // The gateway closes the provider's stream when the job has ended.
  }
}

export const phoneJobs = (parts: ServedParts): JobHandlers => ({
  [PHONE_JOB](args: PhoneArgs, commands, context) {
    const carry = (call: CallHost<LineReport>): PhoneCarrier => new PhoneCarrier(args, parts, call);
    return serve(new ServedCall<LineCommand, LineReport>(args, parts, carry), commands, context);
  },
});
