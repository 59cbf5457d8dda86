/**
 * Our doubles of telephone providers against pipecat (from PyPI), which answers media streams of the same providers: it reads
 * the doubles' messages as we do, and the doubles read its messages as they read ours. Runs if a Python (PIPECAT_PYTHON, or
 * `python3`) has `pipecat-ai`.
 */
import { spawnSync } from 'node:child_process';
import t from '../../../../../fixtures/tap.js';
import { bytesOf, samplesOf } from '../../../../../../contracts/audio.js';
import type { Speaking } from '../../../../../../gateway/agents/phone/provider.js';
import { exotel } from '../../../../../../gateway/agents/phone/providers/exotel.js';
import { genesys } from '../../../../../../gateway/agents/phone/providers/genesys.js';
import { plivo } from '../../../../../../gateway/agents/phone/providers/plivo.js';
import { telnyx } from '../../../../../../gateway/agents/phone/providers/telnyx.js';
import { twilio } from '../../../../../../gateway/agents/phone/providers/twilio.js';
import { vonage } from '../../../../../../gateway/agents/phone/providers/vonage.js';
import { codecFor } from '../../../../../../media/phone/codecs.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { exotelDouble } from '../../../../../fixtures/phone/exotel.js';
import { genesysDouble, genesysHandshake } from '../../../../../fixtures/phone/genesys.js';
import type { LineDialect } from '../../../../../fixtures/phone/line.js';
import { plivoDouble } from '../../../../../fixtures/phone/plivo.js';
import { telnyxDouble } from '../../../../../fixtures/phone/telnyx.js';
import { twilioDouble } from '../../../../../fixtures/phone/twilio.js';
import { vonageDouble } from '../../../../../fixtures/phone/vonage.js';

const PYTHON = process.env['PIPECAT_PYTHON'] ?? 'python3';

/** Program that reads cases as JSON, and writes for each what pipecat understands of the messages, and what it sends. */
const PROGRAM = `
import asyncio, base64, importlib, json, sys, types
from loguru import logger
logger.remove()
from pipecat.frames.frames import InputAudioRawFrame, InputDTMFFrame, InterruptionFrame, OutputAudioRawFrame
from pipecat.serializers.base_serializer import FrameSerializer

def told(frame):
    if isinstance(frame, InputAudioRawFrame):
        return {"audio": base64.b64encode(frame.audio).decode(), "rate": frame.sample_rate}
    if isinstance(frame, InputDTMFFrame):
        return {"key": frame.button.value}
    return None

def message(data):
    return {"bytes": base64.b64encode(data).decode()} if isinstance(data, bytes) else {"text": data}

async def run(case):
    made = getattr(importlib.import_module("pipecat.serializers." + case["module"]), case["name"])
    params = made.InputParams(**case["params"])
    pipe = made(*case["args"], params=params)
    rate = case["rate"]
    await pipe.setup(types.SimpleNamespace(audio_in_sample_rate=rate, audio_out_sample_rate=rate))
    heard = []
    for each in case["messages"]:
        data = each["text"] if "text" in each else base64.b64decode(each["bytes"])
        heard.append(told(await pipe.deserialize(data)))
    sound = OutputAudioRawFrame(audio=base64.b64decode(case["audio"]), sample_rate=rate, num_channels=1)
    said = [message(await pipe.serialize(frame)) for frame in (sound, InterruptionFrame())]
    return {"heard": heard, "said": said}

async def main():
    print("ANSWER" + json.dumps([await run(case) for case in json.load(sys.stdin)]))

asyncio.run(main())
`;

type Message = { readonly text: string } | { readonly bytes: string };

interface Told {
  readonly heard: readonly ({
    readonly audio?: string;
    readonly rate?: number;
    readonly key?: string;
  } | null)[];
  readonly said: readonly Message[];
}

const CALL = { callId: '30b0e395-84d3-4570-ac13-9a62d8f514c0', from: '+14155550123', to: '+493012345678' };

interface Row {
  readonly name: string;
  readonly double: LineDialect;
  readonly ours: () => Speaking;
  readonly serializer: string;
  readonly args: (stream: string) => readonly string[];
  readonly params?: object;
  /** Changes the first messages, if pipecat understands them differently. */
  readonly begin?: (messages: readonly object[]) => readonly object[];
}

const QUIET = { auto_hang_up: false };

const ROWS: readonly Row[] = [
  {
    ...{ name: 'twilio', double: twilioDouble, ours: () => twilio, params: QUIET },
    ...{ serializer: 'TwilioFrameSerializer', args: (stream) => [stream] },
  },
  {
    ...{ name: 'telnyx', double: telnyxDouble, ours: () => telnyx, params: QUIET },
    ...{ serializer: 'TelnyxFrameSerializer', args: (stream) => [stream, 'PCMU', 'PCMU'] },
  },
  {
    ...{ name: 'plivo', double: plivoDouble, ours: () => plivo, params: QUIET },
    ...{ serializer: 'PlivoFrameSerializer', args: (stream) => [stream] },
  },
  {
    ...{ name: 'vonage', double: vonageDouble, ours: () => vonage },
    ...{ serializer: 'VonageFrameSerializer', args: () => [] },
  },
  {
    ...{ name: 'exotel', double: exotelDouble, ours: () => exotel as Speaking },
    ...{ serializer: 'ExotelFrameSerializer', args: (stream) => [stream] },
  },
  {
    ...{ name: 'genesys', double: genesysDouble, serializer: 'GenesysAudioHookSerializer', args: () => [] },
    // If several media are offered, pipecat takes the first, and we the one with only the caller.
    begin: ([open]) => {
      const { parameters, ...more } = open as { readonly parameters: { readonly media: readonly object[] } };
      return [{ ...more, parameters: { ...parameters, media: parameters.media.slice(-1) } }];
    },
    ours() {
      const handshake = genesysHandshake('wss://a.example/', CALL.callId, 'secret');
      if (!('converse' in genesys)) throw new Error('it has no state');
      return genesys.converse(() => undefined, new Map(Object.entries(handshake)));
    },
  },
];

