/** Which of a client's tracks is the user: by announced source, with real Opus frames on the lines of its offers. */
import { Decoder, Encoder } from '@evan/opus';
import { AddTrackRequest, TrackSource, TrackType } from '@livekit/protocol';
import t from '../../fixtures/tap.js';
import { bytesOf } from '../../../contracts/audio.js';
import { Microphone } from '../../../media/embedded/microphone.js';
import { UserTracks } from '../../../media/embedded/user-tracks.js';
import { SOURCES, userTrack } from '../../../media/user-track.js';

const { MICROPHONE, SCREEN_SHARE_AUDIO, UNKNOWN } = TrackSource;
const RATE = 16_000;
const FRAME = RATE / 50;
/** A DTX sender's frame in a pause, every 400 ms. */
const DTX_BEATS = 20;
const SECOND = 50;

/** Opus frames of a tone; each track of the table has one of its own. */
function toneOf(hertz: number): () => Uint8Array {
  const encoder = new Encoder({ channels: 1, sample_rate: RATE, application: 'voip' });
  let at = 0;
  return () => {
    const frame = Int16Array.from(
      { length: FRAME },
      (_, index) => 8000 * Math.sin((2 * Math.PI * hertz * (at + index)) / RATE),
    );
    at += FRAME;
    return Uint8Array.from(encoder.encode(bytesOf(frame)));
  };
}

/** Share of the samples' energy at that frequency, 0 to 1 (Goertzel). */
function shareOf(samples: readonly number[], hertz: number): number {
  let [re, im, energy] = [0, 0, 0];
  for (const [index, sample] of samples.entries()) {
    const angle = (2 * Math.PI * hertz * index) / RATE;
    re += sample * Math.cos(angle);
    im += sample * Math.sin(angle);
    energy += sample ** 2;
  }
  return energy === 0 ? 0 : (2 * (re ** 2 + im ** 2)) / (samples.length * energy);
}

interface Source {
  readonly hertz: number;
  /** Sends every frame, only those of DTX, or nothing. */
  sends: 'all' | 'dtx' | 'none';
  readonly frame: () => Uint8Array;
  readonly ssrc: number;
  sequence: number;
}

/** A client with tracks, and what is heard of it; time is counted in beats of 20 ms. */
class Client {
  beats = 0;
  heard: number[] = [];
  readonly tracks = new UserTracks(() => this.beats * 20);
  readonly sources = new Map<string, Source>();
  readonly #sids = new Map<string, string>();
  readonly #decoder = new Decoder({ channels: 1, sample_rate: RATE });
  readonly #microphone = new Microphone(this.#decoder, (samples) => this.heard.push(...samples));
  #track: string | undefined;

  publish(name: string, source: TrackSource | undefined, hertz: number): void {
    const request = new AddTrackRequest({ cid: name, type: TrackType.AUDIO, source: source ?? UNKNOWN });
    if (source !== undefined) this.#sids.set(name, this.tracks.announce(request).sid);
    this.sources.set(name, { hertz, sends: 'all', frame: toneOf(hertz), ssrc: hertz, sequence: 1 });
    this.#offer();
  }

  unpublish(name: string): void {
    this.sources.delete(name);
    this.#offer();
  }

  #offer(): void {
    const names = [...this.sources.keys()];
    this.tracks.offered(
      new Set(names),
      names.map((name) => ({ mid: `of ${name}`, name })),
    );
  }

  mute(name: string, muted: boolean): void {
    this.tracks.mute(this.#sids.get(name) ?? '', muted);
    this.sends(name, muted ? 'dtx' : 'all');
  }

  sends(name: string, what: Source['sends']): void {
    const source = this.sources.get(name);
    if (source) source.sends = what;
  }

  /** Lets time pass; then `heard` is what was heard in it. */
  pass(beats: number): void {
    this.heard = [];
    for (let beat = 0; beat < beats; beat += 1) this.#beat();
  }

  #beat(): void {
    this.beats += 1;
    this.#microphone.beat();
    for (const [name, source] of this.sources) {
      source.sequence += 1;
      const isSent = source.sends === 'all' || (source.sends === 'dtx' && this.beats % DTX_BEATS === 0);
      if (isSent) this.#receive(name, source);
    }
  }

  #receive(name: string, { ssrc, sequence, frame, sends }: Source): void {
    const track = this.tracks.received(`of ${name}`);
    if (track === undefined) return;
    if (track !== this.#track) this.#microphone.restart();
    this.#track = track;
    // Frames of DTX are numbered without gaps.
    const payload = sends === 'dtx' ? Uint8Array.of(0x08) : frame();
    this.#microphone.receive({ ssrc, sequence, timestamp: sequence * 960, payload });
  }

  /** The loudest track in what was heard; undefined for silence. */
  get loudest(): string | undefined {
    const shares = [...this.sources].map(([name, { hertz }]) => [name, shareOf(this.heard, hertz)] as const);
    return shares.find(([, share]) => share > 0.5)?.[0];
  }
}

