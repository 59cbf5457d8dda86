/**
 * Sends a WAV file (16 bit, mono) like a microphone, 100 ms at a time, and prints the growing transcript.
 * Here one connection carries one utterance; a real client commits whenever its user pauses.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY, KEY, load, stop } from '../gateway.mjs';

const { default: WebSocket } = await load('ws');
const HEADER_BYTES = 44;
const PIECE_MS = 100;

/** The sample rate and samples of a 16-bit mono WAV file with the usual header of 44 bytes. */
function readWav(bytes) {
  const isPlain = bytes.toString('latin1', 36, 40) === 'data' && bytes.readUInt16LE(22) === 1;
  if (!isPlain || bytes.readUInt16LE(34) !== 16)
    stop(
      'Give it a plain WAV file, 16 bit and mono: ffmpeg -i FILE -ac 1 -ar 16000 -c:a pcm_s16le -bitexact speech.wav',
    );
  return { rate: bytes.readUInt32LE(24), pcm: bytes.subarray(HEADER_BYTES) };
}

const [, , file] = process.argv;
if (file === undefined) stop('node transcribe.mjs speech.wav');
const { rate, pcm } = readWav(await readFile(file).catch((error) => stop(error.message)));
const pieceBytes = (rate * 2 * PIECE_MS) / 1000;

const socket = new WebSocket(`${GATEWAY.replace(/^http/, 'ws')}/v1/realtime?intent=transcription`, {
  headers: { authorization: `Bearer ${KEY}` },
});
const send = (event) => socket.send(JSON.stringify(event));

socket.on('open', async () => {
  send({
    type: 'session.update',
    session: { type: 'transcription', audio: { input: { format: { type: 'audio/pcm', rate } } } },
  });
  for (let at = 0; at < pcm.length; at += pieceBytes) {
    send({
      type: 'input_audio_buffer.append',
      audio: pcm.subarray(at, at + pieceBytes).toString('base64'),
    });
    await sleep(PIECE_MS);
  }
  send({ type: 'input_audio_buffer.commit' });
});

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const HANDLERS = {
  [`${TRANSCRIPTION}.delta`]: ({ delta }) => process.stdout.write(delta),
  [`${TRANSCRIPTION}.completed`]: ({ transcript }) => {
    console.log(`\n${transcript}`);
    socket.close();
  },
  [`${TRANSCRIPTION}.failed`]: ({ error }) => {
    console.error(error.message);
    process.exitCode = 1;
    socket.close();
  },
  error: ({ error }) => {
    console.error(error.message);
    process.exitCode = 1;
    socket.close();
  },
};
socket.on('message', (frame) => {
  const event = JSON.parse(frame);
  HANDLERS[event.type]?.(event);
});
socket.on('error', (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