const FRAMES = 10;

/** Sound of `frames` frames of 20 ms. */
const sound = (rate: number, frames: number): Int16Array =>
  Int16Array.from({ length: (rate / 50) * frames }, (_, at) =>
    Math.round(12_000 * Math.sin(at / 7) * Math.sin(at / 400)),
  );

/** Messages of the provider: the beginning of a call, sound, and a key. */
function messagesOf({ double, begin }: Row): readonly (string | Uint8Array)[] {
  const { rate } = double.format;
  const encoded = codecFor(double.format).encode(sound(rate, FRAMES));
  const size = encoded.length / FRAMES;
  const frames = Array.from({ length: FRAMES }, (_, at) =>
    double.media(encoded.subarray(at * size, (at + 1) * size), at + 1),
  );
  let sent = 0;
  const begun = double.begin(CALL, 'token');
  return [...(begin?.(begun) ?? begun), ...frames, double.key('5')].map((message) => {
    if (message instanceof Uint8Array) return message;
    const counts = { sent: (sent += 1), received: 0, call: CALL };
    return JSON.stringify(double.stamp?.(message, counts) ?? message);
  });
}

const wrapped = (data: string | Uint8Array): Message =>
  typeof data === 'string' ? { text: data } : { bytes: Buffer.from(data).toString('base64') };
const unwrapped = (message: Message): string | Uint8Array =>
  'text' in message ? message.text : Buffer.from(message.bytes, 'base64');

const streamOf = (row: Row): string => {
  const reader = row.ours();
  const events = messagesOf(row).map((message) => reader.read(message));
  return events.find((event) => event?.type === 'start')?.stream ?? '';
};

function ask(): { readonly told: readonly Told[] } | { readonly why: string } {
  const cases = ROWS.map((row) => ({
    ...{ module: row.name, name: row.serializer, args: row.args(streamOf(row)), params: row.params ?? {} },
    rate: row.double.format.rate,
    messages: messagesOf(row).map(wrapped),
    audio: Buffer.from(bytesOf(sound(row.double.format.rate, framesOf(row)))).toString('base64'),
  }));
  const has = spawnSync(PYTHON, ['-c', 'import importlib.util as u; exit(u.find_spec("pipecat") is None)']);
  if (has.status !== 0) return { why: `no pipecat-ai for ${PYTHON} here` };
  const ran = spawnSync(PYTHON, ['-c', PROGRAM], { input: JSON.stringify(cases), encoding: 'utf8' });
  const answer = /^ANSWER(.*)$/m.exec(ran.stdout)?.[1];
  if (answer === undefined) throw new Error(`pipecat says nothing: ${ran.stderr.slice(-2000)}`);
  return { told: JSON.parse(answer) as Told[] };
}

/** Frames in one message that the provider accepts. */
const framesOf = ({ name }: Row): number => (name === 'exotel' || name === 'genesys' ? FRAMES : 1);

/** Whether two sounds are alike: companding in two libraries may differ by a step, a sixteenth of the value. */
const isAlike = (one: Int16Array, other: Int16Array): boolean =>
  one.length === other.length &&
  one.every((sample, at) => Math.abs(sample - other[at]!) <= 16 + Math.abs(sample) / 16);

const asked = ask();

for (const [at, row] of ROWS.entries())
  t.test(`${row.name}: pipecat and we agree`, { skip: 'why' in asked && asked.why }, (t) => {
    const { heard, said } = (asked as { told: readonly Told[] }).told[at]!;
    const { double } = row;
    const codec = codecFor(double.format);
    const reader = row.ours();
    const events = messagesOf(row).map((message) => reader.read(message));
    exactly(
      t,
      events.map((event) => event?.type).filter((type) => type !== undefined),
      ['start', ...Array<string>(FRAMES).fill('media'), 'key'],
    );
    for (const [index, event] of events.entries()) {
      const theirs = heard[index];
      if (event?.type === 'media') {
        t.equal(theirs?.rate, double.format.rate);
        const pcm = samplesOf(Buffer.from(theirs?.audio ?? '', 'base64'));
        t.ok(isAlike(codec.decode(event.audio), pcm), 'the same sound');
      } else t.equal(theirs?.key, event?.type === 'key' ? event.key : undefined);
    }
    const writer = row.ours().writer(streamOf(row));
    const pcm = sound(double.format.rate, framesOf(row));
    const [theirSound, theirClear] = said.map((message) => double.read(unwrapped(message)));
    const ourSound = double.read(writer.speak(codec.encode(pcm)));
    if (ourSound?.type !== 'audio' || theirSound?.type !== 'audio') return void t.fail('no sound');
    t.ok(isAlike(codec.decode(ourSound.audio), codec.decode(theirSound.audio)), 'the same voice');
    t.strictSame(theirClear, double.read(writer.clearAudio()), 'the same silence');
    t.end();
  });