const MIC = ['microphone', MICROPHONE, 440] as const;
const SHARE = ['share', SCREEN_SHARE_AUDIO, 1250] as const;

/** What a client does, and the track that is heard in the half second after each step. */
const TABLE: Readonly<Record<string, readonly (readonly [(client: Client) => void, string | undefined])[]>> =
  {
    'a pause with DTX while a tab is shared': [
      [(c) => c.publish(...MIC), 'microphone'],
      [(c) => c.publish(...SHARE), 'microphone'],
      [(c) => c.sends('microphone', 'dtx'), undefined],
      [(c) => c.pass(3 * SECOND), undefined],
      [(c) => c.sends('microphone', 'all'), 'microphone'],
    ],
    'a tab that is shared first': [
      [(c) => c.publish(...SHARE), 'share'],
      [(c) => c.publish(...MIC), 'microphone'],
      [(c) => c.unpublish('microphone'), 'share'],
    ],
    'a muted microphone is still the microphone': [
      [(c) => c.publish(...MIC), 'microphone'],
      [(c) => c.mute('microphone', true), undefined],
      [(c) => c.publish(...SHARE), undefined],
      [(c) => c.pass(5 * SECOND), undefined],
      [(c) => c.mute('microphone', false), 'microphone'],
    ],
    'a microphone that sends nothing at all is still the microphone': [
      [(c) => c.publish(...SHARE), 'share'],
      [(c) => c.publish(...MIC), 'microphone'],
      [(c) => c.sends('microphone', 'none'), undefined],
      [(c) => c.pass(5 * SECOND), undefined],
      [(c) => c.unpublish('share'), undefined],
      [(c) => c.sends('microphone', 'all'), 'microphone'],
    ],
    'two microphones: the newest that sends': [
      [(c) => c.publish(...MIC), 'microphone'],
      [(c) => c.publish('second', MICROPHONE, 900), 'second'],
      [(c) => c.mute('second', true), 'microphone'],
      [(c) => c.mute('second', false), 'second'],
      [(c) => c.sends('microphone', 'dtx'), 'second'],
    ],
    'a microphone that is published anew is heard at once': [
      [(c) => c.publish(...MIC), 'microphone'],
      [(c) => (c.unpublish('microphone'), c.publish('another', MICROPHONE, 900)), 'another'],
    ],
    'a source that is unknown, or not announced, where there is no microphone': [
      [(c) => c.publish('unnamed', undefined, 1700), 'unnamed'],
      [(c) => c.publish(...SHARE), 'unnamed'],
      [(c) => c.publish('unknown', UNKNOWN, 900), 'unknown'],
      [(c) => c.publish(...MIC), 'microphone'],
    ],
  };

for (const [what, steps] of Object.entries(TABLE))
  t.test(`the user is found by its announced source: ${what}`, async (t) => {
    const client = new Client();
    for (const [index, [step, expected]] of steps.entries()) {
      step(client);
      // The last words before a step end first.
      client.pass(4);
      client.pass(SECOND / 2);
      t.equal(client.loudest, expected, `step ${index + 1}`);
    }
  });

t.test('the user is found in the same way where packets are not seen', async (t) => {
  const track = (name: string, source: number, sends = true) => ({ name, source, sends });
  const chosen = (...tracks: readonly ReturnType<typeof track>[]) => userTrack(tracks)?.name;
  const { microphone, screenShareAudio, unknown } = SOURCES;
  t.same(SOURCES, { microphone: MICROPHONE, screenShareAudio: SCREEN_SHARE_AUDIO, unknown: UNKNOWN });
  t.equal(chosen(), undefined);
  t.equal(chosen(track('muted', microphone, false), track('share', screenShareAudio)), 'muted');
  t.equal(chosen(track('one', microphone), track('two', microphone)), 'two');
  t.equal(chosen(track('one', microphone), track('muted', microphone, false)), 'one');
  t.equal(chosen(track('unknown', unknown), track('share', screenShareAudio)), 'unknown');
  t.equal(chosen(track('of a camera', TrackSource.CAMERA), track('share', screenShareAudio)), 'of a camera');
});
