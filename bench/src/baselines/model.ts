/**
 * The embedded recogniser alone, as the least work behind a transcription: it reads an upload to its end, and has the
 * model transcribe a recording that it has in memory. `model.js CHECKOUT FILE` prints its port, and what it is made of.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { wavHeader } from '../audio/shape.js';

const [, , checkout = '', file = ''] = process.argv;

interface Stream {
  acceptWaveform(waveform: { readonly samples: Float32Array; readonly sampleRate: number }): void;
}

interface Recognizer {
  createStream(): Stream;
  decodeAsync(stream: Stream): Promise<{ readonly text: string }>;
}

interface Sherpa {
  readonly OfflineRecognizer: { createAsync(config: object): Promise<Recognizer> };
}

const sherpa = createRequire(path.join(checkout, 'package.json'))('sherpa-onnx-node') as Sherpa;
const folder = path.join(process.env['MODELS_DIR'] || path.join(checkout, '.models'), 'moonshine');

const recognizer = await sherpa.OfflineRecognizer.createAsync({
  featConfig: { sampleRate: 16_000, featureDim: 80 },
  modelConfig: {
    moonshine: {
      encoder: path.join(folder, 'encoder_model.onnx'),
      mergedDecoder: path.join(folder, 'decoder_model_merged.onnx'),
    },
    tokens: path.join(folder, 'tokens.txt'),
    numThreads: 1,
    debug: 0,
  },
});

const wav = readFileSync(file);
const { from, rate } = wavHeader(wav);
const samples = Float32Array.from(
  { length: (wav.length - from) >> 1 },
  (_, index) => wav.readInt16LE(from + index * 2) / 32_768,
);

async function transcribe(): Promise<string> {
  const stream = recognizer.createStream();
  stream.acceptWaveform({ samples, sampleRate: rate });
  return (await recognizer.decodeAsync(stream)).text;
}

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    void transcribe().then((text) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ text }));
    });
  });
});
server.listen(0, '127.0.0.1', () => console.log(`${(server.address() as AddressInfo).port} moonshine`));
